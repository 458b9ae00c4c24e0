/* checkpoint_internal.h - the files of a checkpoint; see checkpoint.h.  */

#ifndef DF_CHECKPOINT_INTERNAL_H
#define DF_CHECKPOINT_INTERNAL_H

#include <jansson.h>

#include "dflash/checkpoint.h"

/* What state.json says.  */
struct df_checkpoint_state {
    int64_t step, applied, skipped;
    json_t *identity; /* owned by the caller */
};

DF_MUST_USE df_status df_checkpoint_read_state(struct df_checkpoint_state *out,
                                               const char *folder);
DF_MUST_USE df_status df_checkpoint_write_state(
    const struct df_checkpoint_state *state, const char *folder);

/* DF_INVALID, naming the first option that differs between what FOLDER was
   written under and the JSON object WANTED.  */
DF_MUST_USE df_status df_checkpoint_compare(const json_t *found,
                                            const char *wanted,
                                            const char *folder);

/* The steps of the folders step-N in DIR, descending, at most MAX of them;
   returns how many.  */
DF_MUST_USE df_status df_checkpoint_list(const char *dir, int64_t **steps,
                                         size_t *n);

#endif

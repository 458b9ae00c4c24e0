/* checkpoint_internal.h - the files of a checkpoint; see checkpoint.h.  */

#ifndef DF_CHECKPOINT_INTERNAL_H
#define DF_CHECKPOINT_INTERNAL_H

#include <jansson.h>

#include "dflash/checkpoint.h"

/* Places within df_snapshot_write where a test can stop it; the numbers of
   the fault point "checkpoint".  */
enum df_checkpoint_place {
    DF_CKPT_BEGUN,    /* step-N.tmp is there, and empty */
    DF_CKPT_ARRAYS,   /* it has the arrays */
    DF_CKPT_NOTES,    /* and all but state.json */
    DF_CKPT_WHOLE,    /* and all */
    DF_CKPT_OLD_GONE, /* an old step-N was removed */
    DF_CKPT_IN_PLACE  /* step-N.tmp is step-N; older ones are still there */
};

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

/* The steps of the N folders step-N in DIR, descending; to be freed.  */
DF_MUST_USE df_status df_checkpoint_list(const char *dir, int64_t **steps,
                                         size_t *n);

/* Remove what savings that were killed left in DIR.  */
void df_checkpoint_sweep(const char *dir);

#endif

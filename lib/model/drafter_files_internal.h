/* drafter_files_internal.h - a drafter's config.json between its layouts,
   and its tensors beside the parameters.

   speculators --flatten--> z-lab's form --read--> struct df_drafter_config
   speculators <---wrap---- z-lab's form <-write-- and settings kept as
                                                   they were  */

#ifndef DF_DRAFTER_FILES_INTERNAL_H
#define DF_DRAFTER_FILES_INTERNAL_H

#include <jansson.h>

#include "dflash/drafter_files.h"

#define DF_EMBEDDING_COPY "embed_tokens.weight"
#define DF_HEAD_COPY      "lm_head.weight"

/* A config.json that was read and checked.  */
struct df_drafter_json {
    char *path;
    json_t *flat;         /* in z-lab's form */
    json_t *speculators;  /* as it was, or NULL if it was z-lab's */
    const char *verifier; /* of that, likewise */
};

DF_MUST_USE df_status df_drafter_json_load(struct df_drafter_json *out,
                                           struct df_drafter_config *c,
                                           const char *path);
void df_drafter_json_free(struct df_drafter_json *json);

/* Write C, in FORM, to PATH as df_drafter_config_save does; with it what OLD
   says beyond, unless that is NULL.  */
DF_MUST_USE df_status df_drafter_json_write(const struct df_drafter_config *c,
                                            const struct df_drafter_form *form,
                                            const struct df_drafter_json *old,
                                            const char *path);

/* Whether FORM's layout can say C.  WHERE begins the message.  */
DF_MUST_USE df_status df_drafter_form_check(const struct df_drafter_config *c,
                                            const struct df_drafter_form *form,
                                            const char *where);

/* Speculators' object JSON in z-lab's form, checked as far as what is in
   speculators' alone; *DRAFT_VOCAB is its draft_vocab_size.  */
DF_MUST_USE df_status df_speculators_flatten(json_t **out, int *draft_vocab,
                                             const json_t *json,
                                             const char *where);

/* That the layers of C, which JSON was, are as causal as JSON says.  */
DF_MUST_USE df_status df_speculators_check_layers(
    const struct df_drafter_config *c, const json_t *json, const char *where);

/* FLAT, which is C in z-lab's form, in speculators'; what OLD, in the latter
   form or NULL, says beyond is kept.  NULL when there is no memory.  */
json_t *df_speculators_wrap(const json_t *flat,
                            const struct df_drafter_config *c,
                            const struct df_drafter_form *form, json_t *old);

/* One after the other in a row of layers all alike: -1 if they are, else
   the first that slides where layer 0 doesn't, or the other way.  */
int df_first_unlike_layer(const struct df_drafter_config *c);

/* That TS has the parameters of C; there may be others.  */
DF_MUST_USE df_status df_drafter_check_body(const struct df_drafter_config *c,
                                            const struct df_tensors *ts);

/* That what TS copies of TARGET's tensors is as there.  */
DF_MUST_USE df_status df_drafter_check_copies(
    const struct df_drafter_config *c, const struct df_tensors *ts,
    const struct df_drafter_target *target);

/* Append to DEFS, which has room for two, embedding and head of FORM's
   target as the layout has them.  */
DF_MUST_USE df_status df_drafter_add_copies(
    struct df_tensor_def *defs, size_t *n, const struct df_drafter_form *form);

#endif

/* captures_private.h - a source of captures from the inside.

   captures.c        reading samples, leaving bad ones out, counting
   captures_open.c   opening files, and comparing them with the target  */

#ifndef DF_TRAIN_CAPTURES_PRIVATE_H
#define DF_TRAIN_CAPTURES_PRIVATE_H

#include <jansson.h>
#include <pthread.h>

#include "dflash-train/captures.h"

enum {
    WARNINGS = 5 /* of a kind, in words */
};

/* What the run that captured says of itself; 0: nothing.  */
struct notes {
    json_int_t batches, token_budget, max_batch_size;
    bool last_turn_only;
};

struct capture_source {
    struct df_captures *captures;
    struct df_capture_scratch *scratch[MAX_PLACES]; /* one a thread */
    struct df_capture_header header; /* of the first file; all of what the
                                        target knows */
    uint32_t *lengths;               /* [n] of the samples that are used */
    uint32_t *entries;               /* [n] */
    size_t n;
    uint64_t tokens, too_long, problems;
    struct notes notes;

    const struct session *session;

    pthread_mutex_t lock; /* guards what follows */
    bool *bad;            /* [n] */
    uint64_t n_bad;
    bool broken;   /* a pipe ended with a failure */
    df_error last; /* of a pipe's last sample, if it was bad */
};

/* DF_SHAPE unless a sample of N tokens can be trained on.  */
df_status captures_check_length(const struct capture_source *c, uint32_t file,
                                uint64_t index, size_t n);

#endif

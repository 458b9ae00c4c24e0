/* captures_private.h - a source of captures from the inside.

   captures.c        reading samples, leaving bad ones out, counting
   captures_open.c   opening files, and comparing them with the target
   captures_expand.c words that stand for several files  */

#ifndef DF_TRAIN_CAPTURES_PRIVATE_H
#define DF_TRAIN_CAPTURES_PRIVATE_H

#include <jansson.h>
#include <pthread.h>

#include "common/option.h"
#include "dflash-train/captures.h"

enum {
    WARNINGS = 5 /* of a kind, in words */
};

/* What the run that captured says of itself; 0: nothing.  */
struct notes {
    json_int_t batches, token_budget, max_batch_size;
};

struct capture_source {
    struct string_list files; /* names */
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
    bool spooled; /* a copy of standard input */

    pthread_mutex_t lock; /* guards what follows */
    bool *bad;            /* [n] */
    uint64_t n_bad;
    bool broken;   /* a pipe ended with a failure, which is: */
    df_error last; /* or that of a pipe's last sample that was bad */
};

/* Count a bad sample, whose failure is the last one: DF_OK to go on.  *KNOWN,
   which may be NULL, tells whether it was counted before, and is set.  */
df_status captures_leave_out(struct capture_source *c, bool *known);

/* Append to FILES what WORDS name: one with *, ? or [ that is no file stands
   for all that match, and a folder with capture files for those.  The caller
   frees each name, and the items.  */
df_status captures_expand(const struct string_list *words,
                          struct string_list *files);

/* DF_SHAPE unless a sample of N tokens can be trained on.  */
df_status captures_check_length(const struct capture_source *c, uint32_t file,
                                uint64_t index, size_t n);

#endif

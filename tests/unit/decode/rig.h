/* rig.h - the tiny target with a drafter of random weights, prompts, and
   their answers, for tests of decoding.  DFLASH_TEST_DEVICE names the
   device, cpu by default.  */

#ifndef DF_RIG_H
#define DF_RIG_H

#include <stdlib.h>
#include <string.h>

#include "dflash/decode.h"
#include "tap/tap.h"
#include "tiny/tiny.h"

enum {
    RIG_PROMPTS = 11,
    RIG_LENGTH = 150 /* of a request, at most: more than two tiles */
};

struct rig {
    struct tiny tiny;
    struct df_device *dev;
    struct df_stream *stream;
    struct df_embeddings embeddings;
    struct df_target *owner, *target; /* TARGET has OWNER's weights */
    struct df_drafter *drafter;
};

struct rig_answer {
    int32_t ids[RIG_LENGTH];
    size_t n, rounds, accepted;
    bool stopped, there;
};

/* Prompts FIRST to FIRST+N-1, and their answers.  SAME: all have the tokens
   of prompt 0, and differ in their ids.  */
struct rig_job {
    size_t first, n, next;
    uint64_t rounds; /* told of */
    double seconds;  /* that they took */
    bool same;
    struct rig_answer *answers; /* [n] */
    int32_t prompt[RIG_LENGTH];
};

/* WINDOW: of the target's middle layer, 0: none.  */
static inline void
rig_make(struct rig *r, int window)
{
    const struct df_batch_limits limits = {
        .max_tokens = 256, .max_seqs = 8, .max_seqlen = RIG_LENGTH + 8};
    const struct df_batch_limits least = {.max_tokens = 1, .max_seqlen = 1};
    const char *name = getenv("DFLASH_TEST_DEVICE");

    tiny_make(&r->tiny);
    r->tiny.config.d.window[1] = window;
    if (df_device_open(&r->dev, name ? name : "cpu") != DF_OK)
        skip_all("%s", df_error_last()->message);
    CHECKED(df_stream_new(&r->stream, r->dev, "test"));
    CHECKED(df_embeddings_load(&r->embeddings, r->tiny.tensors,
                               &r->tiny.config, r->dev, true));
    CHECKED(df_target_new(&r->owner, &r->tiny.config, r->tiny.tensors,
                          &r->embeddings, &least, 2));
    CHECKED(df_target_new_sharing(&r->target, r->owner, &limits, 2));
    CHECKED(
        df_drafter_new_frozen(&r->drafter, &r->tiny.drafter, &r->embeddings));
    CHECKED(df_drafter_init(r->drafter, 3));
}

static inline void
rig_clear(struct rig *r)
{
    df_drafter_free(r->drafter);
    df_target_free(r->target);
    df_target_free(r->owner);
    df_embeddings_free(&r->embeddings);
    df_stream_free(r->stream);
    df_device_close(r->dev);
    tiny_clear(&r->tiny);
}

/* Prompt INDEX: 1 to 20 tokens, but for number 7, which is long.  */
static inline size_t
rig_prompt(size_t index, int32_t *ids)
{
    size_t n = index == 7 ? RIG_LENGTH - 25 : 1 + index * 3 % 20;

    for (size_t t = 0; t < n; t++)
        ids[t] = (int32_t) ((index * 7 + t * t * 5 + 1) % TINY_MASK_ID);
    return n;
}

static inline df_status
rig_next(void *arg, struct df_prompt *out)
{
    struct rig_job *job = arg;
    size_t index = job->first + job->next;

    if (job->next++ == job->n)
        return DF_END;
    *out = (struct df_prompt){index, job->prompt,
                              rig_prompt(job->same ? 0 : index, job->prompt)};
    return DF_OK;
}

static inline df_status
rig_done(void *arg, const struct df_answer *a)
{
    struct rig_job *job = arg;
    struct rig_answer *to = &job->answers[a->index];

    *to = (struct rig_answer){.n = a->n,
                              .rounds = a->rounds,
                              .stopped = a->stopped,
                              .there = !to->there};
    memcpy(to->ids, a->ids, a->n * sizeof *a->ids);
    for (size_t i = 0; i < a->rounds; i++)
        to->accepted += a->accept[i];
    return DF_OK;
}

static inline void
rig_round(void *arg, double seconds)
{
    struct rig_job *job = arg;

    job->rounds++;
    job->seconds += seconds;
}

/* Decode JOB under O; what it says of itself, if it is over well.  */
static inline df_status
rig_try(struct rig *r, const struct df_generator_options *o, bool plain,
        struct rig_job *job, struct df_decode_stats *stats)
{
    struct df_generator *g;
    df_status status =
        df_generator_new(&g, r->target, r->drafter, r->stream, o);

    if (status != DF_OK)
        return status;
    CHECKED(df_generator_warm_up(g));
    status = df_generate(g, &(struct df_decode_job){.arg = job,
                                                    .next = rig_next,
                                                    .done = rig_done,
                                                    .round = rig_round,
                                                    .plain = plain});
    df_generator_get_stats(g, stats);
    df_generator_free(g);
    return status;
}

static inline void
rig_run(struct rig *r, const struct df_generator_options *o, bool plain,
        struct rig_answer *answers, struct df_decode_stats *stats)
{
    struct rig_job job = {.n = RIG_PROMPTS, .answers = answers};

    memset(answers, 0, RIG_PROMPTS * sizeof *answers);
    CHECKED(rig_try(r, o, plain, &job, stats));
}

#endif

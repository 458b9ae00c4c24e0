/* The largest batch, once through targets and drafters, before the clock
   starts: whatever a device allocates or looks up on first use is there
   then.  */
#include <config.h>

#include <stdlib.h>

#include "pipe/run_internal.h"

/* Sequences of the greatest length, all supervised, until BATCH is full.  */
static df_status
fill(struct df_batch *batch, const int32_t *ids, const uint8_t *mask,
     uint64_t seed)
{
    const struct df_batch_limits *l = &batch->limits;

    df_batch_clear(batch);
    while (batch->B < l->max_seqs && batch->T < l->max_tokens) {
        size_t room = l->max_tokens - batch->T;
        size_t left = l->max_seqs - batch->B;
        /* As many sequences as there may be, the last as long as fits.  */
        size_t n =
            left > 1 && l->max_seqlen > room / left ? room / left : room;

        n = n > l->max_seqlen ? l->max_seqlen : n;
        if (n == 0)
            break;
        DF_TRY(
            df_batch_add(batch, &(struct df_sample){batch->B, n, ids, mask}));
    }
    return df_batch_finish(batch, seed, 0);
}

static df_status
make_full_batch(struct df_run *run, struct df_batch *batch, bool longest)
{
    size_t n = run->o.limits.max_seqlen;
    int32_t *ids = calloc(n, sizeof *ids);
    uint8_t *mask = malloc(n);
    df_status status;

    if (!ids || !mask) {
        status = DF_FAIL(DF_NO_MEMORY, "a sequence of %zu tokens", n);
    } else {
        for (size_t i = 0; i < n; i++)
            mask[i] = 1;
        if (longest) {
            df_batch_clear(batch);
            status = df_batch_add(batch, &(struct df_sample){0, n, ids, mask});
            if (status == DF_OK)
                status = df_batch_finish(batch, run->o.seed, 0);
        } else {
            status = fill(batch, ids, mask, run->o.seed);
        }
    }
    if (status == DF_OK && run->o.limits.padded)
        df_batch_pad(batch);
    free(ids);
    free(mask);
    return status;
}

static df_status
warm_target(struct df_run *run, struct df_target_state *t,
            const struct df_batch *batch)
{
    struct df_buffer *buffer = t->buffers ? t->buffers : &run->slots[0].own;

    DF_TRY(df_run_forward(run, t, batch, &t->mirrors[0], buffer,
                          &run->slots[0].own));
    return df_stream_sync(t->compute);
}

/* Forward and backward over hidden states of 0; the step itself allocates
   nothing.  */
static df_status
warm_lane(struct df_run *run, struct df_lane *lane,
          const struct df_batch *batch)
{
    struct df_input *in = &lane->inputs[0];
    void *hidden = in->hidden ? in->hidden : run->slots[0].own.memory;

    DF_TRY(df_fill(lane->compute, hidden, 0, df_hidden_bytes(&run->layout)));
    DF_TRY(df_copy(lane->compute, in->mirror.memory, batch->memory,
                   batch->bytes));
    DF_TRY(df_run_draft(run, lane, batch, &in->mirror, hidden, NULL, true));
    DF_TRY(df_drafter_clear_gradients(lane->drafter, lane->compute));
    return df_stream_sync(lane->compute);
}

static df_status
warm_up_with(struct df_run *run, bool longest)
{
    struct df_batch *batch = run->boxes[0].batch;

    DF_TRY(make_full_batch(run, batch, longest));
    for (size_t i = 0; i < run->o.n_targets; i++)
        DF_TRY(warm_target(run, &run->targets[i], batch));
    for (size_t i = 0; i < run->o.n_drafters; i++)
        DF_TRY(warm_lane(run, &run->lanes[i], batch));
    return DF_OK;
}

static df_status
settle(struct df_stream *stream)
{
    DF_TRY(df_settle(stream));
    return df_stream_sync(stream);
}

df_status
df_run_warm_up(struct df_run *run)
{
    struct df_run_stats now;

    DF_TRY(warm_up_with(run, true));
    DF_TRY(warm_up_with(run, false));
    if (run->o.trial.n > 0)
        DF_TRY(df_trial_warm_up(run));
    for (size_t i = 0; i < run->o.n_targets; i++)
        DF_TRY(settle(run->targets[i].compute));
    for (size_t i = 0; i < run->o.n_drafters; i++)
        DF_TRY(settle(run->lanes[i].compute));
    df_run_get_stats(run, &now);
    run->allocations += now.allocations;
    run->flops += now.flops;
    return DF_OK;
}

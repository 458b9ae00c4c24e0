/* The first stage: the samples of the plan's next batch, packed into one.  */
#include <config.h>

#include "pipe/run_internal.h"

df_status
df_prefetch_acquire(struct df_worker *worker)
{
    struct df_run *run = df_worker_context(worker);
    struct df_reader_state *r = df_worker_state(worker);
    void *box;

    DF_TRY(df_freelist_take(run->free_boxes, worker, &box));
    r->box = box;
    /* A drafter's copy may still read what is to be overwritten.  */
    return df_event_wait(r->box->free.last);
}

static df_status
fill(struct df_run *run, size_t thread, struct df_batch *batch,
     const struct df_plan_item *item)
{
    bool eval = item->kind == DF_BATCH_EVAL;
    const struct df_source *source = eval ? &run->o.eval : &run->o.train;
    struct df_sample sample;

    df_batch_clear(batch);
    for (size_t i = 0; i < item->n; i++) {
        DF_TRY(source->read(source->arg, thread, item->samples[i], &sample));
        DF_TRY(df_batch_add(batch, &sample));
        batch->indexes[i] = item->samples[i];
    }
    return df_prefetch_conclude(run, batch, item);
}

df_status
df_prefetch_conclude(const struct df_run *run, struct df_batch *batch,
                     const struct df_plan_item *item)
{
    DF_TRY(df_batch_finish(batch, run->o.seed, item->epoch));
    if (run->o.limits.padded)
        df_batch_pad(batch);
    batch->seq = item->seq;
    batch->kind = item->kind;
    batch->step = item->step;
    batch->epoch = item->epoch;
    batch->index = item->index;
    batch->count = item->count;
    return DF_OK;
}

df_status
df_prefetch_work(struct df_worker *worker, struct df_item *item)
{
    struct df_run *run = df_worker_context(worker);
    struct df_reader_state *r = df_worker_state(worker);
    struct df_plan_item next = {.samples = r->samples};

    DF_TRY(df_plan_next(run->o.plan, &next));
    DF_TRY(fill(run, df_worker_index(worker), r->box->batch, &next));
    item->seq = next.seq;
    item->data = r->box;
    return DF_OK;
}

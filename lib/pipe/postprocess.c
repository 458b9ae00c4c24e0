/* The stage behind a target: bring what was packed into its slot, in host
   memory or on the drafter's device, in the background, and publish it.  */
#include <config.h>

#include "base/fault_internal.h"
#include "pipe/run_internal.h"

/* Tests must notice mistakes: that the copy isn't in the background, ...  */
static struct df_stream *
copy_stream(struct df_target_state *t)
{
#ifdef DF_TEST_SLOWER
    return t->compute;
#else
    return t->copy;
#endif
}

/* The buffer goes back as soon as the copy is queued: the next pass packs
   into it behind its fence FREE.  */
static df_status
queue_copy(struct df_run *run, struct df_target_state *t, struct df_slot *slot,
           uint64_t seq)
{
    struct df_buffer *from = slot->packed, *to = &slot->own;
    double stall = df_fault_stall("copy", seq);
    struct df_stream *copy = copy_stream(t);

    DF_TRY(df_stream_wait(copy, from->full.last));
    DF_TRY(df_stream_wait(copy, to->free.last));
    DF_TRY(df_event_record(t->packed, copy));
    if (stall > 0)
        DF_TRY(df_stall(copy, stall));
#ifdef DF_TEST_RELEASE_EARLY /* ... or the buffer is given back early */
    DF_TRY(df_fence_record(&from->free, t->compute));
#endif
    DF_TRY(df_hidden_copy(&run->layout, copy, to->memory, from->memory,
                          slot->box->batch->T));
#ifndef DF_TEST_RELEASE_EARLY
    DF_TRY(df_fence_record(&from->free, copy));
#endif
    slot->packed = NULL;
    df_freelist_give(t->free_buffers, from);
    return df_fence_record(&to->full, copy);
}

static df_status
copy_out(struct df_run *run, struct df_target_state *t, struct df_slot *slot,
         uint64_t seq)
{
    df_status status;

    df_range_begin(t->dev, "copy from the target", seq);
    status = queue_copy(run, t, slot, seq);
    df_range_end(t->dev);
    return status;
}

df_status
df_postprocess_work(struct df_worker *worker, struct df_item *item)
{
    struct df_run *run = df_worker_context(worker);
    struct df_target_state *t = df_worker_state(worker);
    struct df_slot *slot = item->data;

    if (run->transport != DF_TRANSPORT_LOCAL) {
        DF_TRY(copy_out(run, t, slot, item->seq));
        DF_TRY(df_worker_await(worker, t->packed));
        DF_TRY(df_event_wait(slot->own.full.last));
    } else {
        DF_TRY(df_worker_await(worker, slot->own.full.last));
    }
    return df_slot_move(slot, DF_SLOT_COPYING, DF_SLOT_READY);
}

/* The stage behind a target: bring what was packed to the host, in the
   background, and publish it.  */
#include <config.h>

#include "pipe/fault_internal.h"
#include "pipe/run_internal.h"

static df_status
copy_to_host(struct df_run *run, struct df_target_state *t,
             struct df_slot *slot, uint64_t seq)
{
    struct df_buffer *from = slot->packed, *to = &slot->own;
    double stall = df_fault_stall("copy", seq);

    DF_TRY(df_stream_wait(t->copy, from->full));
    DF_TRY(df_stream_wait(t->copy, to->free));
    if (stall > 0)
        DF_TRY(df_stall(t->copy, stall));
#ifdef DF_TEST_RELEASE_EARLY /* a mistake that the tests must notice */
    DF_TRY(df_event_record(from->free, t->compute));
#endif
    DF_TRY(df_hidden_copy(&run->layout, t->copy, to->memory, from->memory,
                          slot->box->batch->T));
#ifndef DF_TEST_RELEASE_EARLY
    DF_TRY(df_event_record(from->free, t->copy));
#endif
    return df_event_record(to->full, t->copy);
}

df_status
df_postprocess_work(struct df_worker *worker, struct df_item *item)
{
    struct df_run *run = df_worker_context(worker);
    struct df_target_state *t = df_worker_state(worker);
    struct df_slot *slot = item->data;

    if (run->transport != DF_TRANSPORT_LOCAL)
        DF_TRY(copy_to_host(run, t, slot, item->seq));
    DF_TRY(df_worker_await(worker, slot->packed->full));
    DF_TRY(df_event_wait(slot->own.full));
    return df_slot_move(slot, DF_SLOT_COPYING, DF_SLOT_READY);
}

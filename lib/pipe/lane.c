/* The drafter's stage.  Each thread is a lane: batch number s goes to lane
   s % M.  A batch is copied while the one before it is computed; at the end
   of an optimizer step the lanes meet (step.c).  */
#include <config.h>

#include "pipe/run_internal.h"

static df_status
forward(struct df_lane *lane, const struct df_batch *batch,
        struct df_mirror *mirror)
{
    df_status status;

    df_range_begin(lane->dev, "forward", batch->seq);
    status = df_drafter_forward(lane->drafter, lane->compute, batch,
                                &mirror->arrays);
    df_range_end(lane->dev);
    return status;
}

/* The loss of what FORWARD made, and back if TRAIN.  */
static df_status
score(struct df_run *run, struct df_lane *lane, const struct df_batch *batch,
      struct df_mirror *mirror, bool train)
{
    df_status status;

    df_range_begin(lane->dev, train ? "loss, backward" : "loss", batch->seq);
    status =
        df_drafter_loss(lane->drafter, lane->compute, batch, &mirror->arrays,
                        &run->o.objective, lane->sums, train);
    df_range_end(lane->dev);
    return status;
}

/* All of it, forward and back, of a padded batch.  */
static df_status
pass(struct df_run *run, struct df_lane *lane, const struct df_batch *batch,
     struct df_mirror *mirror)
{
    df_status status;

    df_range_begin(lane->dev, "pass", batch->seq);
    status = df_drafter_pass(lane->drafter, lane->compute, batch,
                             &mirror->arrays, &run->o.objective, lane->sums);
    df_range_end(lane->dev);
    return status;
}

df_status
df_run_draft(struct df_run *run, struct df_lane *lane,
             const struct df_batch *batch, struct df_mirror *mirror,
             const void *hidden, struct df_fence *read, bool train)
{
    const struct df_hidden_layout *l = &run->layout;
    struct df_unpack_hidden_args unpack = {
        .f = df_drafter_features(lane->drafter),
        .T = batch->T,
        .H = l->split ? l->H : l->K * l->H,
        .K = l->split ? l->K : 1};

    for (size_t k = 0; k < unpack.K; k++)
        unpack.src[k] = df_hidden_layer(l, (void *) hidden, k);
    if (l->split || run->o.n_targets == 0) /* captures hold no noise */
        unpack.noise = df_run_noise(run, batch, &mirror->arrays);
    DF_TRY(df_unpack_hidden(lane->compute, &unpack));
    if (read)
        DF_TRY(df_fence_record(read, lane->compute));
    DF_TRY(df_fill(lane->compute, lane->sums, 0, sizeof *lane->sums));
    if (train && run->o.limits.padded)
        return pass(run, lane, batch, mirror);
    DF_TRY(forward(lane, batch, mirror));
    return score(run, lane, batch, mirror, train);
}

/* Queue the copies of SLOT's batch and states into IN.  */
static df_status
queue_copies(struct df_run *run, struct df_lane *lane, struct df_slot *slot,
             struct df_input *in)
{
    const struct df_batch *batch = slot->box->batch;

    DF_TRY(df_stream_wait(lane->copy, slot->own.full.last));
    DF_TRY(
        df_copy(lane->copy, in->mirror.memory, batch->memory, batch->bytes));
    DF_TRY(df_fence_record(&slot->box->free, lane->copy));
    if (in->hidden) {
        DF_TRY(df_hidden_copy(&run->layout, lane->copy, in->hidden,
                              slot->own.memory, batch->T));
        DF_TRY(df_fence_record(&slot->own.free, lane->copy));
    }
    DF_TRY(df_event_record(in->copied, lane->copy));
    return df_stream_wait(lane->compute, in->copied);
}

static df_status
bring(struct df_run *run, struct df_lane *lane, struct df_slot *slot,
      struct df_input *in)
{
    df_status status;

    df_range_begin(lane->dev, "copy to the drafter", slot->box->batch->seq);
    status = queue_copies(run, lane, slot, in);
    df_range_end(lane->dev);
    return status;
}

/* What the log wants to know of BATCH.  */
static df_status
note(struct df_lane *lane, const struct df_batch *batch)
{
    struct df_metric *m = lane->metric;

    m->has_state = false; /* step.c may set it */
    m->kind = batch->kind;
    m->step = batch->step;
    m->epoch = batch->epoch;
    m->index = batch->index;
    m->count = batch->count;
    m->T = batch->T;
    m->B = batch->B;
    return df_copy(lane->compute, m->sums, lane->sums, sizeof *m->sums);
}

static bool
ends_lanes_step(const struct df_run *run, const struct df_batch *batch)
{
    return batch->kind == DF_BATCH_TRAIN
           && batch->index + run->o.n_drafters >= batch->count;
}

/* Go on to STEP: this lane had no batch of the steps before it, but the
   others count on it, and it has to learn what they did.  DF_END if the run
   was stopped in one of them.  */
static df_status
catch_up(struct df_worker *worker, struct df_lane *lane, int64_t step)
{
    const struct df_run *run = df_worker_context(worker);

    while (lane->step < step) {
        DF_TRY(df_lane_step(worker, lane, NULL));
        if (run->stopping)
            return DF_END;
    }
    return DF_OK;
}

/* Of a batch without tokens: sums of 0, and gradients as they are.  */
static df_status
pass_over(struct df_lane *lane, struct df_fence *read)
{
    if (read)
        DF_TRY(df_fence_record(read, lane->compute));
    return df_fill(lane->compute, lane->sums, 0, sizeof *lane->sums);
}

static df_status
compute(struct df_worker *worker, struct df_lane *lane, struct df_slot *slot,
        struct df_input *in)
{
    struct df_run *run = df_worker_context(worker);
    const struct df_batch *batch = slot->box->batch;
    bool train = batch->kind == DF_BATCH_TRAIN;
    const void *hidden = in->hidden ? in->hidden : slot->own.memory;
    struct df_fence *read = in->hidden ? NULL : &slot->own.free;

    if (batch->T == 0) /* captures whose samples were all left out */
        DF_TRY(pass_over(lane, read));
    else
        DF_TRY(
            df_run_draft(run, lane, batch, &in->mirror, hidden, read, train));
    if (train)
        lane->denominator +=
            run->o.objective.dpace
                ? (double) batch->B
                : df_batch_weight(batch, run->o.objective.gamma);
    DF_TRY(note(lane, batch));
    return df_event_record(in->mirror.done, lane->compute);
}

df_status
df_lane_acquire(struct df_worker *worker)
{
    struct df_run *run = df_worker_context(worker);
    struct df_lane *lane = df_worker_state(worker);
    void *metric;

    DF_TRY(df_lane_pause(worker, lane));
    if (run->stopping)
        return DF_END;
    if (lane->metric)
        return DF_OK;
    DF_TRY(df_freelist_take(run->free_metrics, worker, &metric));
    lane->metric = metric;
    return DF_OK;
}

/* A stop doesn't wait for the rest of an evaluation, which comes again when
   the run is resumed; unless other lanes count on this one.  */
static bool
cuts_short(const struct df_run *run, const struct df_batch *batch)
{
    return batch->kind == DF_BATCH_EVAL && run->o.n_drafters == 1
           && atomic_load(&run->stop);
}

df_status
df_lane_work(struct df_worker *worker, struct df_item *item)
{
    struct df_run *run = df_worker_context(worker);
    struct df_lane *lane = df_worker_state(worker);
    struct df_input *in = &lane->inputs[lane->turn++ % DF_IN_TURN];
    struct df_slot *slot = item->data;
    struct df_box *box = slot->box;
    struct df_metric *metric = lane->metric;
    bool ends;

    if (cuts_short(run, box->batch)) {
        run->stopping = true;
        atomic_store(&run->stopped, true);
        return DF_END;
    }
    DF_TRY(df_slot_move(slot, DF_SLOT_READY, DF_SLOT_CONSUMING));
    DF_TRY(catch_up(worker, lane, box->batch->step));
    atomic_fetch_add(&run->host_waits, !df_event_reached(in->mirror.done));
    DF_TRY(df_event_wait(in->mirror.done));
    DF_TRY(bring(run, lane, slot, in));
    DF_TRY(compute(worker, lane, slot, in));
    ends = ends_lanes_step(run, box->batch);
    DF_TRY(df_slot_move(slot, DF_SLOT_CONSUMING, DF_SLOT_FREE));
    df_freelist_give(run->free_slots, slot);
    df_freelist_give(run->free_boxes, box);
    if (ends)
        DF_TRY(df_lane_step(worker, lane, metric));
    DF_TRY(df_fence_record(&metric->copied, lane->compute));
    item->data = metric;
    lane->metric = NULL;
    return DF_OK;
}

df_status
df_lane_finish(struct df_worker *worker)
{
    struct df_run *run = df_worker_context(worker);
    struct df_lane *lane = df_worker_state(worker);
    df_status status = DF_OK;

    if (!run->stopping)
        status = catch_up(worker, lane, run->steps);
    if (status != DF_OK && status != DF_END)
        return status;
    /* Where a pipe ends isn't known before.  */
    if (lane == &run->lanes[0]
        && atomic_load(&run->steps_done) > run->steps_saved) {
        run->save_due = true;
        run->trial_due =
            df_trial_is_due(run, run->steps_done) && !run->stopping;
    }
    DF_TRY(df_lane_pause(worker, lane));
    DF_TRY(df_stream_sync(lane->compute));
    return lane == &run->lanes[0] ? df_save_end(run) : DF_OK;
}

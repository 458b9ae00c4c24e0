/* The end of an optimizer step: the lanes meet, their gradients are summed
   in the order of the lanes, and each takes the same step.  */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "base/transfer_internal.h"
#include "pipe/run_internal.h"

/* On the first lane: add the gradients of the others to its own.  */
static df_status
gather(struct df_run *run)
{
    struct df_lane *first = &run->lanes[0];
    struct df_flat sum = df_drafter_flat(first->drafter);

    for (size_t i = 1; i < run->o.n_drafters; i++) {
        struct df_lane *lane = &run->lanes[i];

        DF_TRY(df_stream_wait(first->compute, lane->summed));
        DF_TRY(df_copy(first->compute, first->others,
                       df_drafter_flat(lane->drafter).g,
                       sum.count * sizeof *sum.g));
        DF_TRY(df_add(first->compute, &(struct df_add_args){.a = sum.g,
                                                            .b = first->others,
                                                            .N = sum.count}));
    }
    return df_event_record(first->summed, first->compute);
}

/* On another lane: take the sum over.  */
static df_status
take_sum(struct df_run *run, struct df_lane *lane)
{
    struct df_flat sum = df_drafter_flat(run->lanes[0].drafter);

    DF_TRY(df_stream_wait(lane->compute, run->lanes[0].summed));
    DF_TRY(df_copy(lane->compute, df_drafter_flat(lane->drafter).g, sum.g,
                   sum.count * sizeof *sum.g));
    return df_event_record(lane->summed, lane->compute);
}

/* All lanes' gradients become the sum of all.  The first lane may change its
   own again only when the others have taken them.  */
static df_status
sum_gradients(struct df_worker *worker, struct df_lane *lane)
{
    struct df_run *run = df_worker_context(worker);
    bool first = lane == &run->lanes[0];

    DF_TRY(first ? gather(run) : DF_OK);
    DF_TRY(df_worker_barrier(worker));
    DF_TRY(first ? DF_OK : take_sum(run, lane));
    DF_TRY(df_worker_barrier(worker));
    for (size_t i = 1; first && i < run->o.n_drafters; i++)
        DF_TRY(df_stream_wait(lane->compute, run->lanes[i].summed));
    return DF_OK;
}

static bool
all_finite(const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

/* Step after step was skipped: fail with the name of the first tensor whose
   gradient isn't finite.  */
static df_status
diagnose(const struct df_lane *lane)
{
    struct df_flat flat = df_drafter_flat(lane->drafter);
    const struct df_param *params;
    size_t n, i = 0;
    float *g;

    DF_TRY(df_stream_sync(lane->compute));
    DF_TRY(df_download(lane->dev, flat.g, flat.count, &g));
    params = df_drafter_params(lane->drafter, &n);
    while (i < n && all_finite(g + params[i].offset, params[i].count))
        i++;
    free(g);
    if (i == n)
        return DF_OK;
    return DF_FAIL(DF_INVALID,
                   "step %lld: the gradient of %s is not finite, and more "
                   "than %d steps before it were skipped for such a reason",
                   (long long) lane->step, params[i].spec.name,
                   DF_SKIPS_TOLERATED);
}

static double
total_denominator(const struct df_run *run)
{
    double sum = 0;

    for (size_t i = 0; i < run->o.n_drafters; i++)
        sum += run->denominators[i];
    return sum;
}

static df_status
update(struct df_run *run, struct df_lane *lane, double denominator, double lr)
{
    if (denominator > 0)
        DF_TRY(df_drafter_step(lane->drafter, lane->compute, 1 / denominator,
                               lr, &run->o.adamw));
    return df_drafter_clear_gradients(lane->drafter, lane->compute);
}

/* The optimizer's numbers for the log; without a step they are 0.  */
static df_status
note_state(struct df_lane *lane, struct df_metric *metric, bool stepped)
{
    if (stepped)
        return df_copy(lane->compute, metric->state,
                       df_drafter_flat(lane->drafter).state,
                       sizeof *metric->state);
    *metric->state = (struct df_step_state){0};
    return DF_OK;
}

/* After the step, on the first lane: count, and note if it is time to save,
   or to try the drafter.  */
static void
conclude(struct df_run *run, int64_t done)
{
    bool due = run->o.save_interval > 0 && done % run->o.save_interval == 0;

    atomic_store(&run->steps_done, done);
    if (run->stopping)
        atomic_store(&run->stopped, true);
    run->save_due = due || run->stopping || done == run->steps;
    run->trial_due = df_trial_is_due(run, done) && !run->stopping;
}

static bool
all_logged(const void *arg)
{
    const struct df_run *run = arg;

    return atomic_load(&run->steps_logged) >= atomic_load(&run->steps_done);
}

/* Not before the log has the last step: a run that is killed behind the
   saving is resumed behind that step, and nobody would write its line.  */
df_status
df_lane_pause(struct df_worker *worker, struct df_lane *lane)
{
    struct df_run *run = df_worker_context(worker);
    int64_t step = atomic_load(&run->steps_done);

    if (lane != &run->lanes[0])
        return DF_OK;
    bool save = run->save_due, try = run->trial_due;

    DF_TRY(df_save_look(run));
    if (!save && !try)
        return DF_OK;
    run->save_due = run->trial_due = false;
    DF_TRY(df_worker_wait(worker, all_logged, run));
    if (save)
        DF_TRY(df_save_begin(run, step));
    return try ? df_trial_run(run, step) : DF_OK;
}

static df_status
end_step(struct df_worker *worker, struct df_lane *lane,
         struct df_metric *metric)
{
    struct df_run *run = df_worker_context(worker);
    bool first = lane == &run->lanes[0], several = run->o.n_drafters > 1;
    double lr = df_learning_rate(run->o.learning_rate, run->o.warmup_ratio,
                                 run->schedule, lane->step);
    double denominator;

    DF_TRY(df_lane_pause(worker, lane));
    run->denominators[df_worker_index(worker)] = lane->denominator;
    if (several) {
        DF_TRY(df_event_record(lane->summed, lane->compute));
        DF_TRY(df_worker_barrier(worker));
    }
    /* Before the barriers below: behind them, another lane may be at the end
       of the next step already.  */
    denominator = total_denominator(run);
    if (first && atomic_load(&run->stop))
        run->stopping = true;
    if (several)
        DF_TRY(sum_gradients(worker, lane));
    if (first && atomic_exchange(&run->diagnose, false))
        DF_TRY(diagnose(lane));
    DF_TRY(update(run, lane, denominator, lr));
    if (metric && metric->index + 1 == metric->count) {
        metric->has_state = true;
        metric->learning_rate = lr;
        DF_TRY(note_state(lane, metric, denominator > 0));
    }
    lane->denominator = 0;
    lane->step++;
    if (first)
        conclude(run, lane->step);
    return DF_OK;
}

df_status
df_lane_step(struct df_worker *worker, struct df_lane *lane,
             struct df_metric *metric)
{
    df_status status;

    df_range_begin(lane->dev, "step", (uint64_t) lane->step);
    status = end_step(worker, lane, metric);
    df_range_end(lane->dev);
    return status;
}

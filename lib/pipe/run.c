/* A run of any kind: made, begun, stopped, freed.  What its stages are is
   drawn in live.c, capture.c and offline.c.  */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/fault_internal.h"
#include "pipe/run_internal.h"

static df_status
list_buffers(struct df_run *run, struct df_target_state *t)
{
    if (!t->buffers)
        return DF_OK;
    DF_TRY(df_freelist_new(&t->free_buffers, run->pipe, run->o.depth));
    for (size_t i = 0; i < run->o.depth; i++)
        df_freelist_give(t->free_buffers, &t->buffers[i]);
    return DF_OK;
}

void
df_run_draw(struct df_run *run, const struct df_channel_def *channels,
            size_t n_channels, const struct df_stage_def *stages,
            size_t n_stages)
{
    memcpy(run->channels, channels, n_channels * sizeof *channels);
    memcpy(run->stages, stages, n_stages * sizeof *stages);
    run->def.n_channels = n_channels;
    run->def.n_stages = n_stages;
}

/* The drawing that fits what there is: targets, drafters, or both.  */
static void
draw(struct df_run *run)
{
    if (run->o.n_targets == 0)
        df_run_draw_offline(run);
    else if (run->o.n_drafters == 0)
        df_run_draw_capture(run);
    else
        df_run_draw_live(run);
}

/* The first GPU, or NULL.  */
static struct df_device *
profiled(const struct df_run *run)
{
    size_t i = 0;

    while (i < run->n_devices && df_device_is_cpu(run->devices[i]))
        i++;
    return i < run->n_devices ? run->devices[i] : NULL;
}

df_status
df_run_make_pipe(struct df_run *run)
{
    for (size_t i = 0; i < run->o.prefetch_threads; i++)
        run->reader_states[i] = &run->readers[i];
    for (size_t i = 0; i < run->o.n_targets; i++)
        run->target_states[i] = &run->targets[i];
    for (size_t i = 0; i < run->o.n_drafters; i++)
        run->lane_states[i] = &run->lanes[i];
    draw(run);
    run->def.channels = run->channels;
    run->def.stages = run->stages;
    run->def.context = run;
    run->def.profiled = profiled(run);
    DF_TRY(df_pipe_new(&run->pipe, &run->def));
    DF_TRY(df_freelist_new(&run->free_boxes, run->pipe, run->n_boxes));
    DF_TRY(df_freelist_new(&run->free_slots, run->pipe, run->n_slots));
    DF_TRY(df_freelist_new(&run->free_metrics, run->pipe, run->n_metrics));
    for (size_t i = 0; i < run->o.n_targets; i++)
        DF_TRY(list_buffers(run, &run->targets[i]));
    for (size_t i = 0; i < run->n_boxes; i++)
        df_freelist_give(run->free_boxes, &run->boxes[i]);
    for (size_t i = 0; i < run->n_slots; i++)
        df_freelist_give(run->free_slots, &run->slots[i]);
    for (size_t i = 0; i < run->n_metrics; i++)
        df_freelist_give(run->free_metrics, &run->metrics[i]);
    return DF_OK;
}

/* Targets and drafters, not captures alone.  */
static bool
is_live(const struct df_run_options *o)
{
    return o->n_targets > 0 && o->n_drafters > 0;
}

/* The first device that isn't to the first drafter's what IS says, or
   NULL.  */
static const struct df_device *
first_unlike(const struct df_run_options *o,
             bool (*is)(const struct df_device *, const struct df_device *))
{
    for (size_t i = 0; i < o->n_targets; i++)
        if (!is(o->targets[i], o->drafters[0]))
            return o->targets[i];
    for (size_t i = 1; i < o->n_drafters; i++)
        if (!is(o->drafters[i], o->drafters[0]))
            return o->drafters[i];
    return NULL;
}

static bool
is_same(const struct df_device *a, const struct df_device *b)
{
    return a == b;
}

/* Whether one device carries all loops.  */
static bool
one_device(const struct df_run_options *o)
{
    return is_live(o) && !first_unlike(o, is_same);
}

/* With peer transport, slots are on the first drafter's device.  */
static df_status
check_peers(const struct df_run_options *o)
{
    const struct df_device *far;

    if (!is_live(o))
        return DF_FAIL(DF_INVALID,
                       "peer transport needs a target and a drafter: captures "
                       "are read into host memory");
    far = first_unlike(o, df_device_reaches);
    if (far)
        return DF_FAIL(DF_UNSUPPORTED, "peer transport: %s doesn't reach %s",
                       df_device_name(far), df_device_name(o->drafters[0]));
    return DF_OK;
}

/* The way with the fewest copies.  */
static enum df_transport
best_transport(const struct df_run_options *o)
{
    if (one_device(o))
        return DF_TRANSPORT_LOCAL;
    return is_live(o) && !first_unlike(o, df_device_reaches)
               ? DF_TRANSPORT_PEER
               : DF_TRANSPORT_HOST;
}

static df_status
choose_transport(struct df_run *run)
{
    const struct df_run_options *o = &run->o;

    run->transport =
        o->transport == DF_TRANSPORT_AUTO ? best_transport(o) : o->transport;
    if (run->transport == DF_TRANSPORT_LOCAL && !one_device(o))
        return DF_FAIL(DF_INVALID, "local transport needs all targets and "
                                   "drafters on one device");
    return run->transport == DF_TRANSPORT_PEER ? check_peers(o) : DF_OK;
}

static df_status
check(const struct df_run_options *o)
{
    DF_TRY(df_fault_check());
    if (o->n_targets > DF_MAX_DEVICES || o->n_drafters > DF_MAX_DEVICES
        || o->prefetch_threads > DF_MAX_DEVICES)
        return DF_FAIL(DF_INVALID, "more than %d threads of a stage",
                       DF_MAX_DEVICES);
    if (o->n_layer_ids > DF_MAX_LAYER_IDS)
        return DF_FAIL(DF_INVALID, "%zu target layers, more than %d",
                       o->n_layer_ids, DF_MAX_LAYER_IDS);
    return DF_OK;
}

/* Few sizes suit GPUs, whose products are planned for each.  */
static bool
drafts_on_gpu(const struct df_run_options *o)
{
    for (size_t i = 0; i < o->n_drafters; i++)
        if (!df_device_is_cpu(o->drafters[i]))
            return true;
    return false;
}

df_status
df_run_new(struct df_run **out, const struct df_run_options *options)
{
    struct df_run *run;
    df_status status;

    *out = NULL;
    DF_TRY(check(options));
    run = calloc(1, sizeof *run);
    if (!run)
        return DF_FAIL(DF_NO_MEMORY, "a run");
    run->o = *options;
    run->o.limits.padded = drafts_on_gpu(options);
    run->steps =
        options->plan ? df_plan_steps(options->plan) : options->pipe_steps;
    run->schedule = run->steps;
    run->steps_done = run->steps_logged = options->first_step;
    run->steps_saved = options->first_step;
    run->noise_key = df_key(options->seed, DF_KEY_NOISE);
    run->layout = (struct df_hidden_layout){
        .split = options->split,
        .last = options->last_hidden,
        .checks = options->n_drafters == 0,
        .max_T = options->limits.max_tokens,
        .K = options->n_layer_ids,
        .H = (size_t) options->target_config->d.hidden_size};
    status = choose_transport(run);
    if (status == DF_OK)
        status = df_run_set_up(run);
    if (status == DF_OK)
        status = df_run_make_pipe(run);
    if (status != DF_OK)
        df_run_free(run);
    else
        *out = run;
    return status;
}

void
df_run_free(struct df_run *run)
{
    if (!run)
        return;
    df_freelist_free(run->free_boxes);
    df_freelist_free(run->free_slots);
    df_freelist_free(run->free_metrics);
    for (size_t i = 0; run->targets && i < run->o.n_targets; i++)
        df_freelist_free(run->targets[i].free_buffers);
    df_pipe_free(run->pipe);
    df_snapshot_free(run->save.snapshot);
    df_run_clear(run);
    free(run);
}

/* A checkpoint that is being written when a stage fails is still good; of two
   failures, the first is told.  */
static void
end_failed(struct df_run *run)
{
    df_error first = *df_error_last();

    if (df_save_end(run) != DF_OK)
        df_error_set(&first);
}

df_status
df_run_train(struct df_run *run)
{
    df_status status;

    for (size_t i = 0; i < run->o.n_drafters; i++) {
        struct df_lane *lane = &run->lanes[i];

        lane->step = run->o.first_step;
        DF_TRY(df_drafter_clear_gradients(lane->drafter, lane->compute));
    }
    run->trial_due = df_trial_is_due(run, run->o.first_step);
    status = df_pipe_run(run->pipe);
    if (status != DF_OK)
        end_failed(run);
    return status;
}

void
df_run_stop(struct df_run *run)
{
    atomic_store(&run->stop, true);
}

bool
df_run_ends(const struct df_run *run)
{
    return atomic_load(&run->stop) || df_pipe_failed(run->pipe);
}

int64_t
df_run_steps_done(const struct df_run *run)
{
    return atomic_load(&run->steps_done);
}

bool
df_run_stopped(const struct df_run *run)
{
    return atomic_load(&run->stopped);
}

enum df_transport
df_run_transport(const struct df_run *run)
{
    return run->transport;
}

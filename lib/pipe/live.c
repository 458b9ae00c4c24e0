/* Live training as one table:

     JSONL -> [prefetch xP] -> batches -> [target xN] -> packed
        by number, bounded                 slots, depth a target

     -> [postprocess xN] -> hidden -> [drafter xM] -> metrics -> [log]
        copy, event          reservoir,  lanes         by number
                             min_ready

   Batches come to the targets and the drafters by number, so neither the
   order of the threads nor their count changes what is learnt; and to the
   log, so that one step's numbers are whole before the next one's.  */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "pipe/fault_internal.h"
#include "pipe/run_internal.h"

static void
draw_channels(struct df_run *run)
{
    const struct df_run_options *o = &run->o;
    /* Each lane keeps one for its next batch, and the log has one: a lane
       that runs ahead must not hold what the slowest needs.  */
    size_t metrics = run->n_metrics - o->n_drafters - 1;
    const struct df_channel_def channels[DF_N_CHANNELS] = {
        [DF_BATCHES] = {"batches", DF_ORDERED, o->n_targets + 1, 0           },
        [DF_PACKED] = {"packed",  DF_LANES,   o->depth,         0           },
        [DF_HIDDEN] = {"hidden",  DF_DEALT,   run->n_slots,     o->min_ready},
        [DF_METRICS] = {"metrics", DF_ORDERED, metrics,          0           },
    };

    memcpy(run->channels, channels, sizeof channels);
}

static void
draw_stages(struct df_run *run)
{
    const struct df_run_options *o = &run->o;
    const struct df_stage_def stages[DF_N_STAGES] = {
        [DF_PREFETCH] = {"prefetch",    -1,         DF_BATCHES, o->prefetch_threads,
                         df_prefetch_acquire,                                              df_prefetch_work,    NULL,
                         run->states[DF_PREFETCH]                                                                                   },
        [DF_TARGET] = {"target",      DF_BATCHES, DF_PACKED,  o->n_targets,
                         df_target_acquire,                                                df_target_work,      NULL,
                         run->states[DF_TARGET]                                                                                     },
        [DF_POSTPROCESS] = {"postprocess", DF_PACKED,  DF_HIDDEN,  o->n_targets,
                         NULL,                                                             df_postprocess_work, NULL,
                         run->states[DF_POSTPROCESS]                                                                                },
        [DF_DRAFTER] = {"drafter",     DF_HIDDEN,  DF_METRICS, o->n_drafters,
                         df_lane_acquire,                                                  df_lane_work,        df_lane_finish,
                         run->states[DF_DRAFTER]                                                                                    },
        [DF_LOG] = {"log",         DF_METRICS, -1,         1,                   NULL, df_log_work,         NULL,           NULL},
    };

    memcpy(run->stages, stages, sizeof stages);
}

static void
give_states(struct df_run *run)
{
    for (size_t i = 0; i < run->o.prefetch_threads; i++)
        run->states[DF_PREFETCH][i] = &run->readers[i];
    for (size_t i = 0; i < run->o.n_targets; i++)
        run->states[DF_TARGET][i] = run->states[DF_POSTPROCESS][i] =
            &run->targets[i];
    for (size_t i = 0; i < run->o.n_drafters; i++)
        run->states[DF_DRAFTER][i] = &run->lanes[i];
}

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

df_status
df_run_make_pipe(struct df_run *run)
{
    draw_channels(run);
    draw_stages(run);
    give_states(run);
    run->def = (struct df_pipe_def){run->channels, DF_N_CHANNELS, run->stages,
                                    DF_N_STAGES, run};
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

/* Whether one device carries all loops.  */
static bool
one_device(const struct df_run_options *o)
{
    for (size_t i = 0; i < o->n_targets; i++)
        if (o->targets[i] != o->drafters[0])
            return false;
    for (size_t i = 1; i < o->n_drafters; i++)
        if (o->drafters[i] != o->drafters[0])
            return false;
    return true;
}

static df_status
choose_transport(struct df_run *run)
{
    const struct df_run_options *o = &run->o;

    run->transport = o->transport;
    if (o->transport == DF_TRANSPORT_AUTO)
        run->transport =
            one_device(o) ? DF_TRANSPORT_LOCAL : DF_TRANSPORT_HOST;
    if (run->transport == DF_TRANSPORT_LOCAL && !one_device(o))
        return DF_FAIL(DF_INVALID, "local transport needs all targets and "
                                   "drafters on one device");
    if (run->transport == DF_TRANSPORT_PEER)
        return DF_FAIL(DF_UNSUPPORTED, "peer transport needs two GPUs");
    return DF_OK;
}

static df_status
check(const struct df_run_options *o)
{
    DF_TRY(df_fault_check());
    if (o->n_targets > DF_MAX_DEVICES || o->n_drafters > DF_MAX_DEVICES
        || o->prefetch_threads > DF_MAX_DEVICES)
        return DF_FAIL(DF_INVALID, "more than %d threads of a stage",
                       DF_MAX_DEVICES);
    if (o->drafter_config.n_target_layer_ids > DF_MAX_LAYER_IDS)
        return DF_FAIL(DF_INVALID, "%d target layers, more than %d",
                       o->drafter_config.n_target_layer_ids, DF_MAX_LAYER_IDS);
    return DF_OK;
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
    run->steps = df_plan_steps(options->plan);
    run->steps_done = options->first_step;
    run->noise_key = df_key(options->seed, DF_KEY_NOISE);
    run->layout = (struct df_hidden_layout){
        .split = options->split,
        .max_T = options->limits.max_tokens,
        .K = (size_t) options->drafter_config.n_target_layer_ids,
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
    df_run_clear(run);
    free(run);
}

df_status
df_run_train(struct df_run *run)
{
    for (size_t i = 0; i < run->o.n_drafters; i++) {
        struct df_lane *lane = &run->lanes[i];

        lane->step = run->o.first_step;
        DF_TRY(df_drafter_clear_gradients(lane->drafter, lane->compute));
    }
    return df_pipe_run(run->pipe);
}

void
df_run_stop(struct df_run *run)
{
    atomic_store(&run->stop, true);
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

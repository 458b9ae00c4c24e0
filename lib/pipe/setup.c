/* What a run needs, allocated before it begins.  */
#include <config.h>

#include <stdlib.h>

#include "pipe/run_internal.h"

df_status
df_mirror_make(struct df_mirror *mirror, const struct df_batch_limits *limits,
               struct df_device *dev)
{
    DF_TRY(df_device_alloc(dev, DF_MEM_DEVICE, df_batch_bytes(limits),
                           &mirror->memory));
    df_batch_layout(limits, mirror->memory, &mirror->arrays);
    return df_event_new(&mirror->done, dev);
}

static void
clear_mirror(struct df_mirror *mirror, struct df_device *dev)
{
    df_event_free(mirror->done);
    df_device_free(dev, DF_MEM_DEVICE, mirror->memory);
}

static df_status
make_buffer(struct df_run *run, struct df_buffer *buffer,
            struct df_device *dev, enum df_memory kind)
{
    DF_TRY(df_device_alloc(dev, kind, df_hidden_bytes(&run->layout),
                           &buffer->memory));
    DF_TRY(df_fence_make(&buffer->full, run->devices, run->n_devices));
    return df_fence_make(&buffer->free, run->devices, run->n_devices);
}

static void
clear_buffer(struct df_buffer *buffer, struct df_device *dev,
             enum df_memory kind)
{
    df_fence_clear(&buffer->full);
    df_fence_clear(&buffer->free);
    df_device_free(dev, kind, buffer->memory);
}

static size_t
index_of(const struct df_run *run, const struct df_device *dev)
{
    size_t i = 0;

    while (i < run->n_devices && run->devices[i] != dev)
        i++;
    return i;
}

const struct df_embeddings *
df_run_embeddings(const struct df_run *run, const struct df_device *dev)
{
    return &run->embeddings[index_of(run, dev)];
}

/* A target alone has no use for the head.  */
static bool
needs_head(const struct df_run *run, const struct df_device *dev)
{
    for (size_t i = 0; i < run->o.n_drafters; i++)
        if (run->o.drafters[i] == dev)
            return true;
    return false;
}

/* List DEV, with the embeddings on it, unless it is listed.  */
static df_status
add_device(struct df_run *run, struct df_device *dev)
{
    size_t i = index_of(run, dev);

    if (i < run->n_devices)
        return DF_OK;
    if (i == DF_MAX_DEVICES)
        return DF_FAIL(DF_INVALID, "more than %d devices", DF_MAX_DEVICES);
    run->devices[run->n_devices++] = dev;
    return df_embeddings_load(&run->embeddings[i], run->o.target_tensors,
                              run->o.target_config, dev, needs_head(run, dev));
}

static df_status
add_devices(struct df_run *run)
{
    for (size_t i = 0; i < run->o.n_targets; i++)
        DF_TRY(add_device(run, run->o.targets[i]));
    for (size_t i = 0; i < run->o.n_drafters; i++)
        DF_TRY(add_device(run, run->o.drafters[i]));
    return DF_OK;
}

static df_status
make_target(struct df_run *run, size_t index)
{
    struct df_target_state *t = &run->targets[index];
    int last = run->o.last_hidden
                   ? run->o.target_config->d.num_hidden_layers - 1
                   : run->o.layer_ids[run->o.n_layer_ids - 1];

    t->dev = run->o.targets[index];
    if (run->trial.target && t->dev == run->o.drafters[0])
        DF_TRY(df_target_new_sharing(&t->target, run->trial.target,
                                     &run->o.limits, last));
    else
        DF_TRY(df_target_new(
            &t->target, run->o.target_config, run->o.target_tensors,
            df_run_embeddings(run, t->dev), &run->o.limits, last));
    DF_TRY(df_stream_new(&t->compute, t->dev, "target"));
    DF_TRY(df_stream_new(&t->copy, t->dev, "target copy"));
    DF_TRY(df_event_new(&t->packed, t->dev));
    for (size_t i = 0; i < DF_IN_TURN; i++)
        DF_TRY(df_mirror_make(&t->mirrors[i], &run->o.limits, t->dev));
    if (run->transport == DF_TRANSPORT_LOCAL)
        return DF_OK;
    t->buffers = calloc(run->o.depth, sizeof *t->buffers);
    if (!t->buffers)
        return DF_FAIL(DF_NO_MEMORY, "%zu buffers", run->o.depth);
    for (size_t i = 0; i < run->o.depth; i++)
        DF_TRY(make_buffer(run, &t->buffers[i], t->dev, DF_MEM_DEVICE));
    return DF_OK;
}

static void
clear_target(struct df_run *run, struct df_target_state *t)
{
    df_stream_free(t->compute);
    df_stream_free(t->copy);
    df_event_free(t->packed);
    for (size_t i = 0; t->dev && i < DF_IN_TURN; i++)
        clear_mirror(&t->mirrors[i], t->dev);
    for (size_t i = 0; t->buffers && i < run->o.depth; i++)
        clear_buffer(&t->buffers[i], t->dev, DF_MEM_DEVICE);
    free(t->buffers);
    df_target_free(t->target);
}

/* Slots lie in memory of the first drafter's device, or in host memory for
   it.  */
static struct df_device *
slot_device(const struct df_run *run)
{
    return run->o.n_drafters > 0 ? run->o.drafters[0] : run->o.targets[0];
}

static enum df_memory
slot_memory(const struct df_run *run)
{
    return run->transport == DF_TRANSPORT_HOST ? DF_MEM_HOST : DF_MEM_DEVICE;
}

static df_status
make_input(struct df_run *run, struct df_input *in, struct df_device *dev)
{
    DF_TRY(df_mirror_make(&in->mirror, &run->o.limits, dev));
    DF_TRY(df_event_new(&in->copied, dev));
    if (slot_memory(run) == DF_MEM_DEVICE && dev == slot_device(run))
        return DF_OK;
    return df_device_alloc(dev, DF_MEM_DEVICE, df_hidden_bytes(&run->layout),
                           &in->hidden);
}

static df_status
make_lane(struct df_run *run, size_t index)
{
    struct df_lane *lane = &run->lanes[index];
    void *memory;

    lane->dev = run->o.drafters[index];
    lane->step = run->o.first_step;
    DF_TRY(df_drafter_new(&lane->drafter, &run->o.drafter_config,
                          df_run_embeddings(run, lane->dev), &run->o.limits));
    DF_TRY(df_drafter_set_form(lane->drafter, &run->o.form));
    if (run->o.compile)
        DF_TRY(df_drafter_compile(lane->drafter));
    DF_TRY(df_stream_new(&lane->compute, lane->dev, "drafter"));
    DF_TRY(df_stream_new(&lane->copy, lane->dev, "drafter copy"));
    DF_TRY(df_event_new(&lane->summed, lane->dev));
    for (size_t i = 0; i < DF_IN_TURN; i++)
        DF_TRY(make_input(run, &lane->inputs[i], lane->dev));
    DF_TRY(df_device_alloc(lane->dev, DF_MEM_DEVICE, sizeof *lane->sums,
                           &memory));
    lane->sums = memory;
    if (index > 0 || run->o.n_drafters == 1)
        return DF_OK;
    DF_TRY(df_device_alloc(
        lane->dev, DF_MEM_DEVICE,
        df_drafter_flat(lane->drafter).count * sizeof *lane->others, &memory));
    lane->others = memory;
    return DF_OK;
}

static void
clear_lane(struct df_lane *lane)
{
    df_stream_free(lane->compute);
    df_stream_free(lane->copy);
    df_event_free(lane->summed);
    for (size_t i = 0; lane->dev && i < DF_IN_TURN; i++) {
        clear_mirror(&lane->inputs[i].mirror, lane->dev);
        df_event_free(lane->inputs[i].copied);
        df_device_free(lane->dev, DF_MEM_DEVICE, lane->inputs[i].hidden);
    }
    if (lane->dev) {
        df_device_free(lane->dev, DF_MEM_DEVICE, lane->sums);
        df_device_free(lane->dev, DF_MEM_DEVICE, lane->others);
    }
    df_drafter_free(lane->drafter);
}

static df_status
make_slots(struct df_run *run)
{
    struct df_device *dev = slot_device(run);

    for (size_t i = 0; i < run->n_slots; i++) {
        run->slots[i].index = i;
        DF_TRY(make_buffer(run, &run->slots[i].own, dev, slot_memory(run)));
    }
    for (size_t i = 0; i < run->n_boxes; i++) {
        DF_TRY(df_batch_new(&run->boxes[i].batch, &run->o.limits, dev));
        DF_TRY(
            df_fence_make(&run->boxes[i].free, run->devices, run->n_devices));
    }
    return DF_OK;
}

static df_status
make_metrics(struct df_run *run)
{
    struct df_device *dev = slot_device(run);
    void *memory;

    for (size_t i = 0; i < run->n_metrics; i++) {
        struct df_metric *m = &run->metrics[i];

        DF_TRY(df_device_alloc(dev, DF_MEM_HOST, sizeof *m->sums, &memory));
        m->sums = memory;
        DF_TRY(df_device_alloc(dev, DF_MEM_HOST, sizeof *m->state, &memory));
        m->state = memory;
        DF_TRY(df_fence_make(&m->copied, run->devices, run->n_devices));
    }
    return DF_OK;
}

/* Enough slots for the reservoir, for what each target or reader has in
   flight, and for what each drafter holds.  */
static df_status
allocate(struct df_run *run)
{
    const struct df_run_options *o = &run->o;

    run->n_slots = o->min_ready + o->n_drafters + 1
                   + (o->n_targets > 0 ? o->n_targets * (o->depth + 1)
                                       : o->prefetch_threads);
    run->n_boxes = run->n_slots + o->prefetch_threads + o->n_targets + 1;
    run->n_metrics = 2 * DF_IN_TURN * o->n_drafters;
    run->readers = calloc(o->prefetch_threads, sizeof *run->readers);
    run->targets = calloc(o->n_targets, sizeof *run->targets);
    run->lanes = calloc(o->n_drafters, sizeof *run->lanes);
    run->boxes = calloc(run->n_boxes, sizeof *run->boxes);
    run->slots = calloc(run->n_slots, sizeof *run->slots);
    run->metrics = calloc(run->n_metrics, sizeof *run->metrics);
    if (!run->readers || !run->targets || !run->lanes || !run->boxes
        || !run->slots || !run->metrics)
        return DF_FAIL(DF_NO_MEMORY, "a run of %zu slots", run->n_slots);
    for (size_t i = 0; i < o->prefetch_threads; i++) {
        run->readers[i].samples = calloc(o->limits.max_seqs, sizeof(uint32_t));
        if (!run->readers[i].samples)
            return DF_FAIL(DF_NO_MEMORY, "%zu samples", o->limits.max_seqs);
    }
    return DF_OK;
}

df_status
df_run_set_up(struct df_run *run)
{
    DF_TRY(allocate(run));
    DF_TRY(add_devices(run));
    if (run->o.trial.n > 0)
        DF_TRY(df_trial_make_target(run));
    for (size_t i = 0; i < run->o.n_targets; i++)
        DF_TRY(make_target(run, i));
    for (size_t i = 0; i < run->o.n_drafters; i++)
        DF_TRY(make_lane(run, i));
    if (run->o.trial.n > 0)
        DF_TRY(df_trial_make(run));
    DF_TRY(make_slots(run));
    return make_metrics(run);
}

static void
clear_slots(struct df_run *run)
{
    struct df_device *dev = slot_device(run);

    for (size_t i = 0; run->slots && i < run->n_slots; i++)
        clear_buffer(&run->slots[i].own, dev, slot_memory(run));
    for (size_t i = 0; run->boxes && i < run->n_boxes; i++) {
        df_batch_free(run->boxes[i].batch);
        df_fence_clear(&run->boxes[i].free);
    }
    for (size_t i = 0; run->metrics && i < run->n_metrics; i++) {
        df_fence_clear(&run->metrics[i].copied);
        df_device_free(dev, DF_MEM_HOST, run->metrics[i].sums);
        df_device_free(dev, DF_MEM_HOST, run->metrics[i].state);
    }
}

void
df_run_clear(struct df_run *run)
{
    df_generator_free(run->trial.generator);
    for (size_t i = 0; run->targets && i < run->o.n_targets; i++)
        clear_target(run, &run->targets[i]);
    df_target_free(run->trial.target);
    for (size_t i = 0; run->lanes && i < run->o.n_drafters; i++)
        clear_lane(&run->lanes[i]);
    clear_slots(run);
    for (size_t i = 0; run->readers && i < run->o.prefetch_threads; i++)
        free(run->readers[i].samples);
    for (size_t i = 0; i < run->n_devices; i++)
        df_embeddings_free(&run->embeddings[i]);
    free(run->readers);
    free(run->targets);
    free(run->lanes);
    free(run->boxes);
    free(run->slots);
    free(run->metrics);
}

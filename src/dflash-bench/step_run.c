/* A step: made, queued, and begun anew.  */
#include <config.h>

#include "dflash-bench/load.h"
#include "dflash-bench/step.h"

static bool
is_whole(const struct step *s)
{
    return s->part == STEP_WHOLE || s->part == STEP_GRAPH;
}

/* As the pipeline does it: GPUs compute in rounded sizes.  */
static df_status
make_batch(struct step *s)
{
    struct df_batch_limits limits = workload_limits(s->w, s->shape);

    limits.padded = !df_device_is_cpu(s->dev);
    DF_TRY(workload_batch(s->w, s->shape, 0, &limits, &s->batch));
    s->sizes = limits.padded ? df_batch_padded(s->batch) : *s->batch;
    s->weight = df_batch_weight(s->batch, workload_objective.gamma);
    return scene_mirror(&s->scene, s->batch, &s->arrays);
}

static df_status
make_drafter(struct step *s)
{
    DF_TRY(df_drafter_new(&s->drafter, &s->w->drafter, &s->embeddings,
                          &s->batch->limits));
    if (s->part == STEP_GRAPH)
        DF_TRY(df_drafter_compile(s->drafter));
    return DF_OK;
}

static df_status
make_input(struct step *s)
{
    size_t n = s->w->layers.n * s->batch->T * s->embeddings.H;
    void *memory;

    if (!is_whole(s))
        return DF_OK;
    DF_TRY(scene_alloc(&s->scene, n * sizeof *s->hidden, &memory));
    s->hidden = memory;
    s->output = (struct step_output){s->sums, sizeof *s->sums / sizeof(double),
                                     DF_F64};
    return fill_random(s->dev, memory, DF_BF16, n);
}

/* Bytes that the optimizer reads and writes: gradients for the norm; those,
   masters and moments; the masters' copy; gradients cleared.  */
static double
optimizer_bytes(const struct step *s)
{
    bool copy = df_device_act(s->dev) != DF_F32;

    return (double) df_drafter_flat(s->drafter).count
           * (4 + 4 * 4 + 3 * 4 + (copy ? 2 : 0) + 4);
}

static df_status
open_part(struct step *s)
{
    struct df_flat flat;

    switch (s->part) {
    case STEP_ATTENTION:
        return step_open_attention(s);
    case STEP_HEAD:
        return step_open_head(s);
    case STEP_SUM:
        return step_open_sum(s);
    case STEP_OPTIMIZER:
        flat = df_drafter_flat(s->drafter);
        s->output = (struct step_output){flat.w, flat.count, DF_F32};
        s->bytes = optimizer_bytes(s);
        return DF_OK;
    default:
        return make_input(s);
    }
}

df_status
step_open(struct step *s)
{
    const struct model *m = &s->w->model;
    void *memory;

    DF_TRY(scene_open(&s->scene, s->dev));
    DF_TRY(df_embeddings_load(&s->embeddings, m->tensors, &m->config, s->dev,
                              true));
    DF_TRY(make_batch(s));
    if (s->part != STEP_ATTENTION && s->part != STEP_HEAD)
        DF_TRY(make_drafter(s));
    DF_TRY(scene_alloc(&s->scene, sizeof *s->sums, &memory));
    s->sums = memory;
    DF_TRY(open_part(s));
    return step_reset(s);
}

void
step_close(struct step *s)
{
    df_stream_free(s->scene.stream); /* when all is done that was queued */
    s->scene.stream = NULL;
    df_drafter_free(s->drafter);
    df_embeddings_free(&s->embeddings);
    df_batch_free(s->batch);
    if (s->theirs)
        df_device_free(s->other, DF_MEM_DEVICE, s->theirs);
    scene_close(&s->scene);
}

static df_status
queue_pass(struct step *s, struct df_stream *stream)
{
    size_t H = s->embeddings.H, T = s->batch->T;
    struct df_unpack_hidden_args unpack = {.f =
                                               df_drafter_features(s->drafter),
                                           .T = T,
                                           .H = H,
                                           .K = s->w->layers.n};

    for (size_t k = 0; k < unpack.K; k++)
        unpack.src[k] = s->hidden + k * T * H;
    DF_TRY(df_unpack_hidden(stream, &unpack));
    DF_TRY(df_fill(stream, s->sums, 0, sizeof *s->sums));
    if (s->batch->limits.padded)
        return df_drafter_pass(s->drafter, stream, s->batch, &s->arrays,
                               &workload_objective, s->sums);
    DF_TRY(df_drafter_forward(s->drafter, stream, s->batch, &s->arrays));
    return df_drafter_loss(s->drafter, stream, s->batch, &s->arrays,
                           &workload_objective, s->sums, true);
}

static df_status
queue_optimizer(struct step *s, struct df_stream *stream)
{
    DF_TRY(df_drafter_step(s->drafter, stream, 1 / s->weight, WORKLOAD_RATE,
                           &workload_adamw));
    return df_drafter_clear_gradients(s->drafter, stream);
}

static df_status
queue_attention(struct step *s, struct df_stream *stream)
{
    for (int i = 0; i < s->w->drafter.d.num_hidden_layers; i++) {
        DF_TRY(df_draft_attention(stream, &s->attention));
        DF_TRY(df_draft_attention_bwd(stream, &s->attention_bwd));
    }
    return DF_OK;
}

static df_status
queue_head(struct step *s, struct df_stream *stream)
{
    DF_TRY(df_gather_rows(stream, &s->gather));
    DF_TRY(df_head_loss(stream, &s->head));
    DF_TRY(df_objective(stream, &s->objective));
    return df_scatter_rows(stream, &s->scatter);
}

static df_status
queue_sum(struct step *s, struct df_stream *stream)
{
    size_t bytes = s->add.N * sizeof *s->add.a;

    DF_TRY(df_copy(stream, (void *) s->add.b, s->theirs, bytes));
    DF_TRY(df_add(stream, &s->add));
    return df_copy(stream, s->theirs, s->add.a, bytes);
}

df_status
step_queue(void *arg, struct df_stream *stream)
{
    struct step *s = arg;

    switch (s->part) {
    case STEP_ATTENTION:
        return queue_attention(s, stream);
    case STEP_HEAD:
        return queue_head(s, stream);
    case STEP_OPTIMIZER:
        return queue_optimizer(s, stream);
    case STEP_SUM:
        return queue_sum(s, stream);
    default:
        DF_TRY(queue_pass(s, stream));
        return queue_optimizer(s, stream);
    }
}

df_status
step_reset(struct step *s)
{
    struct df_flat flat;

    DF_TRY(df_stream_sync(s->scene.stream));
    if (s->part == STEP_SUM) {
        DF_TRY(fill_random(s->dev, s->add.a, DF_F32, s->add.N));
        return fill_random(s->other, s->theirs, DF_F32, s->add.N);
    }
    if (!s->drafter)
        return DF_OK;
    DF_TRY(df_drafter_load(s->drafter, s->w->weights));
    flat = df_drafter_flat(s->drafter);
    if (s->part == STEP_OPTIMIZER)
        return fill_random(s->dev, flat.g, DF_F32, flat.count);
    DF_TRY(df_drafter_clear_gradients(s->drafter, s->scene.stream));
    return df_stream_sync(s->scene.stream);
}

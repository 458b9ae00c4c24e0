/* A forward pass: made, queued, and compared.  */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "dflash-bench/forward.h"
#include "dflash-bench/options.h"

enum {
    ALONE_SAMPLES = 5,
    FEW_TOKENS = 64 /* that the CPU runs too, to the first captured layer */
};

/* Of a layer's states, in the Euclidean norm.  Products of other sizes add
   in another order, which bf16 keeps less of with every layer; on a CPU a
   row doesn't depend on others.  Two layers of random weights in bf16 are
   0.006 off the CPU's with 128 features and 0.011 with 4096; another row or
   layer is about 1 off.  */
static const double limit_alone = 0.03, limit_cpu = 0.02;

static size_t
tokens_of(struct shape shape)
{
    return shape.seqs * shape.length;
}

static size_t
hidden_size(const struct forward *f)
{
    return (size_t) f->w->model.config.d.hidden_size;
}

df_status
forward_open(struct forward *f)
{
    const struct model *m = &f->w->model;
    struct df_batch_limits limits = workload_limits(f->w, f->shape);
    void *hidden;

    DF_TRY(scene_open(&f->scene, f->dev));
    DF_TRY(df_embeddings_load(&f->embeddings, m->tensors, &m->config, f->dev,
                              false));
    DF_TRY(df_target_new(&f->target, &m->config, m->tensors, &f->embeddings,
                         &limits, f->last_layer));
    DF_TRY(scene_alloc(&f->scene,
                       f->w->layers.n * tokens_of(f->shape) * hidden_size(f)
                           * sizeof *f->hidden,
                       &hidden));
    f->hidden = hidden;
    DF_TRY(scene_alloc(&f->scene, df_batch_bytes(&limits), &f->mirror));
    df_batch_layout(&limits, f->mirror, &f->arrays);
    return forward_take(f, f->shape, 0);
}

void
forward_close(struct forward *f)
{
    df_stream_free(f->scene.stream); /* when all is done that was queued */
    f->scene.stream = NULL;
    df_target_free(f->target);
    df_embeddings_free(&f->embeddings);
    df_batch_free(f->batch);
    scene_close(&f->scene);
    f->target = NULL;
    f->batch = NULL;
}

df_status
forward_take(struct forward *f, struct shape shape, uint64_t first)
{
    struct df_batch_limits limits = workload_limits(f->w, f->shape);

    df_batch_free(f->batch);
    f->batch = NULL;
    DF_TRY(workload_batch(f->w, shape, first, &limits, &f->batch));
    DF_TRY(df_copy(f->scene.stream, f->mirror, f->batch->memory,
                   f->batch->bytes));
    return df_stream_sync(f->scene.stream);
}

/* A hook of the target.  */
static df_status
pack(void *arg, int layer, const void *x, struct df_stream *stream)
{
    struct forward *f = arg;
    size_t k = 0, rows = f->batch->T, H = hidden_size(f);

    while (k < f->w->layers.n && f->w->layers.ids[k] != layer)
        k++;
    if (k == f->w->layers.n)
        return DF_OK;
    return df_pack_hidden(
        stream, &(struct df_pack_hidden_args){.out = f->hidden + k * rows * H,
                                              .x = x,
                                              .T = rows,
                                              .H = H,
                                              .feature = k * H});
}

df_status
forward_queue(void *arg, struct df_stream *stream)
{
    struct forward *f = arg;

    return df_target_forward(f->target, stream, f->batch, &f->arrays,
                             f->pack ? pack : NULL, f);
}

df_status
forward_states(struct forward *f, size_t k, uint16_t **out)
{
    size_t n = f->batch->T * hidden_size(f);
    bool packs = f->pack;
    void *states;
    df_status status;

    f->pack = true;
    status = forward_queue(f, f->scene.stream);
    f->pack = packs;
    DF_TRY(status);
    DF_TRY(scene_fetch(&f->scene, f->hidden + k * n, n * sizeof *f->hidden,
                       &states));
    *out = states;
    return DF_OK;
}

/* |a - b| / |b|; not a number if there is one among A or B.  */
static double
distance(const uint16_t *a, const uint16_t *b, size_t n)
{
    double difference = 0, norm = 0;

    for (size_t i = 0; i < n; i++) {
        double x = (double) df_f32_from_bf16(a[i]);
        double y = (double) df_f32_from_bf16(b[i]);

        difference += (x - y) * (x - y);
        norm += y * y;
    }
    return sqrt(difference / norm);
}

/* The last LENGTH rows of layer K in A against those in B.  */
static df_status
compare_layer(struct forward *a, struct forward *b, struct shape shape,
              uint64_t first, size_t k, double *error)
{
    size_t n = shape.length * hidden_size(a), skip;
    uint16_t *x = NULL, *y = NULL;
    df_status status = forward_states(a, k, &x);

    skip = a->batch->T * hidden_size(a) - n;
    if (status == DF_OK)
        status = forward_take(b, shape, first);
    if (status == DF_OK)
        status = forward_states(b, k, &y);
    if (status == DF_OK)
        *error = distance(x + skip, y, n);
    free(x);
    free(y);
    return status;
}

/* ERROR becomes the larger one; DF_DEVICE if E is over LIMIT.  */
static df_status
judge(double e, double limit, const char *than, size_t k, double *error)
{
    if (!(e <= *error))
        *error = e;
    if (e <= limit)
        return DF_OK;
    return DF_FAIL(DF_DEVICE,
                   "captured layer %zu differs from %s by %.1e; %.1e is "
                   "allowed",
                   k, than, e, limit);
}

/* All captured layers of the last sequence, in the batch and alone.  */
static df_status
compare_alone(struct forward *f, double *error)
{
    double limit = df_device_is_cpu(f->dev) ? 0 : limit_alone, e;
    struct shape one = {1, f->shape.length};

    for (size_t k = 0; k < f->w->layers.n; k++) {
        DF_TRY(forward_take(f, f->shape, 0));
        DF_TRY(compare_layer(f, f, one, f->shape.seqs - 1, k, &e));
        DF_TRY(judge(e, limit, "the sequence alone", k, error));
    }
    return DF_OK;
}

/* The first captured layer of a short sequence, here and on the CPU.  */
static df_status
compare_cpu(struct forward *f, struct df_device *cpu, double *error)
{
    struct shape few = {1, f->shape.length < FEW_TOKENS ? f->shape.length
                                                        : FEW_TOKENS};
    struct forward on_cpu = {.w = f->w,
                             .dev = cpu,
                             .shape = few,
                             .last_layer = f->w->layers.ids[0]};
    df_status status = forward_take(f, few, 0);
    double e = 0;

    if (status == DF_OK)
        status = forward_open(&on_cpu);
    if (status == DF_OK)
        status = compare_layer(f, &on_cpu, few, 0, 0, &e);
    forward_close(&on_cpu);
    DF_TRY(status);
    return judge(e, limit_cpu, "the CPU's", 0, error);
}

df_status
forward_check(struct forward *f, double *error)
{
    struct df_device *cpu;
    df_status status;

    *error = 0;
    DF_TRY(scene_count(&f->scene, forward_queue, f, &f->flops));
    DF_TRY(compare_alone(f, error));
    if (f->against_cpu && !df_device_is_cpu(f->dev)) {
        DF_TRY(df_device_open(&cpu, "cpu:63"));
        status = compare_cpu(f, cpu, error);
        df_device_close(cpu);
        DF_TRY(status);
    }
    return forward_take(f, f->shape, 0);
}

static df_status
time_alone(struct forward *f, double *median)
{
    double samples[ALONE_SAMPLES], sorted[ALONE_SAMPLES], ignored;

    DF_TRY(forward_open(f));
    DF_TRY(scene_time(&f->scene, forward_queue, f, 1, &ignored));
    for (size_t i = 0; i < ALONE_SAMPLES; i++)
        DF_TRY(scene_time(&f->scene, forward_queue, f, 1, &samples[i]));
    *median = summarize(samples, ALONE_SAMPLES, sorted).median;
    return DF_OK;
}

df_status
forward_alone(struct bench *b, struct df_device *dev, struct shape shape,
              double *seconds)
{
    const struct layer_list *layers = &b->workload->layers;
    struct forward f = {.w = b->workload,
                        .dev = dev,
                        .shape = shape,
                        .last_layer = layers->ids[layers->n - 1],
                        .pack = true};
    df_status status = time_alone(&f, seconds);

    forward_close(&f);
    return status;
}

double
product_tokens(struct bench *b, const struct df_device *dev, double count)
{
    return bench_station(b, dev)->ceilings.product * 1e12 / count;
}

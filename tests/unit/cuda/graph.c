/* Passes of a drafter as graphs, on the first GPU: the same bits as without,
   and what there is to say about graphs themselves.  */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/transfer_internal.h"
#include "dflash/dtype.h"
#include "tap/tap.h"
#include "tiny/tiny.h"

enum {
    STEPS = 20,
    AGAIN = 12 /* has what step 0 had */
};

enum how {
    PLAIN,
    PADDED,
    GRAPHS
};

static const struct df_adamw_options adamw = {
    .beta1 = 0.9f, .beta2 = 0.999f, .eps = 1e-8f, .max_norm = 1};

/* Random features for all rows there can be.  */
static void
set_features(struct tiny_drafter *d, uint64_t seed)
{
    size_t n = df_batch_room(&d->model.limits).T * 2 * d->embeddings.H;
    uint16_t *f = malloc(n * sizeof *f);

    for (size_t i = 0; i < n; i++)
        f[i] = df_bf16_from_f32(tiny_random(seed, i));
    CHECKED(df_copy_now(d->dev, df_drafter_features(d->drafter), f,
                        n * sizeof *f));
    free(f);
}

static struct df_loss_sums
pass(struct tiny_drafter *d, enum how how)
{
    static const struct df_objective o = {.gamma = 7};
    struct df_loss_sums sums;

    CHECKED(df_fill(d->stream, d->sums, 0, sizeof *d->sums));
    if (how == PLAIN) {
        CHECKED(
            df_drafter_forward(d->drafter, d->stream, d->batch, &d->arrays));
        CHECKED(df_drafter_loss(d->drafter, d->stream, d->batch, &d->arrays,
                                &o, d->sums, true));
    } else {
        CHECKED(df_drafter_pass(d->drafter, d->stream, d->batch, &d->arrays,
                                &o, d->sums));
    }
    CHECKED(df_copy(d->stream, &sums, d->sums, sizeof sums));
    CHECKED(df_stream_sync(d->stream));
    return sums;
}

/* The largest batch first: no later one lets the scratch grow.  */
static void
train(struct tiny_drafter *d, enum how how, double losses[STEPS])
{
    CHECKED(df_drafter_clear_gradients(d->drafter, d->stream));
    for (uint32_t i = 0; i < STEPS; i++) {
        tiny_drafter_load(d, 4 - i % 4);
        df_batch_pad(d->batch);
        CHECKED(
            df_copy(d->stream, d->memory, d->batch->memory, d->batch->bytes));
        set_features(d, i % 3);
        struct df_loss_sums sums = pass(d, how);

        losses[i] = sums.loss / sums.weight;
        CHECKED(df_drafter_step(d->drafter, d->stream, 1 / sums.weight, 1e-3,
                                &adamw));
        CHECKED(df_drafter_clear_gradients(d->drafter, d->stream));
    }
}

/* STEPS steps from the same weights; the operations queued.  */
static double
run(enum how how, double losses[STEPS])
{
    struct tiny_drafter d = {0};
    struct df_device *dev;
    struct df_device_stats stats;

    CHECKED(df_device_open(&dev, "cuda:0"));
    tiny_drafter_make_on(&d, dev);
    if (how == GRAPHS)
        CHECKED(df_drafter_compile(d.drafter));
    train(&d, how, losses);
    df_device_get_stats(dev, &stats);
    tiny_drafter_clear(&d);
    return stats.flops;
}

static void
test_training(void)
{
    double plain[STEPS], padded[STEPS], graphs[STEPS], worst = 0;

    run(PLAIN, plain);
    double flops = run(PADDED, padded);

    ok(run(GRAPHS, graphs) == flops, "as many operations with graphs");
    ok(memcmp(padded, graphs, sizeof padded) == 0,
       "the same losses with graphs");
    for (size_t i = 0; i < STEPS; i++)
        worst = fmax(worst, fabs(padded[i] - plain[i]) / plain[i]);
    ok(worst < 0.01, "nearly the same without padding: %.1e", worst);
    ok(graphs[AGAIN] < graphs[0], "the loss goes down");
}

static void
test_graph(void)
{
    struct df_device *dev;
    struct df_stream *stream;
    struct df_graph *graph;
    float *a, *b, x[3] = {1, 2, 3}, y[3] = {10, 20, 30};
    void *memory;

    CHECKED(df_device_open(&dev, "cuda:0"));
    CHECKED(df_stream_new(&stream, dev, "test"));
    CHECKED(df_device_alloc(dev, DF_MEM_DEVICE, 1024, &memory));
    a = memory;
    b = a + 64;
    CHECKED(df_copy(stream, a, x, sizeof x));
    CHECKED(df_copy(stream, b, y, sizeof y));
    CHECKED(df_graph_begin(stream));
    CHECKED(df_add(stream, &(struct df_add_args){.a = a, .b = b, .N = 3}));
    CHECKED(df_graph_end(stream, &graph));
    CHECKED(df_copy(stream, x, a, sizeof x));
    CHECKED(df_stream_sync(stream));
    ok(x[0] == 1 && x[2] == 3, "what is recorded isn't run");
    CHECKED(df_graph_launch(graph));
    CHECKED(df_graph_launch(graph));
    CHECKED(df_copy(stream, x, a, sizeof x));
    CHECKED(df_stream_sync(stream));
    ok(x[0] == 21 && x[1] == 42 && x[2] == 63, "until it is launched");
    df_device_free(dev, DF_MEM_DEVICE, memory);
    df_stream_free(stream);
    df_graph_free(graph);
    df_device_close(dev);
}

int
main(void)
{
    struct df_device *dev;

    if (df_device_open(&dev, "cuda:0") != DF_OK)
        skip_all("%s", df_error_last()->message);
    df_device_close(dev);
    plan(6);
    test_graph();
    test_training();
    return 0;
}

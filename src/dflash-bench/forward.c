/* The target's forward pass: over sequences of three lengths; through all
   layers, and, as in the pipeline, up to the last that is captured, with and
   without packing.  */
#include <config.h>

#include "dflash-bench/forward.h"

struct forward_case {
    struct forward f;
    struct bench *bench;
};

static df_status
open_forward(void *arg)
{
    return forward_open(&((struct forward_case *) arg)->f);
}

static void
close_forward(void *arg)
{
    forward_close(&((struct forward_case *) arg)->f);
}

static df_status
run_forward(void *arg, size_t calls, double *seconds)
{
    struct forward *f = &((struct forward_case *) arg)->f;

    return scene_time(&f->scene, forward_queue, f, calls, seconds);
}

static df_status
check_forward(void *arg, double *error)
{
    return forward_check(&((struct forward_case *) arg)->f, error);
}

static void
finish_forward(void *arg, struct result *r)
{
    struct forward_case *c = arg;
    struct forward *f = &c->f;

    r->ceiling = product_tokens(c->bench, f->dev, f->flops / r->amount);
    result_extra(r, "TFLOP/s", f->flops / r->s.median * 1e-12);
    result_extra(r, "GiB", scene_gibibytes(&f->scene));
}

static df_status
measure(struct bench *b, struct df_device *dev, struct shape shape,
        const char *how, int last_layer, bool pack)
{
    struct forward_case fc = {
        .f = {.w = b->workload,
              .dev = dev,
              .shape = shape,
              .last_layer = last_layer,
              .pack = pack,
              .against_cpu = pack},
        .bench = b
    };
    char name[80];
    struct bench_case c = {.name = name,
                           .dev = dev,
                           .arg = &fc,
                           .unit = "tokens/s",
                           .amount = (double) (shape.seqs * shape.length),
                           .open = open_forward,
                           .close = close_forward,
                           .run = run_forward,
                           .check = check_forward,
                           .finish = finish_forward};

    snprintf(name, sizeof name, "%zux%zu%s", shape.seqs, shape.length, how);
    return bench_case(b, &c);
}

static df_status
measure_device(struct bench *b, struct df_device *dev)
{
    struct shape shape = workload_shape(), half = shape, twice = shape;
    /* For a list there is no target.  */
    const struct workload *w = b->workload;
    int all = w ? w->model.config.d.num_hidden_layers - 1 : 0;
    int last = w ? w->layers.ids[w->layers.n - 1] : 0;

    half.seqs *= 2;
    half.length /= 2;
    twice.seqs /= 2;
    twice.length *= 2;
    if (half.length >= 2)
        DF_TRY(measure(b, dev, half, "", all, false));
    DF_TRY(measure(b, dev, shape, "", all, false));
    if (twice.seqs > 0)
        DF_TRY(measure(b, dev, twice, "", all, false));
    DF_TRY(measure(b, dev, shape, "/captured", last, false));
    return measure(b, dev, shape, "/packed", last, true);
}

df_status
bench_forward(struct bench *b)
{
    DF_TRY(workload_open(b));
    for (size_t i = 0; i < b->devices.n; i++)
        DF_TRY(measure_device(b, b->devices.devices[i]));
    return DF_OK;
}

#include <config.h>

#include <stdlib.h>

#include "dflash-bench/feed.h"

static df_status
make_plan(struct feed *f, size_t all, int64_t steps, size_t per_step)
{
    const struct df_plan_options o = {.seed = WORKLOAD_SEED,
                                      .token_budget =
                                          f->shape.seqs * f->shape.length,
                                      .max_seqs = f->shape.seqs,
                                      .max_steps = steps,
                                      .per_step = per_step};
    size_t n = all * f->shape.seqs;
    uint32_t *lengths = calloc(n, sizeof *lengths);
    df_status status;

    if (!lengths)
        return DF_FAIL(DF_NO_MEMORY, "%zu samples", n);
    for (size_t i = 0; i < n; i++)
        lengths[i] = (uint32_t) f->shape.length;
    status = df_plan_new(&f->plan, lengths, n, NULL, 0, &o);
    free(lengths);
    return status;
}

df_status
feed_open(struct feed *f, const struct workload *w, struct shape shape,
          size_t all, int64_t steps, size_t per_step)
{
    f->w = w;
    f->shape = shape;
    f->ids = calloc(FEED_THREADS * shape.length, sizeof *f->ids);
    f->mask = calloc(FEED_THREADS * shape.length, sizeof *f->mask);
    if (!f->ids || !f->mask)
        return DF_FAIL(DF_NO_MEMORY, "samples");
    return make_plan(f, all, steps, per_step);
}

void
feed_close(struct feed *f)
{
    df_plan_free(f->plan);
    free(f->ids);
    free(f->mask);
}

df_status
feed_read(void *arg, size_t thread, uint32_t index, struct df_sample *out)
{
    struct feed *f = arg;
    size_t n = f->shape.length;

    *out = (struct df_sample){index, n, f->ids + thread * n,
                              f->mask + thread * n};
    workload_sample(f->w, index, n, f->ids + thread * n, f->mask + thread * n);
    return DF_OK;
}

struct df_run_options
feed_options(struct feed *f)
{
    const struct workload *w = f->w;
    struct df_run_options o = {
        .prefetch_threads = FEED_THREADS,
        .depth = 1,
        .min_ready = 1,
        .plan = f->plan,
        .limits = workload_limits(w, f->shape),
        .target_config = &w->model.config,
        .target_tensors = w->model.tensors,
        .layer_ids = w->layers.ids,
        .n_layer_ids = w->layers.n,
        .drafter_config = w->drafter,
        .seed = WORKLOAD_SEED,
        .objective = workload_objective,
        .adamw = workload_adamw,
        .learning_rate = WORKLOAD_RATE,
    };

    o.train = (struct df_source){f, feed_read};
    return o;
}

double
gibibytes(struct df_device *const *devices, size_t n)
{
    struct df_device_stats stats;
    double bytes = 0;

    for (size_t i = 0; i < n; i++) {
        df_device_get_stats(devices[i], &stats);
        bytes += (double) stats.device_bytes;
    }
    return bytes / 0x1p30;
}

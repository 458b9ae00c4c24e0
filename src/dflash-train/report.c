/* What a run says of itself at its end.  */
#include <config.h>

#include <jansson.h>
#include <string.h>
#include <time.h>

#include "common/message.h"
#include "common/progress.h"
#include "common/stages.h"
#include "dflash-train/options.h"
#include "dflash-train/session.h"
#include "dflash-train/trial.h"

enum {
    GEMM_CPU = 1024, /* rows and columns that come near the best rate */
    GEMM_GPU = 8192,
    GEMM_RUNS = 12 /* the fastest counts */
};

static double
seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static df_status
time_gemm(struct df_stream *stream, void *memory, size_t n, size_t bytes,
          double *best)
{
    char *m = memory;
    const struct df_linear_args args = {
        .y = m, .x = m + bytes, .w = m + 2 * bytes, .T = n, .N = n, .K = n};

    DF_TRY(df_fill(stream, memory, 0, 3 * bytes));
    DF_TRY(df_stream_sync(stream));
    for (int i = 0; i < GEMM_RUNS; i++) {
        double start = seconds();

        DF_TRY(df_linear(stream, &args));
        DF_TRY(df_stream_sync(stream));
        if (i == 0 || seconds() - start < *best)
            *best = seconds() - start;
    }
    return DF_OK;
}

/* How fast the first drafter's device multiplies matrices: what the run's
   own rate is compared with.  */
df_status
measure_gemm(struct session *s)
{
    struct df_device *dev = s->drafters.devices[0];
    size_t n = df_device_is_cpu(dev) ? GEMM_CPU : GEMM_GPU;
    size_t bytes = n * n * df_dtype_size(df_device_act(dev));
    struct df_stream *stream = NULL;
    void *memory;
    double best = 1;
    df_status status;

    DF_TRY(df_device_alloc(dev, DF_MEM_DEVICE, 3 * bytes, &memory));
    status = df_stream_new(&stream, dev, "measure");
    if (status == DF_OK)
        status = time_gemm(stream, memory, n, bytes, &best);
    df_stream_free(stream);
    df_device_free(dev, DF_MEM_DEVICE, memory);
    s->gemm_rate = 2 * (double) n * (double) n * (double) n / best;
    return status;
}

static void
print_summary(const struct session *s, const struct df_run_stats *r)
{
    printf("%lld steps, %s tokens in %s (%s tokens/s)\n",
           (long long) (df_run_steps_done(s->run) - s->first_step),
           format_count((double) r->tokens).text,
           format_duration(r->seconds).text,
           format_count((double) r->tokens / r->seconds).text);
    printf("allocations after warm-up: %llu\n",
           (unsigned long long) r->allocations);
    printf("peak memory: %s\n", format_bytes(peak_memory()).text);
    if (s->evaluations > 1)
        printf("held-out accept length: %.3f before, %.3f after\n",
               s->first_eval.accept_length, s->last_eval.accept_length);
    trial_print(s);
}

static void
print_details(const struct session *s, const struct df_run_stats *r)
{
    static const char *const names[] = {"auto", "host", "peer", "local"};
    double steps = (double) (df_run_steps_done(s->run) - s->first_step);

    printf("arithmetic: %.1f GFLOP/s, %.2f of a matrix product's %.1f\n",
           r->flops / r->seconds * 1e-9, r->flops / r->seconds / s->gemm_rate,
           s->gemm_rate * 1e-9);
    printf("device memory: %s, host memory for copies: %s\n",
           format_bytes((double) r->device_bytes).text,
           format_bytes((double) r->host_bytes).text);
    printf("transport: %s\n", names[df_run_transport(s->run)]);
    printf("waits of the drafters for their own device: %.2f a step\n",
           (double) r->host_waits / steps);
}

static df_status
write_json(const struct session *s, const struct df_run_stats *r)
{
    json_t *json = json_pack(
        "{s:I, s:f, s:I, s:f, s:f, s:I, s:I, s:I, s:I, s:f, s:s, s:o}",
        "steps", (json_int_t) (df_run_steps_done(s->run) - s->first_step),
        "seconds", r->seconds, "tokens", (json_int_t) r->tokens, "flops",
        r->flops, "matrix_product_flops_per_second", s->gemm_rate,
        "allocations_after_warm_up", (json_int_t) r->allocations,
        "device_bytes", (json_int_t) r->device_bytes, "host_bytes",
        (json_int_t) r->host_bytes, "host_waits", (json_int_t) r->host_waits,
        "peak_memory_bytes", peak_memory(), "bottleneck",
        r->stage_names[df_run_bottleneck(r)], "stages", stages_as_json(r));

    return stages_write(json, opt.stats);
}

df_status
report(struct session *s)
{
    struct df_run_stats r;
    bool stopped = df_run_stopped(s->run);

    df_run_get_stats(s->run, &r);
    stages_print(stdout, &r);
    print_summary(s, &r);
    if (r.allocations > 0)
        message_warn("%llu allocations after the warm-up; please report this",
                     (unsigned long long) r.allocations);
    if (opt.stats)
        print_details(s, &r);
    if (opt.stats && strcmp(opt.stats, "-") != 0)
        DF_TRY(write_json(s, &r));
    if (stopped)
        printf("stopped%s\n", s->plan ? "; go on with --resume" : "");
    else
        printf("drafter: %s/drafter\n", opt.output);
    return DF_OK;
}

/* What the numbers hold for.  */

#include <config.h>

#include "common/progress.h"
#include "dflash-bench/bench.h"
#include "dflash-bench/load.h"
#include "dflash-bench/options.h"

enum {
    CEILING_SAMPLES = 10
};

FILE *
remarks(void)
{
    return opt.json ? stderr : stdout;
}

static df_status
nothing(void *arg, struct df_stream *stream)
{
    (void) arg;
    (void) stream;
    return DF_OK;
}

/* The least of a few samples, each long enough.  */
static df_status
least(struct sampler *s, queue_fn *queue, void *arg, double *out)
{
    double seconds;
    size_t calls;

    DF_TRY(sampler_warm_up(s, queue, arg));
    DF_TRY(sampler_take(s, queue, arg, 1, false, &seconds));
    calls = sampler_calls(opt.min_time, seconds, 1);
    *out = seconds;
    for (int i = 0; i < CEILING_SAMPLES; i++) {
        DF_TRY(sampler_take(s, queue, arg, calls, false, &seconds));
        if (seconds < *out)
            *out = seconds;
    }
    return DF_OK;
}

/* A copy of half of what overwrites the cache to the other half.  */
static df_status
copy_halves(void *arg, struct df_stream *stream)
{
    struct sampler *s = arg;
    size_t half = s->cache_bytes / 2;

    return df_copy(stream, (char *) s->cache + half, s->cache, half);
}

static df_status
measure_ceilings(struct station *st)
{
    struct sampler *s = &st->sampler;
    struct load load = {0};
    double seconds;
    df_status status;

    DF_TRY(least(s, copy_halves, s, &seconds));
    st->ceilings.copy = (double) s->cache_bytes / seconds * 1e-9;
    status = load_open(&load, st->dev);
    if (status == DF_OK)
        status = least(s, load_queue, &load, &seconds);
    if (status == DF_OK)
        st->ceilings.product = load.flops / seconds * 1e-12;
    load_close(&load);
    DF_TRY(status);
    DF_TRY(sampler_take(s, nothing, NULL, 1, false, &st->ceilings.empty));
    return DF_OK;
}

df_status
bench_ceilings(struct bench *b)
{
    for (size_t i = 0; i < b->devices.n; i++) {
        DF_TRY(measure_ceilings(&b->stations[i]));
        DF_TRY(df_device_describe(b->stations[i].dev, &b->stations[i].info));
    }
    return DF_OK;
}

static void
print_clocks(const struct df_device_info *d)
{
    FILE *fp = remarks();

    fprintf(fp, "#   %s", d->runtime);
    if (*d->driver)
        fprintf(fp, ", driver %s", d->driver);
    if (d->clock_mhz)
        fprintf(fp, ", clock %u MHz", d->clock_mhz);
    if (d->max_clock_mhz)
        fprintf(fp, " of %u", d->max_clock_mhz);
    if (d->memory_clock_mhz)
        fprintf(fp, ", memory clock %u MHz", d->memory_clock_mhz);
    putc('\n', fp);
}

static void
print_device(const struct station *st)
{
    const struct df_device_info *d = &st->info;
    FILE *fp = remarks();

    fprintf(fp, "# %s: %s, %u %s, %s, cache %s\n", df_device_name(st->dev),
            *d->model ? d->model : "unknown", d->units,
            df_device_is_cpu(st->dev) ? "threads" : "multiprocessors",
            format_bytes((double) d->memory_bytes).text,
            format_bytes((double) d->cache_bytes).text);
    print_clocks(d);
    if (st->ceilings.copy > 0)
        fprintf(fp,
                "#   ceilings: copy %.4g GB/s, product %.4g TFLOP/s; nothing "
                "takes %.1f us\n",
                st->ceilings.copy, st->ceilings.product,
                st->ceilings.empty * 1e6);
}

void
print_header(const struct bench *b)
{
    fprintf(remarks(), "# dflash-bench %s, %s\n# %s\n", PACKAGE_VERSION,
            b->date, b->command);
    for (size_t i = 0; i < b->devices.n; i++)
        print_device(&b->stations[i]);
    if (opt.check)
        fprintf(remarks(), "# results are checked, no times are taken\n");
    else
        fprintf(remarks(),
                "# %ld samples a case, of at least %g s; rate: by the "
                "median\n",
                opt.repeat, opt.min_time);
}

df_status
print_footer(struct bench *b)
{
    for (size_t i = 0; i < b->devices.n; i++) {
        struct station *st = &b->stations[i];

        if (df_device_is_cpu(st->dev))
            continue;
        DF_TRY(df_device_describe(st->dev, &st->info));
        fprintf(remarks(), "# %s: clock %u MHz of %u at the end\n",
                df_device_name(st->dev), st->info.clock_mhz,
                st->info.max_clock_mhz);
    }
    return DF_OK;
}

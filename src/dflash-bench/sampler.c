#include <config.h>

#include <time.h>

#include "dflash-bench/sampler.h"

enum {
    CACHE_LEAST = 512 << 20, /* several times any GPU's cache */
    CACHE_LEAST_CPU = 4 << 20,
    CACHE_MOST_CPU = 64 << 20 /* overwriting more takes too long */
};

double
now_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

/* Twice the cache, within limits.  */
static size_t
cache_size(const struct df_device *dev, const struct df_device_info *info)
{
    size_t bytes = 2 * info->cache_bytes;

    if (!df_device_is_cpu(dev))
        return bytes < CACHE_LEAST ? CACHE_LEAST : bytes;
    return bytes < CACHE_LEAST_CPU  ? CACHE_LEAST_CPU
           : bytes > CACHE_MOST_CPU ? CACHE_MOST_CPU
                                    : bytes;
}

df_status
sampler_open(struct sampler *s, struct df_device *dev)
{
    struct df_device_info info;

    s->dev = dev;
    DF_TRY(df_device_describe(dev, &info));
    DF_TRY(df_stream_new(&s->stream, dev, "measured"));
    DF_TRY(df_gate_new(&s->gate, dev));
    for (size_t i = 0; i < 2 * SAMPLER_MAX_CALLS; i++)
        DF_TRY(df_event_new_timed(&s->events[i], dev));
    s->cache_bytes = cache_size(dev, &info);
    DF_TRY(df_device_alloc(dev, DF_MEM_DEVICE, s->cache_bytes, &s->cache));
    DF_TRY(df_fill(s->stream, s->cache, 0, s->cache_bytes));
    return df_stream_sync(s->stream);
}

void
sampler_close(struct sampler *s)
{
    if (s->gate)
        df_gate_open(s->gate);
    df_stream_free(s->stream);
    df_gate_free(s->gate);
    for (size_t i = 0; i < 2 * SAMPLER_MAX_CALLS; i++)
        df_event_free(s->events[i]);
    if (s->dev)
        df_device_free(s->dev, DF_MEM_DEVICE, s->cache);
}

df_status
sampler_warm_up(struct sampler *s, queue_fn *queue, void *arg)
{
    DF_TRY(queue(arg, s->stream));
    return df_stream_sync(s->stream);
}

static df_status
queue_cold(struct sampler *s, queue_fn *queue, void *arg, size_t calls)
{
    for (size_t i = 0; i < calls; i++) {
        DF_TRY(df_fill(s->stream, s->cache, (int) (i & 0xff), s->cache_bytes));
        DF_TRY(df_event_record(s->events[2 * i], s->stream));
        DF_TRY(queue(arg, s->stream));
        DF_TRY(df_event_record(s->events[2 * i + 1], s->stream));
    }
    return DF_OK;
}

static df_status
queue_warm(struct sampler *s, queue_fn *queue, void *arg, size_t calls)
{
    DF_TRY(df_event_record(s->events[0], s->stream));
    for (size_t i = 0; i < calls; i++)
        DF_TRY(queue(arg, s->stream));
    return df_event_record(s->events[1], s->stream);
}

df_status
sampler_take(struct sampler *s, queue_fn *queue, void *arg, size_t calls,
             bool cold, double *seconds)
{
    size_t spans = cold ? calls : 1;
    double sum = 0, span;
    df_status status;

    status = df_gate_hold(s->gate, s->stream);
    if (status == DF_OK)
        status = cold ? queue_cold(s, queue, arg, calls)
                      : queue_warm(s, queue, arg, calls);
    df_gate_open(s->gate);
    DF_TRY(status);
    DF_TRY(df_stream_sync(s->stream));
    for (size_t i = 0; i < spans; i++) {
        DF_TRY(
            df_event_seconds(s->events[2 * i], s->events[2 * i + 1], &span));
        sum += span;
    }
    *seconds = sum / (double) calls;
    return DF_OK;
}

size_t
sampler_calls(double min_time, double seconds, size_t entries)
{
    size_t most = SAMPLER_ENTRIES / (entries + 3);
    double wanted = seconds > 0 ? min_time / seconds : SAMPLER_MAX_CALLS;

    if (most > SAMPLER_MAX_CALLS)
        most = SAMPLER_MAX_CALLS;
    if (most < 1)
        most = 1;
    return wanted < 1 ? 1
           : wanted > (double) most
               ? most
               : (size_t) wanted + (wanted < (double) most);
}

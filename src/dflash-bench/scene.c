#include <config.h>

#include <stdlib.h>

#include "dflash-bench/load.h"
#include "dflash-bench/scene.h"

static uint64_t
in_use(const struct df_device *dev)
{
    struct df_device_stats stats;

    df_device_get_stats(dev, &stats);
    return stats.device_bytes;
}

df_status
scene_open(struct scene *s, struct df_device *dev)
{
    s->dev = dev;
    s->bytes_before = in_use(dev);
    DF_TRY(df_stream_new(&s->stream, dev, "measured"));
    DF_TRY(df_event_new_timed(&s->begin, dev));
    return df_event_new_timed(&s->end, dev);
}

void
scene_close(struct scene *s)
{
    df_stream_free(s->stream);
    df_event_free(s->begin);
    df_event_free(s->end);
    for (size_t i = 0; i < s->n; i++)
        df_device_free(s->dev, DF_MEM_DEVICE, s->memory[i]);
    *s = (struct scene){0};
}

df_status
scene_alloc(struct scene *s, size_t bytes, void **out)
{
    if (s->n == SCENE_MAX)
        return DF_FAIL(DF_INVALID, "more than %d buffers", SCENE_MAX);
    DF_TRY(df_device_alloc(s->dev, DF_MEM_DEVICE, bytes, &s->memory[s->n]));
    *out = s->memory[s->n++];
    return DF_OK;
}

df_status
scene_random(struct scene *s, size_t n, void **out)
{
    enum df_dtype act = df_device_act(s->dev);

    DF_TRY(scene_alloc(s, n * df_dtype_size(act), out));
    return fill_random(s->dev, *out, act, n);
}

df_status
scene_mirror(struct scene *s, const struct df_batch *batch,
             struct df_batch_arrays *out)
{
    void *memory;

    DF_TRY(scene_alloc(s, batch->bytes, &memory));
    df_batch_layout(&batch->limits, memory, out);
    DF_TRY(df_copy(s->stream, memory, batch->memory, batch->bytes));
    return df_stream_sync(s->stream);
}

df_status
scene_fetch(struct scene *s, const void *from, size_t bytes, void **out)
{
    void *memory = malloc(bytes);
    df_status status =
        memory ? DF_OK : DF_FAIL(DF_NO_MEMORY, "%zu bytes", bytes);

    if (status == DF_OK)
        status = df_copy(s->stream, memory, from, bytes);
    if (status == DF_OK)
        status = df_stream_sync(s->stream);
    if (status != DF_OK) {
        free(memory);
        return status;
    }
    *out = memory;
    return DF_OK;
}

df_status
scene_time(struct scene *s, queue_fn *queue, void *arg, size_t calls,
           double *seconds)
{
    DF_TRY(df_event_record(s->begin, s->stream));
    for (size_t i = 0; i < calls; i++)
        DF_TRY(queue(arg, s->stream));
    DF_TRY(df_event_record(s->end, s->stream));
    DF_TRY(df_stream_sync(s->stream));
    return df_event_seconds(s->begin, s->end, seconds);
}

df_status
scene_count(struct scene *s, queue_fn *queue, void *arg, double *flops)
{
    struct df_device_stats before, after;

    df_device_get_stats(s->dev, &before);
    DF_TRY(queue(arg, s->stream));
    df_device_get_stats(s->dev, &after);
    *flops = after.flops - before.flops;
    return df_stream_sync(s->stream);
}

double
scene_gibibytes(const struct scene *s)
{
    return ((double) in_use(s->dev) - (double) s->bytes_before) / 0x1p30;
}

#include <config.h>

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cuda_internal.h"
#include "base/device_internal.h"
#include "base/fault_internal.h"

enum {
    MAX_INDEX = 63
};

/* The number that TEXT is, without sign, space or leading zero; -1 if it
   isn't one in [0, MAX_INDEX].  */
static int
parse_index(const char *text)
{
    int n = 0;

    if (!*text || (text[0] == '0' && text[1]))
        return -1;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return -1;
        n = n * 10 + (*text - '0');
        if (n > MAX_INDEX)
            return -1;
    }
    return n;
}

static df_status
open_cuda(struct df_device **out, int index)
{
#ifdef HAVE_CUDA
    return df_cuda_open(out, index);
#else
    (void) out;
    return DF_FAIL(DF_UNSUPPORTED,
                   "device cuda:%d: this build has no CUDA devices", index);
#endif
}

int
df_cuda_devices(const char **why)
{
    int n = 0;

#ifdef HAVE_CUDA
    df_cuda_device_count(&n, why);
#else
    *why = "built without CUDA";
#endif
    return n;
}

df_status
df_device_open(struct df_device **out, const char *name)
{
    int index = -1;

    assert(out && name);
    *out = NULL;
    if (strcmp(name, "cpu") == 0)
        index = 0;
    else if (strncmp(name, "cpu:", 4) == 0)
        index = parse_index(name + 4);
    else if (strncmp(name, "cuda:", 5) == 0)
        index = parse_index(name + 5);
    if (index < 0)
        return DF_FAIL(DF_INVALID,
                       "device '%.64s' is not cpu, cpu:N or cuda:N with N "
                       "from 0 to %d",
                       name, MAX_INDEX);
    DF_TRY(name[1] == 'p' ? df_cpu_open(out, index) : open_cuda(out, index));
    snprintf((*out)->name, sizeof(*out)->name, "%s", name);
    return DF_OK;
}

void
df_device_close(struct df_device *dev)
{
    if (dev)
        dev->vt->close(dev);
}

const char *
df_device_name(const struct df_device *dev)
{
    return dev->name;
}

bool
df_device_is_cpu(const struct df_device *dev)
{
    return strcmp(dev->vt->kind, "cpu") == 0;
}

enum df_dtype
df_device_act(const struct df_device *dev)
{
    return dev->vt->act;
}

df_status
df_device_describe(struct df_device *dev, struct df_device_info *out)
{
    assert(dev && out);
    *out = (struct df_device_info){0};
    return dev->vt->describe(dev, out);
}

bool
df_device_reaches(const struct df_device *dev, const struct df_device *other)
{
    return dev == other
           || (dev->vt == other->vt && dev->vt->reaches(dev, other));
}

static void
raise_peak(_Atomic uint64_t *peak, uint64_t now)
{
    uint64_t old = atomic_load(peak);

    while (old < now && !atomic_compare_exchange_weak(peak, &old, now))
        ;
}

void
df_device_count(struct df_device *dev, enum df_memory kind, int64_t bytes)
{
    bool host = kind == DF_MEM_HOST;
    _Atomic uint64_t *live = host ? &dev->host_bytes : &dev->device_bytes;
    uint64_t delta = (uint64_t) bytes;
    uint64_t now = atomic_fetch_add(live, delta) + delta;

    if (bytes < 0)
        return;
    atomic_fetch_add(&dev->allocations, 1);
    raise_peak(host ? &dev->host_peak : &dev->device_peak, now);
}

void
df_device_get_stats(const struct df_device *dev, struct df_device_stats *out)
{
    out->allocations = atomic_load(&dev->allocations);
    if (dev->vt->scratch_growth)
        out->allocations += dev->vt->scratch_growth(dev);
    out->device_bytes = atomic_load(&dev->device_bytes);
    out->device_peak_bytes = atomic_load(&dev->device_peak);
    out->host_bytes = atomic_load(&dev->host_bytes);
    out->host_peak_bytes = atomic_load(&dev->host_peak);
    out->flops = (double) atomic_load(&dev->flops);
}

/* All ones: NaN in floats, out of range in indices.  */
static df_status
poison(struct df_device *dev, enum df_memory kind, size_t bytes, void *data)
{
    struct df_stream *s;
    df_status status;

    if (kind == DF_MEM_HOST) {
        memset(data, 0xff, bytes);
        return DF_OK;
    }
    DF_TRY(df_stream_new(&s, dev, "poison"));
    status = df_fill(s, data, 0xff, bytes);
    if (status == DF_OK)
        status = df_stream_sync(s);
    df_stream_free(s);
    return status;
}

df_status
df_device_alloc(struct df_device *dev, enum df_memory kind, size_t bytes,
                void **out)
{
    df_status status;

    assert(dev && out);
    *out = NULL;
    DF_TRY(dev->vt->alloc(dev, kind, bytes, out));
    if (!df_fault_poison())
        return DF_OK;
    status = poison(dev, kind, bytes, *out);
    if (status != DF_OK) {
        df_device_free(dev, kind, *out);
        *out = NULL;
    }
    return status;
}

void
df_device_free(struct df_device *dev, enum df_memory kind, void *ptr)
{
    if (ptr)
        dev->vt->free(dev, kind, ptr);
}

df_status
df_stream_new(struct df_stream **out, struct df_device *dev, const char *name)
{
    assert(out && dev && name);
    *out = NULL;
    DF_TRY(dev->vt->stream_new(out, dev, name));
    (*out)->dev = dev;
    snprintf((*out)->name, sizeof(*out)->name, "%s", name);
    return DF_OK;
}

void
df_stream_free(struct df_stream *stream)
{
    if (stream)
        stream->dev->vt->stream_free(stream);
}

struct df_device *
df_stream_device(const struct df_stream *stream)
{
    return stream->dev;
}

df_status
df_stream_sync(struct df_stream *stream)
{
    assert(stream);
    return stream->dev->vt->stream_sync(stream);
}

static df_status
new_event(struct df_event **out, struct df_device *dev, bool timed)
{
    assert(out && dev);
    *out = NULL;
    DF_TRY(dev->vt->event_new(out, dev, timed));
    (*out)->dev = dev;
    (*out)->timed = timed;
    return DF_OK;
}

df_status
df_event_new(struct df_event **out, struct df_device *dev)
{
    return new_event(out, dev, false);
}

df_status
df_event_new_timed(struct df_event **out, struct df_device *dev)
{
    return new_event(out, dev, true);
}

df_status
df_event_seconds(struct df_event *from, struct df_event *to, double *seconds)
{
    assert(from && to && from->dev == to->dev && from->timed && to->timed);
    DF_TRY(df_event_wait(from));
    DF_TRY(df_event_wait(to));
    return from->dev->vt->event_seconds(from, to, seconds);
}

void
df_event_free(struct df_event *event)
{
    if (event)
        event->dev->vt->event_free(event);
}

df_status
df_event_record(struct df_event *event, struct df_stream *stream)
{
    assert(event && stream && event->dev == stream->dev);
    return event->dev->vt->event_record(event, stream);
}

/* A stream waits for an event of its own kind of device by itself.  Across
   kinds there is nothing that both runtimes know, so the host waits.  */
df_status
df_stream_wait(struct df_stream *stream, struct df_event *event)
{
    assert(stream && event);
    if (event->dev->vt != stream->dev->vt)
        return df_event_wait(event);
    return stream->dev->vt->stream_wait(stream, event);
}

df_status
df_event_wait(struct df_event *event)
{
    assert(event);
    return event->dev->vt->event_wait(event);
}

bool
df_event_reached(struct df_event *event)
{
    assert(event);
    return event->dev->vt->event_reached(event);
}

df_status
df_gate_new(struct df_gate **out, struct df_device *dev)
{
    assert(out && dev);
    *out = NULL;
    DF_TRY(dev->vt->gate_new(out, dev));
    (*out)->dev = dev;
    return DF_OK;
}

void
df_gate_free(struct df_gate *gate)
{
    if (gate)
        gate->dev->vt->gate_free(gate);
}

df_status
df_gate_hold(struct df_gate *gate, struct df_stream *stream)
{
    assert(gate && stream && gate->dev == stream->dev);
    return gate->dev->vt->gate_hold(gate, stream);
}

void
df_gate_open(struct df_gate *gate)
{
    assert(gate);
    gate->dev->vt->gate_open(gate);
}

df_status
df_copy(struct df_stream *stream, void *dst, const void *src, size_t bytes)
{
    assert(stream);
    if (bytes == 0)
        return DF_OK;
    assert(dst && src);
    return stream->dev->vt->copy(stream, dst, src, bytes);
}

df_status
df_fill(struct df_stream *stream, void *dst, int value, size_t bytes)
{
    assert(stream && value >= 0 && value <= 255);
    if (bytes == 0)
        return DF_OK;
    assert(dst);
    return stream->dev->vt->fill(stream, dst, value, bytes);
}

void
df_range_begin(struct df_device *dev, const char *name, uint64_t number)
{
    if (dev && dev->vt->range_begin)
        dev->vt->range_begin(name, number);
}

void
df_range_end(struct df_device *dev)
{
    if (dev && dev->vt->range_end)
        dev->vt->range_end();
}

df_status
df_settle(struct df_stream *stream)
{
    assert(stream);
    return stream->dev->vt->settle ? stream->dev->vt->settle(stream) : DF_OK;
}

df_status
df_stall(struct df_stream *stream, double seconds)
{
    assert(stream && isfinite(seconds) && seconds >= 0);
    return stream->dev->vt->stall(stream, seconds);
}

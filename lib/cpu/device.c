#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu/blas_internal.h"
#include "cpu/cpu_internal.h"
#include "cpu/stream_internal.h"

enum {
    ALIGN = 256 /* of allocations; also the room of their header */
};

struct cpu_device {
    struct df_device base;
    uint64_t scratch_before; /* growths when it was opened */
};

/* Precedes every allocation: the size, for the count when it's freed.  */
struct header {
    size_t bytes;
};

static void
cpu_close(struct df_device *dev)
{
    df_pool_release();
    free(dev);
}

/* All CPU devices share the memory.  */
static bool
cpu_reaches(const struct df_device *dev, const struct df_device *other)
{
    (void) dev;
    (void) other;
    return true;
}

static df_status
cpu_alloc(struct df_device *dev, enum df_memory kind, size_t bytes, void **out)
{
    void *data = NULL;

    /* Not aligned_alloc, which wants whole multiples: with the exact size,
       tools that watch memory see the first byte beyond.  */
    if (bytes > PTRDIFF_MAX - ALIGN
        || posix_memalign(&data, ALIGN, ALIGN + bytes))
        return DF_FAIL(DF_NO_MEMORY, "%s: no %zu bytes of memory", dev->name,
                       bytes);
    ((struct header *) data)->bytes = bytes;
    *out = (char *) data + ALIGN;
#ifdef DF_POISON
    memset(*out, 0xff, bytes); /* NaN as float and as bf16 */
#endif
    df_device_count(dev, kind, (int64_t) bytes);
    return DF_OK;
}

static void
cpu_free(struct df_device *dev, enum df_memory kind, void *ptr)
{
    struct header *h = (struct header *) ((char *) ptr - ALIGN);

    if (h->bytes > 0)
        df_device_count(dev, kind, -(int64_t) h->bytes);
    free(h);
}

static uint64_t
cpu_scratch_growth(const struct df_device *dev)
{
    return df_scratch_allocations()
           - ((const struct cpu_device *) dev)->scratch_before;
}

struct copy_args {
    void *dst;
    const void *src;
    size_t bytes;
};

static df_status
run_copy(const void *args)
{
    const struct copy_args *a = args;

    memcpy(a->dst, a->src, a->bytes);
    return DF_OK;
}

static df_status
cpu_copy(struct df_stream *stream, void *dst, const void *src, size_t bytes)
{
    struct copy_args args = {dst, src, bytes};

    return df_cpu_queue(stream, run_copy, &args, sizeof args);
}

struct fill_args {
    void *dst;
    int value;
    size_t bytes;
};

static df_status
run_fill(const void *args)
{
    const struct fill_args *a = args;

    memset(a->dst, a->value, a->bytes);
    return DF_OK;
}

static df_status
cpu_fill(struct df_stream *stream, void *dst, int value, size_t bytes)
{
    struct fill_args args = {dst, value, bytes};

    return df_cpu_queue(stream, run_fill, &args, sizeof args);
}

static df_status
run_stall(const void *args)
{
    double seconds = *(const double *) args;
    struct timespec left = {.tv_sec = (time_t) seconds};

    left.tv_nsec = (long) ((seconds - (double) left.tv_sec) * 1e9);
    while (nanosleep(&left, &left) && errno == EINTR)
        ;
    return DF_OK;
}

static df_status
run_settle(const void *unused)
{
    (void) unused;
    df_pool_settle();
    return DF_OK;
}

static df_status
cpu_settle(struct df_stream *stream)
{
    char nothing = 0;

    return df_cpu_queue(stream, run_settle, &nothing, sizeof nothing);
}

static df_status
cpu_stall(struct df_stream *stream, double seconds)
{
    return df_cpu_queue(stream, run_stall, &seconds, sizeof seconds);
}

#define X(op, flow)                                                        \
    static df_status run_##op(const void *args) { return cpu_##op(args); } \
    static df_status queue_##op(struct df_stream *stream,                  \
                                const struct df_##op##_args *args)         \
    {                                                                      \
        return df_cpu_queue(stream, run_##op, args, sizeof *args);         \
    }
DF_OPS(X)
#undef X

static const struct df_device_vtable vtable = {
    .kind = "cpu",
    .act = DF_F32,
    .close = cpu_close,
    .describe = df_cpu_describe,
    .reaches = cpu_reaches,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .scratch_growth = cpu_scratch_growth,
    .stream_new = df_cpu_stream_new,
    .stream_free = df_cpu_stream_free,
    .stream_sync = df_cpu_stream_sync,
    .event_new = df_cpu_event_new,
    .event_free = df_cpu_event_free,
    .event_record = df_cpu_event_record,
    .stream_wait = df_cpu_stream_wait,
    .event_wait = df_cpu_event_wait,
    .event_reached = df_cpu_event_reached,
    .event_seconds = df_cpu_event_seconds,
    .gate_new = df_cpu_gate_new,
    .gate_free = df_cpu_gate_free,
    .gate_hold = df_cpu_gate_hold,
    .gate_open = df_cpu_gate_open,
    .copy = cpu_copy,
    .fill = cpu_fill,
    .stall = cpu_stall,
    .settle = cpu_settle,
#define X(op, flow) .op = queue_##op,
    DF_OPS(X)
#undef X
};

df_status
df_cpu_open(struct df_device **out, int index)
{
    struct cpu_device *dev = calloc(1, sizeof *dev);
    df_status status;

    if (!dev)
        return DF_FAIL(DF_NO_MEMORY, "device cpu:%d", index);
    /* The pool splits the work; threads of the library's own would compete
       with it, and their number would change the bits.  */
    openblas_set_num_threads(1);
    status = df_pool_acquire();
    if (status != DF_OK) {
        free(dev);
        return status;
    }
    dev->base.vt = &vtable;
    dev->scratch_before = df_scratch_allocations();
    *out = &dev->base;
    return DF_OK;
}

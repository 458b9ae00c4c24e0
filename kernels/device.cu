/* device.cu - the CUDA device: opening, memory, its table.  */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cuda_internal.h"
#include "cuda_internal.cuh"

df_status
df_cuda_fail(const char *func, int line, cudaError_t err, const char *what)
{
    (void) cudaGetLastError();
    return df_fail_at(func, line,
                      err == cudaErrorMemoryAllocation ? DF_NO_MEMORY
                                                       : DF_DEVICE,
                      0, "%.300s: %s", what, cudaGetErrorString(err));
}

static void
cuda_close(struct df_device *dev)
{
    struct cuda_device *d = (struct cuda_device *) dev;

    if (cudaSetDevice(d->index) == cudaSuccess)
        df_blaslt_close(d->blaslt);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

static df_status
no_memory(const struct df_device *dev, enum df_memory kind, size_t bytes)
{
    size_t free_bytes = 0, total = 0;

    (void) cudaGetLastError();
    if (kind == DF_MEM_HOST)
        return DF_FAIL(DF_NO_MEMORY, "%s: no %zu bytes of pinned host memory",
                       dev->name, bytes);
    if (cudaMemGetInfo(&free_bytes, &total) != cudaSuccess)
        (void) cudaGetLastError();
    return DF_FAIL(DF_NO_MEMORY,
                   "%s: no %zu bytes of memory: %zu of %zu are free",
                   dev->name, bytes, free_bytes, total);
}

df_status
df_cuda_alloc(struct df_device *dev, enum df_memory kind, size_t bytes,
              void **out)
{
    struct cuda_device *d = (struct cuda_device *) dev;
    struct cuda_block *b = (struct cuda_block *) malloc(sizeof *b);
    size_t size = bytes ? bytes : 1;
    cudaError_t err;

    if (!b)
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory", dev->name);
    err = cudaSetDevice(d->index);
    if (err == cudaSuccess)
        err = kind == DF_MEM_HOST
                  ? cudaHostAlloc(&b->data, size, cudaHostAllocPortable)
                  : cudaMalloc(&b->data, size);
    if (err != cudaSuccess) {
        free(b);
        if (err == cudaErrorMemoryAllocation)
            return no_memory(dev, kind, bytes);
        DF_CUDA(err);
    }
    b->bytes = bytes;
    *out = b->data;
    pthread_mutex_lock(&d->lock);
    b->next = d->blocks;
    d->blocks = b;
    pthread_mutex_unlock(&d->lock);
    df_device_count(dev, kind, (int64_t) bytes);
    return DF_OK;
}

/* What the list has at PTR, taken out of it.  */
static struct cuda_block *
take_block(struct cuda_device *d, const void *ptr)
{
    struct cuda_block **at = &d->blocks, *b;

    pthread_mutex_lock(&d->lock);
    while (*at && (*at)->data != ptr)
        at = &(*at)->next;
    b = *at;
    if (b)
        *at = b->next;
    pthread_mutex_unlock(&d->lock);
    return b;
}

/* There is nobody to tell a failure to: it is that of earlier work, which
   its stream reports.  */
void
df_cuda_free(struct df_device *dev, enum df_memory kind, void *ptr)
{
    struct cuda_device *d = (struct cuda_device *) dev;
    struct cuda_block *b = take_block(d, ptr);

    if (!b)
        return;
    (void) cudaSetDevice(d->index);
    (void) (kind == DF_MEM_HOST ? cudaFreeHost(ptr) : cudaFree(ptr));
    (void) cudaGetLastError();
    df_device_count(dev, kind, -(int64_t) b->bytes);
    free(b);
}

#define X(op, flow)                                                \
    static df_status queue_##op(struct df_stream *stream,          \
                                const struct df_##op##_args *args) \
    {                                                              \
        struct cuda_stream *s = (struct cuda_stream *) stream;     \
        df_status status;                                          \
        DF_CUDA(cudaSetDevice(cuda_device_of(s)->index));          \
        pthread_mutex_lock(&s->lock);                              \
        status = cuda_##op(s, args);                               \
        pthread_mutex_unlock(&s->lock);                            \
        return status;                                             \
    }
DF_OPS(X)
#undef X

static const struct df_device_vtable vtable = {
    .kind = "cuda",
    .act = DF_BF16,
    .close = cuda_close,
    .describe = df_cuda_describe,
    .reaches = df_cuda_reaches,
    .alloc = df_cuda_alloc,
    .free = df_cuda_free,
    .scratch_growth = NULL,
    .stream_new = df_cuda_stream_new,
    .stream_free = df_cuda_stream_free,
    .stream_sync = df_cuda_stream_sync,
    .event_new = df_cuda_event_new,
    .event_free = df_cuda_event_free,
    .event_record = df_cuda_event_record,
    .stream_wait = df_cuda_stream_wait,
    .event_wait = df_cuda_event_wait,
    .event_reached = df_cuda_event_reached,
    .event_seconds = df_cuda_event_seconds,
    .gate_new = df_cuda_gate_new,
    .gate_free = df_cuda_gate_free,
    .gate_hold = df_cuda_gate_hold,
    .gate_open = df_cuda_gate_open,
    .copy = df_cuda_copy,
    .fill = df_cuda_memset,
    .graph_begin = df_cuda_graph_begin,
    .graph_end = df_cuda_graph_end,
    .graph_free = df_cuda_graph_free,
    .graph_launch = df_cuda_graph_launch,
    .range_begin = df_cuda_range_begin,
    .range_end = df_cuda_range_end,
    .stall = df_cuda_stall,
    .settle = NULL,
#define X(op, flow) .op = queue_##op,
    DF_OPS(X)
#undef X
};

/* How many devices there are, at least INDEX + 1, and that number INDEX is
   recent enough.  */
static df_status
check_device(int index, int *count)
{
    struct cudaDeviceProp p;
    const char *why;

    df_cuda_device_count(count, &why);
    if (why)
        return DF_FAIL(DF_DEVICE, "device cuda:%d: %s", index, why);
    if (index >= *count)
        return DF_FAIL(DF_DEVICE, "device cuda:%d: there %s %d GPU%s", index,
                       *count == 1 ? "is" : "are", *count,
                       *count == 1 ? "" : "s");
    DF_CUDA(cudaGetDeviceProperties(&p, index));
    if (p.major < 8)
        return DF_FAIL(DF_UNSUPPORTED,
                       "device cuda:%d: %s has compute capability %d.%d, 8.0 "
                       "is the least",
                       index, p.name, p.major, p.minor);
    DF_CUDA(cudaSetDevice(index));
    DF_CUDA(cudaFree(NULL)); /* makes the context, which may fail */
    return DF_OK;
}

df_status
df_cuda_open(struct df_device **out, int index)
{
    struct df_blaslt *blaslt;
    struct cuda_device *d;
    char name[sizeof d->base.name];
    int count;

    DF_TRY(check_device(index, &count));
    snprintf(name, sizeof name, "cuda:%d", index);
    DF_TRY(df_blaslt_open(&blaslt, name));
    d = (struct cuda_device *) calloc(1, sizeof *d);
    if (!d) {
        df_blaslt_close(blaslt);
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory", name);
    }
    d->base.vt = &vtable;
    memcpy(d->base.name, name, sizeof name);
    d->index = index;
    d->count = count;
    d->blaslt = blaslt;
    pthread_mutex_init(&d->lock, NULL);
    *out = &d->base;
    return DF_OK;
}

/* stream.cu - streams, events, copies, and the scratch of a stream.

   CUDA's own streams and events keep the rules of device.h: an event that
   never was recorded counts as reached, waiting takes it as recorded by now,
   and errors of the device stick.  */

#include <stdlib.h>

#include "cuda_internal.cuh"

static cudaError_t
set_device(const struct df_device *dev)
{
    return cudaSetDevice(((const struct cuda_device *) dev)->index);
}

df_status
df_cuda_stream_new(struct df_stream **out, struct df_device *dev,
                   const char *name)
{
    struct cuda_stream *s;
    cudaStream_t cu;

    DF_CUDA(set_device(dev));
    DF_CUDA(cudaStreamCreateWithFlags(&cu, cudaStreamNonBlocking));
    s = (struct cuda_stream *) calloc(1, sizeof *s);
    if (!s) {
        (void) cudaStreamDestroy(cu);
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory for a stream", dev->name);
    }
    s->cu = cu;
    df_cuda_name_stream(cu, name);
    pthread_mutex_init(&s->lock, NULL);
    *out = &s->base;
    return DF_OK;
}

void
df_cuda_stream_free(struct df_stream *stream)
{
    struct cuda_stream *s = (struct cuda_stream *) stream;
    struct cuda_device *d = cuda_device_of(s);

    (void) set_device(&d->base);
    (void) cudaStreamSynchronize(s->cu);
    free(s->matmuls.plans);
    df_device_free(&d->base, DF_MEM_DEVICE, s->matmuls.workspace);
    df_device_free(&d->base, DF_MEM_DEVICE, s->scratch);
    (void) cudaStreamDestroy(s->cu);
    (void) cudaGetLastError();
    pthread_mutex_destroy(&s->lock);
    free(s);
}

df_status
df_cuda_stream_sync(struct df_stream *stream)
{
    DF_CUDA(set_device(stream->dev));
    DF_CUDA(cudaStreamSynchronize(((struct cuda_stream *) stream)->cu));
    return DF_OK;
}

df_status
df_cuda_event_new(struct df_event **out, struct df_device *dev, bool timed)
{
    unsigned flags = timed ? cudaEventDefault : cudaEventDisableTiming;
    struct cuda_event *e;
    cudaEvent_t cu;

    DF_CUDA(set_device(dev));
    DF_CUDA(cudaEventCreateWithFlags(&cu, flags));
    e = (struct cuda_event *) calloc(1, sizeof *e);
    if (!e) {
        (void) cudaEventDestroy(cu);
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory for an event", dev->name);
    }
    e->cu = cu;
    *out = &e->base;
    return DF_OK;
}

void
df_cuda_event_free(struct df_event *event)
{
    (void) set_device(event->dev);
    (void) cudaEventDestroy(((struct cuda_event *) event)->cu);
    (void) cudaGetLastError();
    free(event);
}

df_status
df_cuda_event_record(struct df_event *event, struct df_stream *stream)
{
    DF_CUDA(set_device(stream->dev));
    DF_CUDA(cudaEventRecord(((struct cuda_event *) event)->cu,
                            ((struct cuda_stream *) stream)->cu));
    return DF_OK;
}

df_status
df_cuda_stream_wait(struct df_stream *stream, struct df_event *event)
{
    DF_CUDA(set_device(stream->dev));
    DF_CUDA(cudaStreamWaitEvent(((struct cuda_stream *) stream)->cu,
                                ((struct cuda_event *) event)->cu, 0));
    return DF_OK;
}

df_status
df_cuda_event_wait(struct df_event *event)
{
    DF_CUDA(set_device(event->dev));
    DF_CUDA(cudaEventSynchronize(((struct cuda_event *) event)->cu));
    return DF_OK;
}

/* An event behind a failure counts as reached: waiting for it tells.  */
bool
df_cuda_event_reached(struct df_event *event)
{
    cudaError_t err = set_device(event->dev);

    if (err == cudaSuccess)
        err = cudaEventQuery(((struct cuda_event *) event)->cu);
    if (err != cudaSuccess)
        (void) cudaGetLastError();
    return err != cudaErrorNotReady;
}

df_status
df_cuda_event_seconds(struct df_event *from, struct df_event *to,
                      double *seconds)
{
    float ms;

    DF_CUDA(set_device(from->dev));
    DF_CUDA(cudaEventElapsedTime(&ms, ((struct cuda_event *) from)->cu,
                                 ((struct cuda_event *) to)->cu));
    *seconds = (double) ms * 1e-3;
    return DF_OK;
}

/* Let device FROM reach the memory of device TO.  */
static df_status
enable_peer(int from, int to)
{
    cudaError_t err;

    DF_CUDA(cudaSetDevice(from));
    err = cudaDeviceEnablePeerAccess(to, 0);
    if (err == cudaErrorPeerAccessAlreadyEnabled)
        (void) cudaGetLastError();
    else
        DF_CUDA(err);
    return DF_OK;
}

/* If PTR is memory of another device, let copies between that and D go
   without the host, where the machine can.  Without that the runtime goes
   through host memory, so nothing depends on it but time.  */
static df_status
meet_peer(struct cuda_device *d, const void *ptr)
{
    struct cudaPointerAttributes p;
    int there = 0, back = 0;

    DF_CUDA(cudaPointerGetAttributes(&p, ptr));
    if (p.type != cudaMemoryTypeDevice || p.device == d->index)
        return DF_OK;
    pthread_mutex_lock(&d->lock);
    bool met = d->peers >> p.device & 1;

    d->peers |= (uint64_t) 1 << p.device;
    pthread_mutex_unlock(&d->lock);
    if (met)
        return DF_OK;
    DF_CUDA(cudaDeviceCanAccessPeer(&there, d->index, p.device));
    DF_CUDA(cudaDeviceCanAccessPeer(&back, p.device, d->index));
    if (back)
        DF_TRY(enable_peer(p.device, d->index));
    if (there)
        DF_TRY(enable_peer(d->index, p.device));
    DF_CUDA(cudaSetDevice(d->index));
    return DF_OK;
}

df_status
df_cuda_copy(struct df_stream *stream, void *dst, const void *src,
             size_t bytes)
{
    struct cuda_stream *s = (struct cuda_stream *) stream;
    struct cuda_device *d = cuda_device_of(s);

    DF_CUDA(set_device(stream->dev));
    if (d->count > 1) {
        DF_TRY(meet_peer(d, dst));
        DF_TRY(meet_peer(d, src));
    }
    DF_CUDA(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, s->cu));
    return DF_OK;
}

df_status
df_cuda_memset(struct df_stream *stream, void *dst, int value, size_t bytes)
{
    struct cuda_stream *s = (struct cuda_stream *) stream;

    DF_CUDA(set_device(stream->dev));
    DF_CUDA(cudaMemsetAsync(dst, value, bytes, s->cu));
    return DF_OK;
}

/* The timer ticks in steps of up to a millisecond, so a stall may be longer
   than asked by one.  */
static __global__ void
stall(uint64_t nanoseconds)
{
    uint64_t start, now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do {
        __nanosleep(1000);
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - start < nanoseconds);
}

df_status
df_cuda_stall(struct df_stream *stream, double seconds)
{
    DF_CUDA(set_device(stream->dev));
    stall<<<1, 1, 0, ((struct cuda_stream *) stream)->cu>>>(
        (uint64_t) (seconds * 1e9));
    DF_LAUNCHED(stall);
    return DF_OK;
}

df_status
df_cuda_scratch(struct cuda_stream *s, size_t bytes, void **out)
{
    struct df_device *dev = s->base.dev;

    if (bytes > s->scratch_bytes) {
        DF_CUDA(cudaStreamSynchronize(s->cu));
        df_device_free(dev, DF_MEM_DEVICE, s->scratch);
        s->scratch = NULL;
        s->scratch_bytes = 0;
        DF_TRY(df_cuda_alloc(dev, DF_MEM_DEVICE, bytes, &s->scratch));
        s->scratch_bytes = bytes;
    }
    *out = s->scratch;
    return DF_OK;
}

df_status
df_cuda_shared(const void *kernel, size_t bytes, const char *name)
{
    cudaError_t err;

    if (bytes <= 40 * 1024)
        return DF_OK;
    err = cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) bytes);
    if (err == cudaErrorInvalidValue) {
        (void) cudaGetLastError();
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: %zu bytes of shared memory are too much for this "
                       "device",
                       name, bytes);
    }
    DF_CUDA(err);
    return DF_OK;
}

bool
df_cuda_has(const void *kernel)
{
    struct cudaFuncAttributes attributes;

    if (cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess)
        return attributes.sharedSizeBytes > 0;
    (void) cudaGetLastError(); /* the launch will say it */
    return false;
}

df_status
df_cuda_blocks(const char *op, size_t rows, size_t chunks, size_t *grid)
{
    *grid = rows * chunks;
    if (*grid <= INT32_MAX)
        return DF_OK;
    return DF_FAIL(DF_SHAPE, "%s: %zu rows in %zu chunks are too many", op,
                   rows, chunks);
}

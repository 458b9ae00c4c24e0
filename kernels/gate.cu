/* gate.cu - streams that wait for the host.

   A kernel of one thread looks at a counter in pinned memory until the host
   has raised it.  It stops by itself after a while: a host that queues more
   than a stream takes would otherwise wait for it, and it for the host.  */

#include <stdlib.h>

#include "cuda_internal.cuh"

static const uint64_t patience = 10 * (uint64_t) 1000000000; /* ns */

struct cuda_gate {
    struct df_gate base;
    volatile uint64_t *opened; /* how often; pinned */
};

df_status
df_cuda_gate_new(struct df_gate **out, struct df_device *dev)
{
    struct cuda_gate *g = (struct cuda_gate *) calloc(1, sizeof *g);
    void *memory;
    df_status status;

    if (!g)
        return DF_FAIL(DF_NO_MEMORY, "gate of %s", dev->name);
    status = df_cuda_alloc(dev, DF_MEM_HOST, sizeof *g->opened, &memory);
    if (status != DF_OK) {
        free(g);
        return status;
    }
    g->opened = (volatile uint64_t *) memory;
    *g->opened = 0;
    *out = &g->base;
    return DF_OK;
}

void
df_cuda_gate_free(struct df_gate *gate)
{
    struct cuda_gate *g = (struct cuda_gate *) gate;

    df_cuda_free(gate->dev, DF_MEM_HOST, (void *) g->opened);
    free(g);
}

static __global__ void
hold(const volatile uint64_t *opened, uint64_t ticket, uint64_t nanoseconds)
{
    uint64_t start, now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (*opened < ticket && now - start < nanoseconds);
}

df_status
df_cuda_gate_hold(struct df_gate *gate, struct df_stream *stream)
{
    struct cuda_gate *g = (struct cuda_gate *) gate;
    struct cuda_stream *s = (struct cuda_stream *) stream;

    DF_CUDA(cudaSetDevice(cuda_device_of(s)->index));
    hold<<<1, 1, 0, s->cu>>>(g->opened, *g->opened + 1, patience);
    DF_LAUNCHED(hold);
    return DF_OK;
}

void
df_cuda_gate_open(struct df_gate *gate)
{
    struct cuda_gate *g = (struct cuda_gate *) gate;

    *g->opened = *g->opened + 1;
}

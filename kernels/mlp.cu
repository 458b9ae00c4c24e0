/* mlp.cu - the gated activation.

   swiglu      h[T,I] <- gu[T,2I]
   swiglu_bwd  dgu[T,2I] <- dh[T,I], gu[T,2I]

   A block does CHUNK columns of a row; bound by memory.  */

#include "cuda_internal.cuh"
#include "math.cuh"

enum {
    THREADS = 128
};

static __device__ __forceinline__ float
sigmoid(float g)
{
    return df_reciprocal(1 + df_exp2(-DF_LOG2E * g));
}

template <int V>
static __global__ void
__launch_bounds__(THREADS)
    gate(uint16_t *h, const uint16_t *gu, size_t I, unsigned chunks)
{
    size_t t = blockIdx.x / chunks;
    size_t i = (blockIdx.x % chunks * THREADS + threadIdx.x) * (size_t) V;
    float g[V], u[V];

    if (i >= I)
        return;
    df_load<V>(g, gu + t * 2 * I + i);
    df_load<V>(u, gu + t * 2 * I + I + i);
#pragma unroll
    for (int j = 0; j < V; j++)
        g[j] = g[j] * sigmoid(g[j]) * u[j];
    df_store<V>(h + t * I + i, g);
}

/* With s = 1 / (1 + e^-g): du = dh g s, dg = dh u s (1 + g (1 - s)).  */
template <int V>
static __global__ void
__launch_bounds__(THREADS)
    gate_bwd(uint16_t *dgu, const uint16_t *dh, const uint16_t *gu, size_t I,
             unsigned chunks)
{
    size_t t = blockIdx.x / chunks;
    size_t i = (blockIdx.x % chunks * THREADS + threadIdx.x) * (size_t) V;
    float g[V], u[V], d[V];

    if (i >= I)
        return;
    df_load<V>(g, gu + t * 2 * I + i);
    df_load<V>(u, gu + t * 2 * I + I + i);
    df_load<V>(d, dh + t * I + i);
#pragma unroll
    for (int j = 0; j < V; j++) {
        float s = sigmoid(g[j]), gs = g[j] * s;

        g[j] = d[j] * u[j] * (s + gs * (1 - s));
        u[j] = d[j] * gs;
    }
    df_store<V>(dgu + t * 2 * I + i, g);
    df_store<V>(dgu + t * 2 * I + I + i, u);
}

df_status
cuda_swiglu(struct cuda_stream *s, const struct df_swiglu_args *a)
{
    uint16_t *h = (uint16_t *) a->h;
    const uint16_t *gu = (const uint16_t *) a->gu;
    bool wide = df_aligned(8, h, a->I) && df_aligned(8, gu, a->I);
    size_t chunks = df_ceil(a->I, THREADS * (wide ? 8 : 1)), grid;

    DF_TRY(df_cuda_blocks("swiglu", a->T, chunks, &grid));
    if (wide)
        gate<8><<<(unsigned) grid, THREADS, 0, s->cu>>>(h, gu, a->I,
                                                        (unsigned) chunks);
    else
        gate<1><<<(unsigned) grid, THREADS, 0, s->cu>>>(h, gu, a->I,
                                                        (unsigned) chunks);
    DF_LAUNCHED(swiglu);
    return DF_OK;
}

df_status
cuda_swiglu_bwd(struct cuda_stream *s, const struct df_swiglu_bwd_args *a)
{
    uint16_t *dgu = (uint16_t *) a->dgu;
    const uint16_t *dh = (const uint16_t *) a->dh;
    const uint16_t *gu = (const uint16_t *) a->gu;
    bool wide = df_aligned(8, dgu, a->I) && df_aligned(8, dh, a->I)
                && df_aligned(8, gu, a->I);
    size_t chunks = df_ceil(a->I, THREADS * (wide ? 8 : 1)), grid;

    DF_TRY(df_cuda_blocks("swiglu_bwd", a->T, chunks, &grid));
    if (wide)
        gate_bwd<8><<<(unsigned) grid, THREADS, 0, s->cu>>>(dgu, dh, gu, a->I,
                                                            (unsigned) chunks);
    else
        gate_bwd<1><<<(unsigned) grid, THREADS, 0, s->cu>>>(dgu, dh, gu, a->I,
                                                            (unsigned) chunks);
    DF_LAUNCHED(swiglu_bwd);
    return DF_OK;
}

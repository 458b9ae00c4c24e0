/* norm.cu - RMSNorm of rows.

   rmsnorm      y[T,C], rstd[T] <- x[T,C], w[C]
   rmsnorm_bwd  dx[T,C], dw[C] <- dy[T,C], x[T,C], w[C], rstd[T]

   Forward: a block a row, which it reads twice, the second time from the
   cache.  Backward: PARTS blocks go over the rows in strides; each keeps its
   part of dw in shared memory, where a column belongs to one thread, and a
   second kernel adds the parts up in order: no atomics, the same bits every
   time.  Bound by memory.  */

#include "cuda_internal.cuh"
#include "math.cuh"
#include "parts.cuh"

enum {
    THREADS = 256,
    WARPS = THREADS / WARP,
    PARTS = 264 /* two blocks for each processor of an H200 */
};

template <int V>
static __global__ void
__launch_bounds__(THREADS) norm(uint16_t *y, float *rstd, const uint16_t *x,
                                const uint16_t *w, size_t C, float eps)
{
    __shared__ float parts[WARPS];
    const uint16_t *row = x + blockIdx.x * C;
    float v[V], weight[V], squares = 0;

    for (size_t c = threadIdx.x * V; c < C; c += THREADS * V) {
        df_load<V>(v, row + c);
#pragma unroll
        for (int i = 0; i < V; i++)
            squares += v[i] * v[i];
    }
    squares = df_block_sum(squares, parts);
    float r = 1 / sqrtf(squares / (float) C + eps);

    for (size_t c = threadIdx.x * V; c < C; c += THREADS * V) {
        df_load<V>(v, row + c);
        df_load<V>(weight, w + c);
#pragma unroll
        for (int i = 0; i < V; i++)
            v[i] = v[i] * r * weight[i];
        df_store<V>(y + blockIdx.x * C + c, v);
    }
    if (rstd && threadIdx.x == 0)
        rstd[blockIdx.x] = r;
}

df_status
cuda_rmsnorm(struct cuda_stream *s, const struct df_rmsnorm_args *a)
{
    uint16_t *y = (uint16_t *) a->y;
    const uint16_t *x = (const uint16_t *) a->x;
    const uint16_t *w = (const uint16_t *) a->w;

    if (df_aligned(8, y, a->C) && df_aligned(8, x, a->C)
        && df_aligned(8, w, a->C))
        norm<8><<<(unsigned) a->T, THREADS, 0, s->cu>>>(y, a->rstd, x, w, a->C,
                                                        a->eps);
    else
        norm<1><<<(unsigned) a->T, THREADS, 0, s->cu>>>(y, a->rstd, x, w, a->C,
                                                        a->eps);
    DF_LAUNCHED(rmsnorm);
    return DF_OK;
}

struct norm_bwd {
    uint16_t *dx;
    float *parts; /* [gridDim,C] of dw */
    const uint16_t *dy, *x, *w;
    const float *rstd;
    size_t T, C;
    bool accumulate;
};

/* sum_c dy w x of row T, and its part of DW: column c of it is at
   c % V * (C / V) + c / V, so that the threads of a warp have neighbours.  */
template <int V>
static __device__ float
first_pass(const struct norm_bwd &k, float *dw, size_t t, float r)
{
    float dy[V], x[V], w[V], dot = 0;

    for (size_t c = threadIdx.x * V; c < k.C; c += THREADS * V) {
        df_load<V>(dy, k.dy + t * k.C + c);
        df_load<V>(x, k.x + t * k.C + c);
        df_load<V>(w, k.w + c);
#pragma unroll
        for (int i = 0; i < V; i++) {
            dot += dy[i] * w[i] * x[i];
            dw[i * (k.C / V) + c / V] += dy[i] * (x[i] * r);
        }
    }
    return dot;
}

template <int V>
static __device__ void
second_pass(const struct norm_bwd &k, size_t t, float r, float scale)
{
    float dy[V], x[V], w[V], dx[V];

    for (size_t c = threadIdx.x * V; c < k.C; c += THREADS * V) {
        size_t at = t * k.C + c;

        df_load<V>(dy, k.dy + at);
        df_load<V>(x, k.x + at);
        df_load<V>(w, k.w + c);
        if (k.accumulate)
            df_load<V>(dx, k.dx + at);
#pragma unroll
        for (int i = 0; i < V; i++) {
            float d = r * (dy[i] * w[i] - x[i] * scale);

            dx[i] = k.accumulate ? dx[i] + d : d;
        }
        df_store<V>(k.dx + at, dx);
    }
}

/* A thread reads and writes the same columns in both passes, so DX may be
   DY.  */
template <int V>
static __global__ void
__launch_bounds__(THREADS) norm_rows_bwd(struct norm_bwd k)
{
    extern __shared__ float dw[];
    __shared__ float sums[WARPS];

    for (size_t c = threadIdx.x * V; c < k.C; c += THREADS * V)
#pragma unroll
        for (int i = 0; i < V; i++)
            dw[i * (k.C / V) + c / V] = 0;
    for (size_t t = blockIdx.x; t < k.T; t += gridDim.x) {
        float r = k.rstd[t];
        float dot = df_block_sum(first_pass<V>(k, dw, t, r), sums);

        if (k.dx)
            second_pass<V>(k, t, r, dot * r / (float) k.C * r);
    }
    for (size_t c = threadIdx.x * V; c < k.C; c += THREADS * V)
#pragma unroll
        for (int i = 0; i < V; i++)
            k.parts[blockIdx.x * k.C + c + i] = dw[i * (k.C / V) + c / V];
}

/* sum[c] += the sum over i of parts[i,c].  A lane has a column, and a warp
   every WARPS-th part of it.  */
static __global__ void
__launch_bounds__(THREADS)
    add_parts(float *sum, const float *parts, unsigned n, size_t C)
{
    __shared__ double sums[WARPS][WARP];
    unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    size_t c = (size_t) blockIdx.x * WARP + lane;
    double total = 0;

#pragma unroll 8
    for (unsigned i = warp; i < n; i += WARPS)
        total += c < C ? (double) parts[i * C + c] : 0;
    sums[warp][lane] = total;
    __syncthreads();
    if (warp > 0 || c >= C)
        return;
    for (int i = 1; i < WARPS; i++)
        total += sums[i][lane];
    sum[c] += (float) total;
}

df_status
df_cuda_add_parts(struct cuda_stream *s, float *sum, const float *parts,
                  unsigned n, size_t C)
{
    add_parts<<<(unsigned) df_ceil(C, WARP), THREADS, 0, s->cu>>>(sum, parts,
                                                                  n, C);
    DF_LAUNCHED(add_parts);
    return DF_OK;
}

df_status
cuda_rmsnorm_bwd(struct cuda_stream *s, const struct df_rmsnorm_bwd_args *a)
{
    struct norm_bwd k = {(uint16_t *) a->dx,
                         NULL,
                         (const uint16_t *) a->dy,
                         (const uint16_t *) a->x,
                         (const uint16_t *) a->w,
                         a->rstd,
                         a->T,
                         a->C,
                         a->accumulate};
    unsigned parts = df_grid(a->T, PARTS);
    size_t shared = a->C * sizeof(float);
    bool wide = df_aligned(8, k.dx, a->C) && df_aligned(8, k.dy, a->C)
                && df_aligned(8, k.x, a->C) && df_aligned(8, k.w, a->C);
    const void *kernel = wide ? (const void *) norm_rows_bwd<8>
                              : (const void *) norm_rows_bwd<1>;
    void *scratch;

    DF_TRY(df_cuda_shared(kernel, shared, "rmsnorm_bwd"));
    DF_TRY(df_cuda_scratch(s, parts * shared, &scratch));
    k.parts = (float *) scratch;
    if (wide)
        norm_rows_bwd<8><<<parts, THREADS, shared, s->cu>>>(k);
    else
        norm_rows_bwd<1><<<parts, THREADS, shared, s->cu>>>(k);
    DF_LAUNCHED(rmsnorm_bwd);
    return df_cuda_add_parts(s, a->dw, k.parts, parts, a->C);
}

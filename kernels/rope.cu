/* rope.cu - RMSNorm of heads and rotary position embedding.

   head_norm_rope      y[T,N,D], rstd[T,N] <- x[T,N,D], w[D], pos[T]
   head_norm_rope_bwd  dx, dw[D] <- dy[T,N,D], x, w, rstd, pos[T]

   A lane has V neighbours of the lower half of a head and those of the upper
   half that they are rotated against.  Forward, where a power of two of
   lanes holds a head, a warp does as many as it has room for, each read
   once; else, and backward, it does one at a time.  Backward: PARTS blocks; a
   warp keeps its part of dw in shared memory, where an element belongs to
   one lane; parts are added up in order.  Bound by memory.  */

#include <limits.h>

#include "cuda_internal.cuh"
#include "math.cuh"
#include "parts.cuh"

enum {
    WARPS = 8,
    THREADS = WARPS * WARP,
    PARTS = 1056 /* eight blocks for each processor of an H200 */
};

struct rope {
    uint16_t *y;
    float *rstd;
    const uint16_t *x, *w;
    const float *cos, *sin;
    const int32_t *pos;
    size_t T, N, D, ldy, ldx;
    float eps;
};

/* Both halves of X from element I on.  */
template <int V> struct pair {
    float low[V], high[V];
};

template <int V>
static __device__ __forceinline__ void
load_pair(pair<V> &p, const uint16_t *x, size_t i, size_t half)
{
    df_load<V>(p.low, x + i);
    df_load<V>(p.high, x + i + half);
}

template <int V>
static __device__ __forceinline__ void
store_pair(uint16_t *y, const pair<V> &p, size_t i, size_t half)
{
    df_store<V>(y + i, p.low);
    df_store<V>(y + i + half, p.high);
}

/* Turn P by the angles at C and S; SIGN -1 turns it back.  */
template <int V>
static __device__ __forceinline__ void
turn(pair<V> &p, const float *c, const float *s, float sign)
{
#pragma unroll
    for (int i = 0; i < V; i++) {
        float low = p.low[i], high = p.high[i], sine = sign * s[i];

        p.low[i] = low * c[i] - high * sine;
        p.high[i] = high * c[i] + low * sine;
    }
}

/* Elements of a lane where a few lanes have all of a head.  */
#define FEW 8

static __device__ __forceinline__ void
load_angles(float (&x)[FEW], const float *angles)
{
    float low[4], high[4];

    df_load<4>(low, angles);
    df_load<4>(high, angles + 4);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        x[i] = low[i];
        x[i + 4] = high[i];
    }
}

/* P times the norm's factor and weights, over LANES neighbouring lanes.  */
static __device__ __forceinline__ float
normalise(pair<FEW> &p, const struct rope &k, size_t i, unsigned lanes)
{
    float squares = 0;
    pair<FEW> w;

    load_pair<FEW>(w, k.w, i, k.D / 2);
#pragma unroll
    for (int j = 0; j < FEW; j++)
        squares += p.low[j] * p.low[j] + p.high[j] * p.high[j];
    for (unsigned d = lanes / 2; d > 0; d /= 2)
        squares += __shfl_xor_sync(ALL_LANES, squares, d);
    float r = 1 / sqrtf(squares / (float) k.D + k.eps);

#pragma unroll
    for (int j = 0; j < FEW; j++) {
        p.low[j] *= r * w.low[j];
        p.high[j] *= r * w.high[j];
    }
    return r;
}

/* LANES, a power of two, have a head.  Lanes behind the last head do that
   one, and store nothing.  */
static __global__ void
__launch_bounds__(THREADS) rope_few(struct rope k, unsigned lanes)
{
    size_t item = (size_t) blockIdx.x * THREADS + threadIdx.x;
    unsigned heads = (unsigned) (k.T * k.N), head = (unsigned) (item / lanes);
    bool mine = head < heads;
    size_t i = threadIdx.x % lanes * FEW, half = k.D / 2;
    pair<FEW> p;
    float cos[FEW], sin[FEW];

    head = min(head, heads - 1);
    size_t t = head / (unsigned) k.N, n = head % (unsigned) k.N;
    size_t row = (size_t) k.pos[t] * half + i;

    load_pair<FEW>(p, k.x + t * k.ldx + n * k.D, i, half);
    load_angles(cos, k.cos + row);
    load_angles(sin, k.sin + row);
    float r = k.w ? normalise(p, k, i, lanes) : 1;

    turn<FEW>(p, cos, sin, 1);
    if (!mine)
        return;
    store_pair<FEW>(k.y + t * k.ldy + n * k.D, p, i, half);
    if (k.rstd && k.w && i == 0)
        k.rstd[head] = r;
}

template <int V>
static __device__ float
head_rstd(const struct rope &k, const uint16_t *x)
{
    size_t half = k.D / 2;
    float squares = 0;
    pair<V> p;

    for (size_t i = threadIdx.x % WARP * V; i < half; i += WARP * V) {
        load_pair<V>(p, x, i, half);
#pragma unroll
        for (int j = 0; j < V; j++)
            squares += p.low[j] * p.low[j] + p.high[j] * p.high[j];
    }
    return 1 / sqrtf(df_warp_sum(squares) / (float) k.D + k.eps);
}

template <int V>
static __global__ void
__launch_bounds__(THREADS) rope_heads(struct rope k, unsigned groups)
{
    size_t t = blockIdx.x / groups, half = k.D / 2;
    size_t n = blockIdx.x % groups * WARPS + threadIdx.x / WARP;
    pair<V> p, w;

    if (n >= k.N)
        return;
    const uint16_t *x = k.x + t * k.ldx + n * k.D;
    uint16_t *y = k.y + t * k.ldy + n * k.D;
    size_t row = (size_t) k.pos[t] * half;
    float r = k.w ? head_rstd<V>(k, x) : 1;

    for (size_t i = threadIdx.x % WARP * V; i < half; i += WARP * V) {
        load_pair<V>(p, x, i, half);
        if (k.w) {
            load_pair<V>(w, k.w, i, half);
#pragma unroll
            for (int j = 0; j < V; j++) {
                p.low[j] *= r * w.low[j];
                p.high[j] *= r * w.high[j];
            }
        }
        turn<V>(p, k.cos + row + i, k.sin + row + i, 1);
        store_pair<V>(y, p, i, half);
    }
    if (k.rstd && k.w && threadIdx.x % WARP == 0)
        k.rstd[t * k.N + n] = r;
}

/* Whether rope_few can do it: 1, 2, 4 ... 32 lanes have a head.  */
static bool
few_lanes(const struct rope *k)
{
    size_t lanes = k->D / 2 / FEW;

    return k->D % (2 * FEW) == 0 && lanes <= WARP && (lanes & (lanes - 1)) == 0
           && df_aligned(FEW, k->y, k->ldy) && df_aligned(FEW, k->x, k->ldx)
           && df_aligned(FEW, k->w, k->D) && (uintptr_t) k->cos % 16 == 0
           && (uintptr_t) k->sin % 16 == 0 && k->T * k->N <= UINT_MAX;
}

df_status
cuda_head_norm_rope(struct cuda_stream *s,
                    const struct df_head_norm_rope_args *a)
{
    size_t width = a->N * a->D;
    struct rope k = {(uint16_t *) a->y,
                     a->rstd,
                     (const uint16_t *) a->x,
                     (const uint16_t *) a->w,
                     a->cos,
                     a->sin,
                     a->pos,
                     a->T,
                     a->N,
                     a->D,
                     df_ld(a->ldy, width),
                     df_ld(a->ldx, width),
                     a->eps};
    unsigned groups = (unsigned) df_ceil(a->N, WARPS);
    size_t lanes = a->D / 2 / FEW, grid;

    if (few_lanes(&k)) {
        DF_TRY(df_cuda_blocks("head_norm_rope",
                              df_ceil(a->T * a->N * lanes, THREADS), 1,
                              &grid));
        rope_few<<<(unsigned) grid, THREADS, 0, s->cu>>>(k, (unsigned) lanes);
        DF_LAUNCHED(head_norm_rope);
        return DF_OK;
    }
    DF_TRY(df_cuda_blocks("head_norm_rope", a->T, groups, &grid));
    if (a->D % 4 == 0 && df_aligned(2, k.y, k.ldy) && df_aligned(2, k.x, k.ldx)
        && df_aligned(2, k.w, a->D))
        rope_heads<2><<<(unsigned) grid, THREADS, 0, s->cu>>>(k, groups);
    else
        rope_heads<1><<<(unsigned) grid, THREADS, 0, s->cu>>>(k, groups);
    DF_LAUNCHED(head_norm_rope);
    return DF_OK;
}

struct rope_bwd {
    uint16_t *dx;
    float *parts; /* [gridDim,D] of dw */
    const uint16_t *dy, *x, *w;
    const float *rstd, *cos, *sin;
    const int32_t *pos;
    size_t T, N, D, lddx, lddy, ldx;
};

/* One head with norm: dw is added to, and dx set, in two passes over
   elements that are the lane's own, so that DX may be DY.  */
template <int V>
static __device__ void
head_bwd(const struct rope_bwd &k, float *dw, size_t t, size_t n)
{
    const uint16_t *dy = k.dy + t * k.lddy + n * k.D;
    const uint16_t *x = k.x + t * k.ldx + n * k.D;
    size_t half = k.D / 2, row = (size_t) k.pos[t] * half;
    float r = k.rstd[t * k.N + n], dot = 0;
    pair<V> d, v, w;

    for (size_t i = threadIdx.x % WARP * V; i < half; i += WARP * V) {
        load_pair<V>(d, dy, i, half);
        load_pair<V>(v, x, i, half);
        load_pair<V>(w, k.w, i, half);
        turn<V>(d, k.cos + row + i, k.sin + row + i, -1);
#pragma unroll
        for (int j = 0; j < V; j++) {
            dot += d.low[j] * w.low[j] * v.low[j];
            dot += d.high[j] * w.high[j] * v.high[j];
            dw[i + j] += d.low[j] * (v.low[j] * r);
            dw[i + half + j] += d.high[j] * (v.high[j] * r);
        }
    }
    float scale = df_warp_sum(dot) * r / (float) k.D * r;

    for (size_t i = threadIdx.x % WARP * V; i < half; i += WARP * V) {
        load_pair<V>(d, dy, i, half);
        load_pair<V>(v, x, i, half);
        load_pair<V>(w, k.w, i, half);
        turn<V>(d, k.cos + row + i, k.sin + row + i, -1);
#pragma unroll
        for (int j = 0; j < V; j++) {
            d.low[j] = r * (d.low[j] * w.low[j] - v.low[j] * scale);
            d.high[j] = r * (d.high[j] * w.high[j] - v.high[j] * scale);
        }
        store_pair<V>(k.dx + t * k.lddx + n * k.D, d, i, half);
    }
}

template <int V>
static __device__ void
turn_back(const struct rope_bwd &k, size_t t, size_t n)
{
    size_t half = k.D / 2, row = (size_t) k.pos[t] * half;
    pair<V> d;

    for (size_t i = threadIdx.x % WARP * V; i < half; i += WARP * V) {
        load_pair<V>(d, k.dy + t * k.lddy + n * k.D, i, half);
        turn<V>(d, k.cos + row + i, k.sin + row + i, -1);
        store_pair<V>(k.dx + t * k.lddx + n * k.D, d, i, half);
    }
}

template <int V>
static __global__ void
__launch_bounds__(THREADS) rope_heads_bwd(struct rope_bwd k)
{
    extern __shared__ float all_dw[]; /* [WARPS,D] */
    size_t warp = threadIdx.x / WARP;
    float *dw = all_dw + warp * k.D;

    for (size_t i = threadIdx.x; k.w && i < WARPS * k.D; i += THREADS)
        all_dw[i] = 0;
    __syncthreads();
    for (size_t t = blockIdx.x; t < k.T; t += gridDim.x)
        for (size_t n = warp; n < k.N; n += WARPS)
            if (k.w)
                head_bwd<V>(k, dw, t, n);
            else
                turn_back<V>(k, t, n);
    __syncthreads();
    for (size_t i = threadIdx.x; k.w && i < k.D; i += THREADS) {
        float sum = 0;

        for (int j = 0; j < WARPS; j++)
            sum += all_dw[j * k.D + i];
        k.parts[blockIdx.x * k.D + i] = sum;
    }
}

df_status
cuda_head_norm_rope_bwd(struct cuda_stream *s,
                        const struct df_head_norm_rope_bwd_args *a)
{
    size_t width = a->N * a->D;
    struct rope_bwd k = {(uint16_t *) a->dx,
                         NULL,
                         (const uint16_t *) a->dy,
                         (const uint16_t *) a->x,
                         (const uint16_t *) a->w,
                         a->rstd,
                         a->cos,
                         a->sin,
                         a->pos,
                         a->T,
                         a->N,
                         a->D,
                         df_ld(a->lddx, width),
                         df_ld(a->lddy, width),
                         df_ld(a->ldx, width)};
    unsigned parts = df_grid(a->T, PARTS);
    size_t shared = a->w ? WARPS * a->D * sizeof(float) : 0;
    bool wide = a->D % 4 == 0 && df_aligned(2, k.dx, k.lddx)
                && df_aligned(2, k.dy, k.lddy) && df_aligned(2, k.w, a->D)
                && (!a->w || df_aligned(2, k.x, k.ldx));
    void *scratch = NULL;

    DF_TRY(df_cuda_shared(wide ? (const void *) rope_heads_bwd<2>
                               : (const void *) rope_heads_bwd<1>,
                          shared, "head_norm_rope_bwd"));
    if (a->w)
        DF_TRY(df_cuda_scratch(s, parts * a->D * sizeof(float), &scratch));
    k.parts = (float *) scratch;
    if (wide)
        rope_heads_bwd<2><<<parts, THREADS, shared, s->cu>>>(k);
    else
        rope_heads_bwd<1><<<parts, THREADS, shared, s->cu>>>(k);
    DF_LAUNCHED(head_norm_rope_bwd);
    return a->w ? df_cuda_add_parts(s, a->dw, k.parts, parts, a->D) : DF_OK;
}

/* seen.cuh - rows of logits: greatest, where it is, and the sum of their
   exponents, by a block a row.  */

#ifndef DF_SEEN_CUH
#define DF_SEEN_CUH

#include <math.h>

#include "math.cuh"

/* What has been seen of a row's logits.  */
struct df_max {
    float max, sum; /* SUM of e^(z - max) */
    int32_t best;
};

/* A and B together; the least index wins on ties.  An infinite maximum that
   both share adds as it is.  */
static __device__ struct df_max
df_join(struct df_max a, struct df_max b)
{
    bool swap = b.max > a.max || (b.max == a.max && b.best < a.best);
    struct df_max high = swap ? b : a, low = swap ? a : b;

    high.sum +=
        low.max == high.max ? low.sum : low.sum * __expf(low.max - high.max);
    return high;
}

/* NaN isn't greater than anything, but it does go into the sum.  */
static __device__ void
df_see(struct df_max *s, float z, int32_t v)
{
    if (z > s->max) {
        s->sum = s->sum * __expf(s->max - z) + 1;
        s->max = z;
        s->best = v;
    } else
        s->sum += s->max == -INFINITY && z == z ? 0 : __expf(z - s->max);
}

static __device__ struct df_max
df_shuffle(struct df_max s, int distance)
{
    struct df_max other;

    other.max = __shfl_xor_sync(ALL_LANES, s.max, distance);
    other.sum = __shfl_xor_sync(ALL_LANES, s.sum, distance);
    other.best = __shfl_xor_sync(ALL_LANES, s.best, distance);
    return other;
}

/* Of all threads, in all threads.  */
template <int WARPS>
static __device__ struct df_max
df_see_all(struct df_max s, struct df_max (&parts)[WARPS])
{
    for (int d = WARP / 2; d > 0; d /= 2)
        s = df_join(s, df_shuffle(s, d));
    if (threadIdx.x % WARP == 0)
        parts[threadIdx.x / WARP] = s;
    __syncthreads();
    s = parts[0];
    for (int i = 1; i < WARPS; i++)
        s = df_join(s, parts[i]);
    return s;
}

/* Logits V to V+3 of a row; those behind its end are -inf.  WIDE: they can be
   moved at once.  */
static __device__ __forceinline__ void
df_load_logits(float (&x)[4], const float *z, size_t v, size_t V,
               bool wide = true)
{
    if (wide && v + 4 <= V)
        df_load<4>(x, z + v);
    else
        for (int i = 0; i < 4; i++)
            x[i] = v + i < V ? z[v + i] : -INFINITY;
}

#endif

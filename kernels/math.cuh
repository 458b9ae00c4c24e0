/* math.cuh - what kernels compute with: bf16 in memory, floats in between,
   and sums over warps and blocks in an order that sizes alone decide.  */

#ifndef DF_MATH_CUH
#define DF_MATH_CUH

#include <cuda_bf16.h>
#include <stdint.h>

enum {
    WARP = 32
};

#define ALL_LANES 0xffffffffu
#define DF_LOG2E  1.44269504088896341f
#define DF_LN2    0.693147180559945309f

static __device__ __forceinline__ float
df_wide(uint16_t h)
{
    return __uint_as_float((uint32_t) h << 16);
}

static __device__ __forceinline__ uint16_t
df_narrow(float x)
{
    return __bfloat16_as_ushort(__float2bfloat16_rn(x));
}

/* Two neighbours in memory, LOW first.  */
static __device__ __forceinline__ uint32_t
df_narrow2(float low, float high)
{
    __nv_bfloat162 both = __floats2bfloat162_rn(low, high);

    return *(uint32_t *) &both;
}

/* 2^X, off by two units in the last place at most; tiny results are 0.  */
static __device__ __forceinline__ float
df_exp2(float x)
{
    float y;

    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* 1 / X, off by one unit in the last place at most; tiny results are 0.  */
static __device__ __forceinline__ float
df_reciprocal(float x)
{
    float y;

    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* V neighbours that are read and written at once; V * sizeof (T) is a power
   of two up to 16.  */
template <typename T, int V> struct __align__(sizeof(T) * V) df_vector
{
    T v[V];
};

template <int V>
static __device__ __forceinline__ void
df_load(float (&x)[V], const uint16_t *p)
{
    df_vector<uint16_t, V> raw = *(const df_vector<uint16_t, V> *) p;

#pragma unroll
    for (int i = 0; i < V; i++)
        x[i] = df_wide(raw.v[i]);
}

template <int V>
static __device__ __forceinline__ void
df_store(uint16_t *p, const float (&x)[V])
{
    df_vector<uint16_t, V> raw;

#pragma unroll
    for (int i = 0; i + 1 < V; i += 2)
        *(uint32_t *) (raw.v + i) = df_narrow2(x[i], x[i + 1]);
    if (V == 1)
        raw.v[0] = df_narrow(x[0]);
    *(df_vector<uint16_t, V> *) p = raw;
}

template <int V>
static __device__ __forceinline__ void
df_load(float (&x)[V], const float *p)
{
    df_vector<float, V> raw = *(const df_vector<float, V> *) p;

#pragma unroll
    for (int i = 0; i < V; i++)
        x[i] = raw.v[i];
}

template <int V>
static __device__ __forceinline__ void
df_store(float *p, const float (&x)[V])
{
    df_vector<float, V> raw;

#pragma unroll
    for (int i = 0; i < V; i++)
        raw.v[i] = x[i];
    *(df_vector<float, V> *) p = raw;
}

/* The sum over a warp, in every lane.  */
template <typename T>
static __device__ __forceinline__ T
df_warp_sum(T x)
{
#pragma unroll
    for (int d = WARP / 2; d > 0; d /= 2)
        x += __shfl_xor_sync(ALL_LANES, x, d);
    return x;
}

/* The sum over a block of whole warps, in every thread.  All threads must
   call; PARTS is shared memory for one T a warp.  */
template <typename T>
static __device__ __forceinline__ T
df_block_sum(T x, T *parts)
{
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int warps = blockDim.x / WARP;

    x = df_warp_sum(x);
    __syncthreads(); /* PARTS may still be read from an earlier sum */
    if (lane == 0)
        parts[warp] = x;
    __syncthreads();
    x = 0;
    for (int i = 0; i < warps; i++)
        x += parts[i];
    return x;
}

#endif

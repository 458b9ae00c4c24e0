/* hidden.cu - hidden states to their slots and back, with noise.

   pack_hidden    out[T,H] bf16 <- x[T,H], noise
   unpack_hidden  f[T,KH] <- K times h[T,H] bf16, noise

   A block does a chunk of a row; 8 features are two counters of Philox.
   Bound by memory, with noise about as much by the integer units.  The bits
   are those of the CPU.  */

#include "cuda_internal.cuh"
#include "dflash/philox.h"
#include "math.cuh"

enum {
    THREADS = 128
};

/* BF16 with noise: product and sum are each rounded to float, as on the CPU,
   never contracted; a NaN keeps its payload.  */
static __device__ __forceinline__ uint16_t
add_noise(uint16_t value, float amplitude, uint32_t random)
{
    float noise =
        __fmul_rn(amplitude, __fadd_rn(2 * df_uniform(random), -1.0f));

    if ((value & 0x7fff) > 0x7f80)
        return value | 0x40;
    return df_narrow(__fadd_rn(df_wide(value), noise));
}

/* Noise for the V features from FEATURE on; V 8: a multiple of 4.  */
template <int V>
static __device__ __forceinline__ void
noise_features(df_vector<uint16_t, V> &x, const struct df_noise &noise,
               size_t row, size_t feature)
{
    uint64_t sample = noise.sample[row];
    uint32_t token = (uint32_t) noise.token[row];

#pragma unroll
    for (int i = 0; i < V; i += 4) {
        struct df_philox random =
            df_philox(noise.key, (uint32_t) ((feature + i) / 4), token,
                      (uint32_t) sample, (uint32_t) (sample >> 32));

        if (V == 1) {
            int lane = feature % 4;
            uint32_t bits = lane < 2 ? random.v[lane ? 1 : 0]
                                     : random.v[lane == 2 ? 2 : 3];

            x.v[0] = add_noise(x.v[0], noise.amplitude, bits);
        } else {
#pragma unroll
            for (int j = 0; j < 4 && i + j < V; j++)
                x.v[i + j] =
                    add_noise(x.v[i + j], noise.amplitude, random.v[j]);
        }
    }
}

template <int V>
static __global__ void
__launch_bounds__(THREADS) pack(struct df_pack_hidden_args a, unsigned chunks)
{
    size_t t = blockIdx.x / chunks;
    size_t c = (blockIdx.x % chunks * THREADS + threadIdx.x) * (size_t) V;
    df_vector<uint16_t, V> x;

    if (c >= a.H)
        return;
    x = *(const df_vector<uint16_t, V> *) ((const uint16_t *) a.x + t * a.ldx
                                           + c);
    if (a.noise.amplitude > 0)
        noise_features<V>(x, a.noise, t, a.feature + c);
    *(df_vector<uint16_t, V> *) (a.out + t * a.ldo + c) = x;
}

df_status
cuda_pack_hidden(struct cuda_stream *s, const struct df_pack_hidden_args *a)
{
    struct df_pack_hidden_args k = *a;
    size_t chunks, grid;

    k.ldo = df_ld(a->ldo, a->H);
    k.ldx = df_ld(a->ldx, a->H);
    bool wide = df_aligned(8, k.out, k.ldo) && df_aligned(8, k.x, k.ldx)
                && k.H % 8 == 0 && k.feature % 4 == 0;

    chunks = df_ceil(a->H, THREADS * (wide ? 8 : 1));
    DF_TRY(df_cuda_blocks("pack_hidden", a->T, chunks, &grid));
    if (wide)
        pack<8><<<(unsigned) grid, THREADS, 0, s->cu>>>(k, (unsigned) chunks);
    else
        pack<1><<<(unsigned) grid, THREADS, 0, s->cu>>>(k, (unsigned) chunks);
    DF_LAUNCHED(pack_hidden);
    return DF_OK;
}

template <int V>
static __global__ void
__launch_bounds__(THREADS)
    unpack(struct df_unpack_hidden_args a, unsigned chunks)
{
    unsigned row = blockIdx.x / chunks, K = (unsigned) a.K;
    size_t t = row / K, i = row % K;
    size_t c = (blockIdx.x % chunks * THREADS + threadIdx.x) * (size_t) V;
    size_t f = i * a.H + c;
    df_vector<uint16_t, V> x;

    if (c >= a.H)
        return;
    x = *(const df_vector<uint16_t, V> *) (a.src[i] + t * a.H + c);
    if (a.noise.amplitude > 0)
        noise_features<V>(x, a.noise, t, f);
    *(df_vector<uint16_t, V> *) ((uint16_t *) a.f + t * a.K * a.H + f) = x;
}

df_status
cuda_unpack_hidden(struct cuda_stream *s,
                   const struct df_unpack_hidden_args *a)
{
    bool wide = df_aligned(8, a->f, a->H);
    size_t chunks, grid;

    for (size_t i = 0; i < a->K; i++)
        wide = wide && df_aligned(8, a->src[i], a->H);
    chunks = df_ceil(a->H, THREADS * (wide ? 8 : 1));
    DF_TRY(df_cuda_blocks("unpack_hidden", a->T * a->K, chunks, &grid));
    if (wide)
        unpack<8>
            <<<(unsigned) grid, THREADS, 0, s->cu>>>(*a, (unsigned) chunks);
    else
        unpack<1>
            <<<(unsigned) grid, THREADS, 0, s->cu>>>(*a, (unsigned) chunks);
    DF_LAUNCHED(unpack_hidden);
    return DF_OK;
}

/* hidden.cu - hidden states to their slots and back, with noise.

   pack_hidden    out[T,H] bf16, check[T] <- x[T,H], noise
   unpack_hidden  f[T,KH] <- K times h[T,H] bf16, noise

   A block does a row, a thread words of 8 features: 16 bytes, two counters
   of Philox, one part of the check.  Bound by memory, with noise nearly as
   much by the integer units.  The bits are those of the CPU.  */

#include "cuda_internal.cuh"
#include "dflash/check.h"
#include "dflash/philox.h"
#include "math.cuh"

enum {
    THREADS = 128,
    WARPS = THREADS / WARP,
    WORD = DF_CHECK_WORD / 2, /* features */
    ROUNDS = 10               /* of Philox */
};

struct __align__(DF_CHECK_WORD) word
{
    uint32_t v[WORD / 2]; /* two features each, the first one low */
};

/* The keys of Philox's rounds: in an argument they are operands as they
   are, and the integer units have enough to do.  */
struct keys {
    uint32_t v[ROUNDS][2];
};

/* A row on its way.  */
struct row {
    const uint16_t *from;
    uint16_t *to;
    unsigned H, feature; /* of the first one among all K*H */
    float amplitude;
    uint64_t sample;
    uint32_t token;
};

static struct keys
make_keys(uint64_t key)
{
    struct keys keys;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        keys.v[i][0] = (uint32_t) key + i * 0x9E3779B9u;
        keys.v[i][1] = (uint32_t) (key >> 32) + i * 0xBB67AE85u;
    }
    return keys;
}

/* df_philox for FEATURE of R.  */
static __device__ __forceinline__ struct df_philox
random_of(const struct keys &keys, const struct row &r, unsigned feature)
{
    uint32_t c0 = feature / 4, c1 = r.token;
    uint32_t c2 = (uint32_t) r.sample, c3 = (uint32_t) (r.sample >> 32);

#pragma unroll
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t p0 = (uint64_t) 0xD2511F53u * c0;
        uint64_t p1 = (uint64_t) 0xCD9E8D57u * c2;

        c0 = (uint32_t) (p1 >> 32) ^ c1 ^ keys.v[i][0];
        c1 = (uint32_t) p1;
        c2 = (uint32_t) (p0 >> 32) ^ c3 ^ keys.v[i][1];
        c3 = (uint32_t) p0;
    }
    struct df_philox out = {
        {c0, c1, c2, c3}
    };
    return out;
}

/* X with noise.  Product and sum are each rounded to float, as on the CPU,
   never contracted; what makes noise of BITS before them is exact in any
   form.  */
static __device__ __forceinline__ float
noised(float x, float amplitude, uint32_t bits)
{
    float noise = fmaf((float) (bits >> 8), 0x1p-23f, -1.0f);

    return __fadd_rn(x, __fmul_rn(amplitude, noise));
}

/* The bits of one feature with noise.  A NaN keeps its payload.  */
static __device__ __forceinline__ uint16_t
noised_bits(uint16_t value, float amplitude, uint32_t bits)
{
    if ((value & 0x7fff) > 0x7f80)
        return value | 0x40;
    return df_narrow(noised(df_wide(value), amplitude, bits));
}

/* Two features that aren't NaN, with the numbers LOW and HIGH.  */
static __device__ __forceinline__ uint32_t
noised_pair(uint32_t pair, float amplitude, uint32_t low, uint32_t high)
{
    return df_narrow2(
        noised(__uint_as_float(pair << 16), amplitude, low),
        noised(__uint_as_float(pair & 0xffff0000u), amplitude, high));
}

/* Noise for the whole word of R at feature C, R.FEATURE being a multiple of
   4.  */
static __device__ __forceinline__ void
noise_word(struct word &x, const struct keys &keys, const struct row &r,
           unsigned c)
{
    struct df_philox p[2] = {random_of(keys, r, r.feature + c),
                             random_of(keys, r, r.feature + c + 4)};
    uint32_t nan = 0;

#pragma unroll
    for (int i = 0; i < WORD / 2; i++)
        nan |= (x.v[i] & 0x7fff7fffu) + 0x007f007fu; /* carries to the top */
    if (nan & 0x80008000u) {
#pragma unroll
        for (int i = 0; i < WORD / 2; i++) {
            uint32_t low = x.v[i] & 0xffff, high = x.v[i] >> 16;

            low = noised_bits(low, r.amplitude, p[i / 2].v[i % 2 * 2]);
            high = noised_bits(high, r.amplitude, p[i / 2].v[i % 2 * 2 + 1]);
            x.v[i] = low | high << 16;
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < WORD / 2; i++)
        x.v[i] = noised_pair(x.v[i], r.amplitude, p[i / 2].v[i % 2 * 2],
                             p[i / 2].v[i % 2 * 2 + 1]);
}

/* Feature C of R, wherever it lies.  */
static __device__ __forceinline__ uint16_t
noised_feature(const struct keys &keys, const struct row &r, unsigned c)
{
    struct df_philox p = random_of(keys, r, r.feature + c);
    unsigned i = (r.feature + c) % 4;
    uint32_t bits = i < 2 ? p.v[i ? 1 : 0] : p.v[i == 2 ? 2 : 3];

    return noised_bits(r.from[c], r.amplitude, bits);
}

/* Move the word of R at feature C, which may be the end of one; features
   behind the row's end are 0.  */
template <bool NOISE>
static __device__ __forceinline__ struct word
move_features(const struct keys &keys, const struct row &r, unsigned c)
{
    struct word x = {};

#pragma unroll
    for (unsigned i = 0; i < WORD; i++) {
        if (c + i >= r.H)
            continue;
        uint32_t value =
            NOISE ? noised_feature(keys, r, c + i) : r.from[c + i];

        r.to[c + i] = (uint16_t) value;
        x.v[i / 2] |= value << i % 2 * 16;
    }
    return x;
}

template <bool NOISE>
static __device__ __forceinline__ struct word
move_word(const struct keys &keys, const struct row &r, unsigned c)
{
    uint4 raw = __ldg((const uint4 *) (r.from + c));
    struct word x = {
        {raw.x, raw.y, raw.z, raw.w}
    };

    if (NOISE)
        noise_word(x, keys, r, c);
    *(struct word *) (r.to + c) = x;
    return x;
}

/* Move this thread's words of R; their part of its check.  */
template <bool WIDE, bool NOISE, bool CHECK>
static __device__ __forceinline__ uint64_t
move_row(const struct keys &keys, const struct row &r)
{
    uint64_t check = 0;

#pragma unroll 1
    for (unsigned c = threadIdx.x * WORD; c < r.H; c += THREADS * WORD) {
        struct word x = WIDE ? move_word<NOISE>(keys, r, c)
                             : move_features<NOISE>(keys, r, c);

        if (CHECK)
            check += df_check_word(x.v[0] | (uint64_t) x.v[1] << 32,
                                   x.v[2] | (uint64_t) x.v[3] << 32, c / WORD);
    }
    return check;
}

/* Row T of what NOISE goes to.  */
static __device__ __forceinline__ void
take_noise(struct row *r, const struct df_noise &noise, size_t t)
{
    r->amplitude = noise.amplitude;
    r->sample = noise.sample[t];
    r->token = (uint32_t) noise.token[t];
}

template <bool WIDE, bool NOISE, bool CHECK>
static __global__ void
__launch_bounds__(THREADS) pack(struct df_pack_hidden_args a, struct keys keys)
{
    __shared__ uint64_t parts[WARPS];
    size_t t = blockIdx.x;
    struct row r = {};

    r.from = (const uint16_t *) a.x + t * a.ldx;
    r.to = a.out + t * a.ldo;
    r.H = (unsigned) a.H;
    r.feature = (unsigned) a.feature;
    if (NOISE)
        take_noise(&r, a.noise, t);
    uint64_t check = move_row<WIDE, NOISE, CHECK>(keys, r);

    if (CHECK) {
        check = df_block_sum(check, parts);
        if (threadIdx.x == 0)
            a.check[t * a.ldcheck] = check;
    }
}

template <bool WIDE, bool NOISE>
static void
launch_pack(struct cuda_stream *s, const struct df_pack_hidden_args &a)
{
    if (a.check)
        pack<WIDE, NOISE, true>
            <<<(unsigned) a.T, THREADS, 0, s->cu>>>(a, make_keys(a.noise.key));
    else
        pack<WIDE, NOISE, false>
            <<<(unsigned) a.T, THREADS, 0, s->cu>>>(a, make_keys(a.noise.key));
}

df_status
cuda_pack_hidden(struct cuda_stream *s, const struct df_pack_hidden_args *a)
{
    struct df_pack_hidden_args k = *a;
    bool noise = k.noise.amplitude > 0;

    k.ldo = df_ld(a->ldo, a->H);
    k.ldx = df_ld(a->ldx, a->H);
    k.ldcheck = df_ld(a->ldcheck, 1);
    bool wide = df_aligned(WORD, k.out, k.ldo) && df_aligned(WORD, k.x, k.ldx)
                && k.H % WORD == 0 && k.feature % 4 == 0;

    if (wide && noise)
        launch_pack<true, true>(s, k);
    else if (wide)
        launch_pack<true, false>(s, k);
    else if (noise)
        launch_pack<false, true>(s, k);
    else
        launch_pack<false, false>(s, k);
    DF_LAUNCHED(pack_hidden);
    return DF_OK;
}

template <bool WIDE, bool NOISE>
static __global__ void
__launch_bounds__(THREADS)
    unpack(struct df_unpack_hidden_args a, struct keys keys)
{
    unsigned K = (unsigned) a.K, i = blockIdx.x % K;
    size_t t = blockIdx.x / K;
    struct row r = {};

    r.from = a.src[i] + t * a.H;
    r.to = (uint16_t *) a.f + blockIdx.x * a.H;
    r.H = (unsigned) a.H;
    r.feature = i * r.H;
    if (NOISE)
        take_noise(&r, a.noise, t);
    (void) move_row<WIDE, NOISE, false>(keys, r);
}

df_status
cuda_unpack_hidden(struct cuda_stream *s,
                   const struct df_unpack_hidden_args *a)
{
    bool wide = df_aligned(WORD, a->f, a->H), noise = a->noise.amplitude > 0;
    struct keys keys = make_keys(a->noise.key);
    size_t rows;

    DF_TRY(df_cuda_blocks("unpack_hidden", a->T, a->K, &rows));
    unsigned grid = (unsigned) rows;

    for (size_t i = 0; i < a->K; i++)
        wide = wide && df_aligned(WORD, a->src[i], a->H);
    if (wide && noise)
        unpack<true, true><<<grid, THREADS, 0, s->cu>>>(*a, keys);
    else if (wide)
        unpack<true, false><<<grid, THREADS, 0, s->cu>>>(*a, keys);
    else if (noise)
        unpack<false, true><<<grid, THREADS, 0, s->cu>>>(*a, keys);
    else
        unpack<false, false><<<grid, THREADS, 0, s->cu>>>(*a, keys);
    DF_LAUNCHED(unpack_hidden);
    return DF_OK;
}

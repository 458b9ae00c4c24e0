/* pick.cu - tokens drawn from logits, and drafted ones verified.

   pick    token[R] <- z[R,V], draw
   verify  result[B,b+1] <- z[Bb,V], draft[Bb,V], ids[Bb], draw

   pick: a block a row.  verify: a block a row finds maxima and sums, of the
   target's logits and of the drafter's; then a block a sequence decides which
   tokens stay, and draws one of its own.  Bound by memory, and by the
   logarithms of the noise where the temperature isn't 0.  */

#include <limits.h>

#include "base/draw_internal.h"
#include "cuda_internal.cuh"
#include "seen.cuh"

enum {
    THREADS = 512,
    WARPS = THREADS / WARP
};

/* The token with the greatest score so far.  */
struct best {
    float score;
    int32_t v;
};

static __device__ __forceinline__ void
compare(struct best *b, float score, int32_t v)
{
    if (score > b->score || (score == b->score && v < b->v)) {
        b->score = score;
        b->v = v;
    }
}

/* Of all threads, in all threads.  */
static __device__ struct best
find_best(struct best b, struct best (&parts)[WARPS])
{
    for (int d = WARP / 2; d > 0; d /= 2)
        compare(&b, __shfl_xor_sync(ALL_LANES, b.score, d),
                __shfl_xor_sync(ALL_LANES, b.v, d));
    __syncthreads(); /* PARTS may still be read from an earlier call */
    if (threadIdx.x % WARP == 0)
        parts[threadIdx.x / WARP] = b;
    __syncthreads();
    b = parts[0];
    for (int i = 1; i < WARPS; i++)
        compare(&b, parts[i].score, parts[i].v);
    return b;
}

/* A row of logits, and the other one whose softmax is taken off, or NULL;
   the logs of their sums are used with the latter only.  */
struct source {
    const float *z, *q;
    float sum_p, sum_q;
    size_t V;
    bool wide;
};

/* The token drawn from S, in all threads.  */
static __device__ int32_t
draw_token(const struct source &s, const struct df_draw &draw,
           uint32_t purpose, uint64_t request, int32_t place,
           struct best (&parts)[WARPS])
{
    struct best whole = {-INFINITY, INT_MAX}, left = whole;
    float scale = draw.temperature > 0 ? 1 / draw.temperature : 1;
    float z[4], q[4], g[4] = {0, 0, 0, 0};

    for (size_t v = threadIdx.x * 4; v < s.V; v += THREADS * 4) {
        df_load_logits(z, s.z, v, s.V, s.wide);
        if (s.q)
            df_load_logits(q, s.q, v, s.V, s.wide);
        if (draw.temperature > 0)
            df_draw_noise(g, &draw, purpose, v, request, place);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (v + i >= s.V)
                continue;
            compare(&whole, z[i] * scale + g[i], (int32_t) (v + i));
            if (!s.q)
                continue;
            float rest =
                expf(z[i] * scale - s.sum_p) - expf(q[i] * scale - s.sum_q);

            if (rest > 0)
                compare(&left, logf(rest) + g[i], (int32_t) (v + i));
        }
    }
    whole = find_best(whole, parts);
    left = find_best(left, parts);
    if (left.v != INT_MAX)
        return left.v;
    return whole.v == INT_MAX ? 0 : whole.v;
}

static __global__ void
__launch_bounds__(THREADS) pick_row(struct df_pick_args a, bool wide)
{
    __shared__ struct best parts[WARPS];
    size_t r = blockIdx.x;
    bool drawn = a.draw.temperature > 0;
    struct source s = {a.z + r * a.ldz, NULL, 0, 0, a.V, wide};

    if (a.keep && r % a.keep == 0)
        return;
    int32_t token =
        draw_token(s, a.draw, a.drafter ? DF_DRAW_DRAFT : DF_DRAW_TARGET,
                   drawn ? a.draw.request[r] : 0,
                   drawn ? a.draw.place[r] + !a.drafter : 0, parts);

    if (threadIdx.x == 0)
        a.token[r] = token;
}

static bool
can_be_wide(const float *z, size_t ld)
{
    return (uintptr_t) z % 16 == 0 && ld % 4 == 0;
}

df_status
cuda_pick(struct cuda_stream *s, const struct df_pick_args *a)
{
    struct df_pick_args copy = *a;

    copy.ldz = df_ld(a->ldz, a->V);
    pick_row<<<(unsigned) a->R, THREADS, 0, s->cu>>>(
        copy, can_be_wide(a->z, copy.ldz));
    DF_LAUNCHED(pick);
    return DF_OK;
}

/* What is known of a row's logits.  */
struct known {
    int32_t best;
    float sum; /* log of the sum of exponents, over the temperature */
};

/* Row blockIdx.x / 2 of the target's logits, or of the drafter's.  */
static __global__ void
__launch_bounds__(THREADS)
    look(struct known *out, struct df_verify_args a, bool wide)
{
    __shared__ struct df_max parts[WARPS];
    const float *z = (blockIdx.x % 2 ? a.draft : a.z) + blockIdx.x / 2 * a.ldz;
    float scale = a.draw.temperature > 0 ? 1 / a.draw.temperature : 1;
    struct df_max s = {-INFINITY, 0, INT32_MAX};
    float x[4];

    if (blockIdx.x % 2 && !a.draft)
        return;
    for (size_t v = threadIdx.x * 4; v < a.V; v += THREADS * 4) {
        df_load_logits(x, z, v, a.V, wide);
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (v + i < a.V)
                df_see(&s, x[i] * scale, (int32_t) (v + i));
    }
    s = df_see_all(s, parts);
    if (threadIdx.x > 0)
        return;
    out[blockIdx.x].best = s.best == INT32_MAX ? 0 : s.best;
    out[blockIdx.x].sum = s.max + logf(s.sum);
}

/* Whether the token of row R stays.  */
static __device__ bool
stays(const struct df_verify_args &a, const struct known *known, size_t r)
{
    const struct known *p = known + (r - 1) * 2, *q = known + r * 2 + 1;
    const struct df_draw &draw = a.draw;
    size_t token = (size_t) a.ids[r];

    if (draw.temperature == 0)
        return p->best == a.ids[r];
    struct df_philox n = df_draw_numbers(&draw, DF_DRAW_ACCEPT, 0,
                                         draw.request[r], draw.place[r]);
    float scale = 1 / draw.temperature;
    float ratio = a.z[(r - 1) * a.ldz + token] * scale - p->sum
                  - (a.draft[r * a.ldz + token] * scale - q->sum);

    return df_uniform(n.v[0]) < expf(ratio);
}

static __global__ void
__launch_bounds__(THREADS)
    decide(const struct known *known, struct df_verify_args a, bool wide)
{
    __shared__ struct best parts[WARPS];
    __shared__ size_t all_kept;
    size_t first = blockIdx.x * a.b;
    int32_t *result = a.result + blockIdx.x * (a.b + 1);
    bool drawn = a.draw.temperature > 0;

    if (threadIdx.x == 0) {
        size_t kept = a.forced ? a.forced - 1 : 0;

        while (!a.forced && kept + 1 < a.b
               && stays(a, known, first + kept + 1))
            kept++;
        all_kept = kept;
    }
    __syncthreads();
    size_t kept = all_kept, row = first + kept;
    bool rejected = drawn && !a.forced && kept + 1 < a.b;
    struct source s = {a.z + row * a.ldz,
                       rejected ? a.draft + (row + 1) * a.ldz : NULL,
                       known[row * 2].sum,
                       rejected ? known[(row + 1) * 2 + 1].sum : 0,
                       a.V,
                       wide};
    int32_t own =
        drawn ? draw_token(s, a.draw, DF_DRAW_TARGET, a.draw.request[row],
                           a.draw.place[row] + 1, parts)
              : known[row * 2].best;

    for (size_t j = threadIdx.x; j <= kept + 1; j += THREADS)
        result[j] = j == 0      ? (int32_t) kept + 1
                    : j <= kept ? a.ids[first + j]
                                : own;
}

df_status
cuda_verify(struct cuda_stream *s, const struct df_verify_args *a)
{
    struct df_verify_args copy = *a;
    bool wide;
    void *known;

    copy.ldz = df_ld(a->ldz, a->V);
    wide = can_be_wide(a->z, copy.ldz)
           && (!a->draft || can_be_wide(a->draft, copy.ldz));
    if (a->draw.temperature == 0)
        copy.draft = NULL;
    DF_TRY(df_cuda_scratch(s, a->B * a->b * 2 * sizeof(struct known), &known));
    look<<<(unsigned) (a->B * a->b * 2), THREADS, 0, s->cu>>>(
        (struct known *) known, copy, wide);
    DF_LAUNCHED(verify);
    decide<<<(unsigned) a->B, THREADS, 0, s->cu>>>(
        (const struct known *) known, copy, wide);
    DF_LAUNCHED(verify);
    return DF_OK;
}

/* head.cu - the frozen head and the cross-entropy in one.

   head_loss  nll[R], pred[R], dh[R,H] <- h[R,H], u[V,H], labels[R]

   In chunks of ROWS rows:

       z[rows,V] = h u^T           cuBLASLt, float32
       nll, pred, p = softmax(z) - onehot    a block a row, p in bf16
       dh[rows,H] = p u            cuBLASLt

   Bound by the two products.  The row kernel reads the logits twice, the
   second time partly from the cache, and writes P: 10 bytes a logit.  */

#include <math.h>

#include "cuda_internal.cuh"
#include "math.cuh"

enum {
    ROWS = 1024, /* of a chunk */
    FEW = 64,
    THREADS = 512,
    WARPS = THREADS / WARP
};

/* What has been seen of a row's logits.  */
struct seen {
    float max, sum; /* SUM of e^(z - max) */
    int32_t best;
};

/* A and B together; the least index wins on ties.  An infinite maximum that
   both share adds as it is.  */
static __device__ struct seen
join(struct seen a, struct seen b)
{
    bool swap = b.max > a.max || (b.max == a.max && b.best < a.best);
    struct seen high = swap ? b : a, low = swap ? a : b;

    high.sum +=
        low.max == high.max ? low.sum : low.sum * __expf(low.max - high.max);
    return high;
}

/* NaN isn't greater than anything, but it does go into the sum.  */
static __device__ void
see(struct seen *s, float z, int32_t v)
{
    if (z > s->max) {
        s->sum = s->sum * __expf(s->max - z) + 1;
        s->max = z;
        s->best = v;
    } else
        s->sum += s->max == -INFINITY && z == z ? 0 : __expf(z - s->max);
}

static __device__ struct seen
shuffle(struct seen s, int distance)
{
    struct seen other;

    other.max = __shfl_xor_sync(ALL_LANES, s.max, distance);
    other.sum = __shfl_xor_sync(ALL_LANES, s.sum, distance);
    other.best = __shfl_xor_sync(ALL_LANES, s.best, distance);
    return other;
}

/* Of all threads, in all threads.  */
static __device__ struct seen
see_all(struct seen s, struct seen *parts)
{
    for (int d = WARP / 2; d > 0; d /= 2)
        s = join(s, shuffle(s, d));
    if (threadIdx.x % WARP == 0)
        parts[threadIdx.x / WARP] = s;
    __syncthreads();
    s = parts[0];
    for (int i = 1; i < WARPS; i++)
        s = join(s, parts[i]);
    return s;
}

struct rows {
    float *nll; /* or NULL */
    int32_t *pred;
    uint16_t *p;           /* [rows,ld], or NULL */
    const float *z;        /* [rows,ld] */
    const int32_t *labels; /* or NULL */
    size_t V, ld;          /* ld: a multiple of 4 */
};

/* Logits V to V+3 of a row; those behind its end are -inf.  */
static __device__ __forceinline__ void
load_logits(float (&x)[4], const float *z, size_t v, size_t V)
{
    if (v + 4 <= V)
        df_load<4>(x, z + v);
    else
        for (int i = 0; i < 4; i++)
            x[i] = v + i < V ? z[v + i] : -INFINITY;
}

/* P of the row; zeros behind its end.  */
static __device__ void
write_row(const struct rows &k, const float *z, const struct seen &all,
          size_t label)
{
    uint16_t *p = k.p + blockIdx.x * k.ld;
    float scale = 1 / all.sum, x[4];

    for (size_t v = threadIdx.x * 4; v < k.V; v += THREADS * 4) {
        load_logits(x, z, v, k.V);
#pragma unroll
        for (int i = 0; i < 4; i++)
            x[i] = __expf(x[i] - all.max) * scale
                   - (v + i == label ? 1.0f : 0.0f);
        df_store<4>(p + v, x);
    }
}

static __global__ void
__launch_bounds__(THREADS) lose_row(struct rows k)
{
    __shared__ struct seen parts[WARPS];
    const float *z = k.z + blockIdx.x * k.ld;
    struct seen s = {-INFINITY, 0, INT32_MAX};
    float x[4];

    for (size_t v = threadIdx.x * 4; v < k.V; v += THREADS * 4) {
        load_logits(x, z, v, k.V);
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (v + i < k.V)
                see(&s, x[i], (int32_t) (v + i));
    }
    s = see_all(s, parts);
    size_t label = k.labels ? (size_t) k.labels[blockIdx.x] : k.V;

    if (threadIdx.x == 0) {
        k.pred[blockIdx.x] = s.best == INT32_MAX ? 0 : s.best;
        if (k.nll)
            k.nll[blockIdx.x] = logf(s.sum) + s.max - z[label];
    }
    if (k.p)
        write_row(k, z, s, label);
}

/* The R rows of A from FIRST on.  */
static df_status
lose_rows(struct cuda_stream *s, const struct df_head_loss_args *a,
          struct rows k, size_t first, size_t R)
{
    const uint16_t *h = (const uint16_t *) a->h + first * a->H;
    struct df_matmul logits = {};
    struct df_matmul back = {};

    logits.c = (void *) k.z;
    logits.a = h;
    logits.b = a->u;
    back.a = k.p;
    back.b = a->u;
    logits.m = R;
    logits.n = a->V;
    logits.k = a->H;
    logits.ldc = k.ld;
    logits.lda = logits.ldb = a->H;
    logits.transpose_b = logits.wide = true;
    DF_TRY(df_matmul(s, &logits));
    k.nll = a->nll ? a->nll + first : NULL;
    k.pred = a->pred + first;
    k.labels = a->labels ? a->labels + first : NULL;
    lose_row<<<(unsigned) R, THREADS, 0, s->cu>>>(k);
    DF_LAUNCHED(head_loss);
    if (!a->dh)
        return DF_OK;
    back.c = (uint16_t *) a->dh + first * a->H;
    back.m = R;
    back.n = a->H;
    back.k = a->V;
    back.ldc = back.ldb = a->H;
    back.lda = k.ld;
    return df_matmul(s, &back);
}

df_status
cuda_head_loss(struct cuda_stream *s, const struct df_head_loss_args *a)
{
    size_t rows = a->R < ROWS ? a->R : (size_t) ROWS,
           ld = df_ceil(a->V, 8) * 8;
    struct rows k = {};
    void *scratch;

    /* A whole chunk, unless there will hardly ever be one: so no later batch
       is a reason to grow.  */
    DF_TRY(df_cuda_scratch(s, (a->R < FEW ? FEW : ROWS) * ld * (a->dh ? 6 : 4),
                           &scratch));
    k.V = a->V;
    k.ld = ld;
    k.z = (const float *) scratch;
    if (a->dh)
        k.p = (uint16_t *) ((float *) scratch + rows * ld);
    for (size_t r = 0; r < a->R; r += rows)
        DF_TRY(lose_rows(s, a, k, r, a->R - r < rows ? a->R - r : rows));
    return DF_OK;
}

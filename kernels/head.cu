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
#include "seen.cuh"

enum {
    ROWS = 1024, /* of a chunk */
    FEW = 64,
    THREADS = 512,
    WARPS = THREADS / WARP
};

struct rows {
    float *nll; /* or NULL */
    int32_t *pred;
    uint16_t *p;           /* [rows,ld], or NULL */
    const float *z;        /* [rows,ld] */
    const int32_t *labels; /* or NULL */
    size_t V, ld;          /* ld: a multiple of 4 */
};

/* P of the row; zeros behind its end.  */
static __device__ void
write_row(const struct rows &k, const float *z, const struct df_max &all,
          size_t label)
{
    uint16_t *p = k.p + blockIdx.x * k.ld;
    float scale = 1 / all.sum, x[4];

    for (size_t v = threadIdx.x * 4; v < k.V; v += THREADS * 4) {
        df_load_logits(x, z, v, k.V);
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
    __shared__ struct df_max parts[WARPS];
    const float *z = k.z + blockIdx.x * k.ld;
    struct df_max s = {-INFINITY, 0, INT32_MAX};
    float x[4];

    for (size_t v = threadIdx.x * 4; v < k.V; v += THREADS * 4) {
        df_load_logits(x, z, v, k.V);
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (v + i < k.V)
                df_see(&s, x[i], (int32_t) (v + i));
    }
    s = df_see_all(s, parts);
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

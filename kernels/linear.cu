/* linear.cu - products with weights.

   linear      y[T,N] <- x[T,K], w[N,K], bias[N]
   linear_dx   dx[T,K] <- dy[T,N], w[N,K]
   linear_dw   dw[N,K] <- dy[T,N], x[T,K]

   Bound by the matrix units; bias and sum are epilogues of the product.  */

#include "cuda_internal.cuh"

df_status
cuda_linear(struct cuda_stream *s, const struct df_linear_args *a)
{
    struct df_matmul m = {};

    m.c = a->y;
    m.a = a->x;
    m.b = a->w;
    m.bias = a->bias;
    m.m = a->T;
    m.n = a->N;
    m.k = a->K;
    m.ldc = df_ld(a->ldy, a->N);
    m.lda = df_ld(a->ldx, a->K);
    m.ldb = a->K;
    m.transpose_b = true;
    m.accumulate = a->accumulate;
    m.wide = a->wide;
    return df_matmul(s, &m);
}

df_status
cuda_linear_dx(struct cuda_stream *s, const struct df_linear_dx_args *a)
{
    struct df_matmul m = {};

    m.c = a->dx;
    m.a = a->dy;
    m.b = a->w;
    m.m = a->T;
    m.n = a->K;
    m.k = a->N;
    m.ldc = df_ld(a->lddx, a->K);
    m.lda = df_ld(a->lddy, a->N);
    m.ldb = a->K;
    m.accumulate = a->accumulate;
    return df_matmul(s, &m);
}

df_status
cuda_linear_dw(struct cuda_stream *s, const struct df_linear_dw_args *a)
{
    struct df_matmul m = {};

    m.c = a->dw;
    m.a = a->dy;
    m.b = a->x;
    m.m = a->N;
    m.n = a->K;
    m.k = a->T;
    m.ldc = a->K;
    m.lda = df_ld(a->lddy, a->N);
    m.ldb = df_ld(a->ldx, a->K);
    m.transpose_a = true;
    m.wide = true;
    m.accumulate = true;
    return df_matmul(s, &m);
}

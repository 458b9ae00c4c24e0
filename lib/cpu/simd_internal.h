/* simd_internal.h - what the loops of attention and loss are made of: rows
   in vectors, and products of sub-matrices.

   A loop marked DF_SIMD is vectorised by every compiler that knows OpenMP's
   simd pragma, sums and maxima too.  */

#ifndef DF_SIMD_INTERNAL_H
#define DF_SIMD_INTERNAL_H

#include <cblas.h>
#include <stddef.h>

/* <cblas.h> brings <complex.h>; ops.h has sizes called I.  */
#undef I

#include "cpu/math_internal.h"

#define DF_PRAGMA(x)   _Pragma(#x)
#define DF_SIMD        DF_PRAGMA(omp simd)
#define DF_SIMD_SUM(s) DF_PRAGMA(omp simd reduction(+ : s))

/* C[M,N] = A[M,K] B[N,K]^T.  Nothing happens if M, N or K is 0.  */
static inline void
df_gemm_nt(size_t M, size_t N, size_t K, const float *a, size_t lda,
           const float *b, size_t ldb, float *c, size_t ldc)
{
    if (M > 0 && N > 0 && K > 0)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int) M, (int) N,
                    (int) K, 1.0f, a, (int) lda, b, (int) ldb, 0.0f, c,
                    (int) ldc);
}

/* C[M,N] = BETA C + A[M,K] B[K,N].  Nothing happens if M, N or K is 0.  */
static inline void
df_gemm_nn(size_t M, size_t N, size_t K, const float *a, size_t lda,
           const float *b, size_t ldb, float beta, float *c, size_t ldc)
{
    if (M > 0 && N > 0 && K > 0)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int) M,
                    (int) N, (int) K, 1.0f, a, (int) lda, b, (int) ldb, beta,
                    c, (int) ldc);
}

/* C[M,N] += A[K,M]^T B[K,N].  Nothing happens if M, N or K is 0.  */
static inline void
df_gemm_tn(size_t M, size_t N, size_t K, const float *a, size_t lda,
           const float *b, size_t ldb, float *c, size_t ldc)
{
    if (M > 0 && N > 0 && K > 0)
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int) M, (int) N,
                    (int) K, 1.0f, a, (int) lda, b, (int) ldb, 1.0f, c,
                    (int) ldc);
}

/* The greatest of S[0..N), -INFINITY if there is none.  NaN isn't greater
   than anything.  */
float cpu_max_row(const float *s, size_t n);

/* S[0..N) = e^(S - MAX), in place; return their sum.  */
float cpu_exp_row(float *s, size_t n, float max);

/* DS[0..N) = P * (DS - DELTA), in place.  */
void cpu_softmax_bwd_row(float *ds, const float *p, float delta, size_t n);

/* Y[0..D) += sum over K < N of A[K] * X[K * LD + 0..D).  */
void cpu_weigh_rows(float *y, const float *a, const float *x, size_t ld,
                    size_t n, size_t D);

/* Y[K * LD + 0..D) += A[K] * X[0..D), for K < N.  */
void cpu_add_outer(float *y, size_t ld, const float *a, const float *x,
                   size_t n, size_t D);

/* The sum of X[0..D) * Y[0..D).  */
float cpu_dot_row(const float *x, const float *y, size_t D);

/* Y[0..D) = F * X[0..D).  */
void cpu_scale_row(float *y, const float *x, float f, size_t D);

#endif

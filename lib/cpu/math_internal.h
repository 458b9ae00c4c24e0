/* math_internal.h - what the loops of attention and loss are made of: an
   exponential that vectorises, and products of sub-matrices.

   A loop marked DF_SIMD is vectorised by every compiler that knows OpenMP's
   simd pragma, sums and maxima too; a function marked DF_CLONES is compiled
   for several widths of vectors and the loader takes the widest that the
   processor has.  So the last bits of a sum depend on the processor, as
   they do in OpenBLAS, but on nothing else.  */

#ifndef DF_MATH_INTERNAL_H
#define DF_MATH_INTERNAL_H

#include <cblas.h>
#include <stddef.h>
#include <stdint.h>

/* <cblas.h> brings <complex.h>; ops.h has sizes called I.  */
#undef I

#define DF_PRAGMA(x)   _Pragma(#x)
#define DF_SIMD        DF_PRAGMA(omp simd)
#define DF_SIMD_SUM(s) DF_PRAGMA(omp simd reduction(+ : s))
#define DF_SIMD_MAX(m) DF_PRAGMA(omp simd reduction(max : m))

#ifdef __has_feature
#    if __has_feature(thread_sanitizer)
#        define DF_NO_CLONES 1
#    endif
#elif defined __SANITIZE_THREAD__
#    define DF_NO_CLONES 1
#endif

/* The thread sanitizer isn't up yet when the loader chooses a clone.  */
#if defined __x86_64__ && defined __gnu_linux__ && !defined DF_NO_CLONES
#    define DF_CLONES \
        __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#    define DF_CLONES
#endif

union word {
    float value;
    uint32_t bits;
};

/* e^x for x <= 88: within 1e-7 of it, relatively; 0 where it is less than
   2^-126, more or less; NaN for NaN.  e^88 for more than that.

   With x = n ln 2 + r and |r| <= ln 2 / 2, it is 2^n times the first eight
   terms of the series of e^r, the ninth being below 6e-9.  Adding 1.5 * 2^23
   rounds to a whole number and leaves it in the low bits.  */
static inline __attribute__((always_inline)) float
df_expf(float x)
{
    const float shift = 0x1.8p23f;
    float y = x > 88.0f ? 88.0f : x;
    union word rounded = {.value = y * 0x1.715476p0f + shift};
    float n = rounded.value - shift;
    float r = (y - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
    float p = 1.0f / 5040;
    union word power;

    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    power.bits = (rounded.bits + 127) << 23;
    return x < -87.0f ? 0.0f : p * power.value;
}

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
float df_max_row(const float *s, size_t n);

/* S[0..N) = e^(S - MAX), in place; return their sum.  */
float df_exp_row(float *s, size_t n, float max);

/* DS[0..N) = P * (DS - DELTA), in place.  */
void df_softmax_bwd_row(float *ds, const float *p, float delta, size_t n);

/* Y[0..D) += sum over K < N of A[K] * X[K * LD + 0..D).  */
void df_weigh_rows(float *y, const float *a, const float *x, size_t ld,
                   size_t n, size_t D);

/* Y[K * LD + 0..D) += A[K] * X[0..D), for K < N.  */
void df_add_outer(float *y, size_t ld, const float *a, const float *x,
                  size_t n, size_t D);

/* The sum of X[0..D) * Y[0..D).  */
float df_dot(const float *x, const float *y, size_t D);

/* Y[0..D) = F * X[0..D).  */
void df_scale_row(float *y, const float *x, float f, size_t D);

#endif

/* math_internal.h - small functions for the loops over elements.

   Written so that the compiler can make vectors of them: no calls, no
   branches, no conversions that trap.  */

#ifndef DF_MATH_INTERNAL_H
#define DF_MATH_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Compile a function for several instruction sets; the right one is chosen
   when the program starts.  That happens before the sanitizers are set up,
   so their builds do without.  All of them give the same bits: see the flags
   in local.mk, and the sums below.  */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#    define DF_SANITIZED 1
#elif defined __has_feature
#    if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#        define DF_SANITIZED 1
#    endif
#endif
#if defined HAVE_TARGET_CLONES && !defined DF_SANITIZED
#    define DF_CLONES \
        __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#    define DF_CLONES
#endif

static inline float
df_bits_to_f32(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

/* e^X with a relative error below 2e-7; infinity above 88.73, subnormal and
   then 0 below -87.34, NaN for NaN.

   X = n ln 2 + r with |r| <= 0.347: e^r by its Taylor series, the rest of
   which is below 6e-9; ln 2 in two parts, the first of so few bits that n
   times it is exact; 2^n in two factors, since n may be out of a float's
   range.  */
static inline float
df_expf(float x)
{
    const float round = 0x1.8p23f; /* adding it leaves an integer */
    uint32_t shifted;

    x = x < -105.0f ? -105.0f : x;
    x = x > 89.0f ? 89.0f : x;
    float t = x * 0x1.715476p+0f + round;
    float n = t - round;
    float r = x - n * 0x1.62e4p-1f - n * 0x1.7f7d1cp-20f;
    float p = 1.0f / 5040;

    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    memcpy(&shifted, &t, sizeof shifted);
    int32_t k = (int32_t) (shifted - 0x4b400000u); /* n */
    int32_t half = k >> 1;

    p *= df_bits_to_f32((uint32_t) (half + 127) << 23);
    return p * df_bits_to_f32((uint32_t) (k - half + 127) << 23);
}

/* Sums go to this many places, combined last: enough to fill the vectors,
   and an order that doesn't depend on them.  */
enum {
    DF_LANES = 16
};

static inline double
df_add_lanes(const double lanes[DF_LANES])
{
    double sum = 0;

    for (int i = 0; i < DF_LANES; i++)
        sum += lanes[i];
    return sum;
}

/* sum_i a[i] * b[i], in double.  */
static inline double
df_dot(const float *a, const float *b, size_t n)
{
    double lanes[DF_LANES] = {0};
    size_t i = 0;

    for (; i + DF_LANES <= n; i += DF_LANES)
        for (size_t j = 0; j < DF_LANES; j++)
            lanes[j] += (double) a[i + j] * (double) b[i + j];
    for (size_t j = 0; i + j < n; j++)
        lanes[j] += (double) a[i + j] * (double) b[i + j];
    return df_add_lanes(lanes);
}

#endif

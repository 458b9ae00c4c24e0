/* math_internal.h - small functions for the loops over elements.

   Written so that the compiler can make vectors of them: no calls, no
   branches, no conversions that trap.  */

#ifndef DF_MATH_INTERNAL_H
#define DF_MATH_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "cpu/clones_internal.h"

union word {
    float value;
    uint32_t bits;
};

/* e^x for x <= 88: within 1e-7 of it, relatively; 0 where it is less than
   2^-126, more or less; NaN for NaN.  e^88 for more than that.

   With x = n ln 2 + r and |r| <= ln 2 / 2, it is 2^n times the first eight
   terms of the series of e^r, the ninth being below 6e-9.  Adding 1.5 * 2^23
   rounds to a whole number and leaves it in the low bits.  */
static inline float
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

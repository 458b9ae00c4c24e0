#include <config.h>

#include <math.h>

#include "cpu/simd_internal.h"

DF_CLONES float
df_softmax_row(float *s, size_t n, float *max)
{
    float m = -INFINITY, sum = 0;

    DF_SIMD_MAX(m)
    for (size_t i = 0; i < n; i++)
        m = s[i] > m ? s[i] : m;
    DF_SIMD_SUM(sum)
    for (size_t i = 0; i < n; i++) {
        s[i] = df_expf(s[i] - m);
        sum += s[i];
    }
    *max = m;
    return sum;
}

DF_CLONES void
df_exp_row(float *s, size_t n, float lse)
{
    DF_SIMD
    for (size_t i = 0; i < n; i++)
        s[i] = df_expf(s[i] - lse);
}

DF_CLONES void
df_softmax_bwd_row(float *ds, const float *p, float delta, size_t n)
{
    DF_SIMD
    for (size_t i = 0; i < n; i++)
        ds[i] = p[i] * (ds[i] - delta);
}

DF_CLONES void
df_weigh_rows(float *y, const float *a, const float *x, size_t ld, size_t n,
              size_t D)
{
    for (size_t k = 0; k < n; k++) {
        DF_SIMD
        for (size_t d = 0; d < D; d++)
            y[d] += a[k] * x[k * ld + d];
    }
}

DF_CLONES void
df_add_outer(float *y, size_t ld, const float *a, const float *x, size_t n,
             size_t D)
{
    for (size_t k = 0; k < n; k++) {
        DF_SIMD
        for (size_t d = 0; d < D; d++)
            y[k * ld + d] += a[k] * x[d];
    }
}

DF_CLONES float
df_dot(const float *x, const float *y, size_t D)
{
    float sum = 0;

    DF_SIMD_SUM(sum)
    for (size_t d = 0; d < D; d++)
        sum += x[d] * y[d];
    return sum;
}

DF_CLONES void
df_scale_row(float *y, const float *x, float f, size_t D)
{
    DF_SIMD
    for (size_t d = 0; d < D; d++)
        y[d] = f * x[d];
}

#include <config.h>

#include <math.h>

#include "cpu/simd_internal.h"

/* A maximum isn't vectorised by itself, NaN being what it is.  */
enum {
    LANES = 16
};

DF_CLONES float
cpu_max_row(const float *s, size_t n)
{
    float lane[LANES], m = -INFINITY;
    size_t i = 0;

    for (size_t l = 0; l < LANES; l++)
        lane[l] = m;
    for (; i + LANES <= n; i += LANES) {
        DF_SIMD
        for (size_t l = 0; l < LANES; l++)
            lane[l] = s[i + l] > lane[l] ? s[i + l] : lane[l];
    }
    for (size_t l = 0; l < LANES; l++)
        m = lane[l] > m ? lane[l] : m;
    for (; i < n; i++)
        m = s[i] > m ? s[i] : m;
    return m;
}

DF_CLONES float
cpu_exp_row(float *s, size_t n, float max)
{
    float sum = 0;

    DF_SIMD_SUM(sum)
    for (size_t i = 0; i < n; i++) {
        float e = df_expf(s[i] - max);

        s[i] = e;
        sum += e;
    }
    return sum;
}

DF_CLONES void
cpu_softmax_bwd_row(float *ds, const float *p, float delta, size_t n)
{
    DF_SIMD
    for (size_t i = 0; i < n; i++)
        ds[i] = p[i] * (ds[i] - delta);
}

DF_CLONES void
cpu_weigh_rows(float *y, const float *a, const float *x, size_t ld, size_t n,
               size_t D)
{
    for (size_t k = 0; k < n; k++) {
        DF_SIMD
        for (size_t d = 0; d < D; d++)
            y[d] += a[k] * x[k * ld + d];
    }
}

DF_CLONES void
cpu_add_outer(float *y, size_t ld, const float *a, const float *x, size_t n,
              size_t D)
{
    for (size_t k = 0; k < n; k++) {
        DF_SIMD
        for (size_t d = 0; d < D; d++)
            y[k * ld + d] += a[k] * x[d];
    }
}

DF_CLONES float
cpu_dot_row(const float *x, const float *y, size_t D)
{
    float sum = 0;

    DF_SIMD_SUM(sum)
    for (size_t d = 0; d < D; d++)
        sum += x[d] * y[d];
    return sum;
}

DF_CLONES void
cpu_scale_row(float *y, const float *x, float f, size_t D)
{
    DF_SIMD
    for (size_t d = 0; d < D; d++)
        y[d] = f * x[d];
}

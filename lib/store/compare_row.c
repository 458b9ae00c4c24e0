#include <config.h>

#include "cpu/clones_internal.h"
#include "dflash/dtype.h"
#include "store/compare_internal.h"

static DF_CLONES void
compare(const uint16_t *a, const uint16_t *b, size_t n, float *difference,
        float *squares)
{
    float d = 0, q = 0;

#pragma omp simd reduction(+ : d, q)
    for (size_t i = 0; i < n; i++) {
        float x = df_f32_from_bf16(a[i]), y = df_f32_from_bf16(b[i]);

        d += (x - y) * (x - y);
        q += y * y;
    }
    *difference = d;
    *squares = q;
}

void
df_compare_rows(const uint16_t *a, const uint16_t *b, size_t count,
                float *difference, float *squares)
{
    compare(a, b, count, difference, squares);
}

/* Rows: one pass of integers for the range, one of floats for the sums, one
   of products for the check, while the row is in the first cache.  */

#include <config.h>

#include "cpu/clones_internal.h"
#include "dflash/check.h"
#include "dflash/dtype.h"
#include "store/scan_internal.h"

enum {
    PIECE = 8,          /* elements of poison in a row that show */
    HUGE_ORDER = 0x4c80 /* 2^26: no hidden state is that large */
};

static DF_CLONES void
measure_range(const uint16_t *row, size_t n, int16_t *min, int16_t *max)
{
    int16_t lo = INT16_MAX, hi = INT16_MIN;

#pragma omp simd reduction(min : lo) reduction(max : hi)
    for (size_t i = 0; i < n; i++) {
        int16_t x = (int16_t) row[i];
        int16_t y = (int16_t) (x ^ ((x >> 15) & 0x7fff));

        lo = y < lo ? y : lo;
        hi = y > hi ? y : hi;
    }
    *min = lo;
    *max = hi;
}

static DF_CLONES void
measure_sums(const uint16_t *row, size_t n, float *sum, float *squares)
{
    float s = 0, q = 0;

#pragma omp simd reduction(+ : s, q)
    for (size_t i = 0; i < n; i++) {
        float x = df_f32_from_bf16(row[i]);

        s += x;
        q += x * x;
    }
    *sum = s;
    *squares = q;
}

void
df_scan_measure(struct df_row_measure *out, const uint16_t *row, size_t count)
{
    measure_range(row, count, &out->min, &out->max);
    measure_sums(row, count, &out->sum, &out->squares);
    out->hash = df_check_row(row, count);
}

void
df_scan_count_specials(const uint16_t *row, size_t count, uint64_t *nans,
                       uint64_t *infs)
{
    *nans = *infs = 0;
    for (size_t i = 0; i < count; i++) {
        *nans += (row[i] & 0x7fffu) > 0x7f80u;
        *infs += (row[i] & 0x7fffu) == 0x7f80u;
    }
}

/* The elements of ROW that are PATTERN, if PIECE of them stand together.  */
static uint64_t
count_poison(const uint16_t *row, size_t n, uint16_t pattern)
{
    size_t total = 0, piece = 0, longest = 0;

    for (size_t i = 0; i < n; i++) {
        piece = row[i] == pattern ? piece + 1 : 0;
        total += piece > 0;
        longest = piece > longest ? piece : longest;
    }
    return longest >= PIECE || longest == n ? total : 0;
}

uint64_t
df_scan_find_poison(const uint16_t *row, size_t count,
                    const struct df_row_measure *m, uint16_t *pattern)
{
    /* What allocators, debuggers and tests fill memory with.  The first ones
       are huge or no numbers; the others show where they fill a row.  */
    static const uint16_t patterns[] = {0xffff, 0x7fc0, 0xcdcd, 0xcccc, 0xdddd,
                                        0xfdfd, 0xfefe, 0x5a5a, 0xabab, 0xa5a5,
                                        0xbaba, 0xaaaa, 0x5555};

    if (m->min != m->max && m->max < HUGE_ORDER && m->min > -HUGE_ORDER)
        return 0;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        uint64_t n = count_poison(row, count, patterns[i]);

        *pattern = patterns[i];
        if (n > 0)
            return n;
    }
    return 0;
}

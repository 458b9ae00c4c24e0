/* Rows: one pass of floats for range and sums, one of products for the check,
   while the row is in the first cache.  What isn't finite shows in the sum of
   squares, and only then is looked at more closely.  */

#include <config.h>

#include <math.h>
#include <string.h>

#include "cpu/clones_internal.h"
#include "dflash/check.h"
#include "dflash/dtype.h"
#include "store/scan_internal.h"

enum {
    PIECE = 8 /* elements of poison together that show */
};
#define LARGE 0x1p26f /* no hidden state is that large */

/* Two elements a word: so the loop needs no widening and has two chains of
   sums.  */
static DF_CLONES void
measure_pairs(struct df_row_measure *out, const uint16_t *row, size_t pairs)
{
    float s0 = 0, s1 = 0, q0 = 0, q1 = 0;
    float lo0 = INFINITY, lo1 = INFINITY, hi0 = -INFINITY, hi1 = -INFINITY;

#pragma omp simd reduction(+ : s0, s1, q0, q1) reduction(min : lo0, lo1) \
    reduction(max : hi0, hi1)
    for (size_t i = 0; i < pairs; i++) {
        uint32_t word;

        memcpy(&word, row + 2 * i, sizeof word);
        float x = df_f32_from_bits(word << 16);
        float y = df_f32_from_bits(word & 0xffff0000u);

        s0 += x;
        s1 += y;
        q0 += x * x;
        q1 += y * y;
        lo0 = x < lo0 ? x : lo0;
        lo1 = y < lo1 ? y : lo1;
        hi0 = x > hi0 ? x : hi0;
        hi1 = y > hi1 ? y : hi1;
    }
    out->sum = s0 + s1;
    out->squares = q0 + q1;
    out->min = lo0 < lo1 ? lo0 : lo1;
    out->max = hi0 > hi1 ? hi0 : hi1;
}

void
df_scan_measure(struct df_row_measure *out, const uint16_t *row, size_t count)
{
    measure_pairs(out, row, count / 2);
    if (count % 2 > 0) {
        float x = df_f32_from_bf16(row[count - 1]);

        out->sum += x;
        out->squares += x * x;
        out->min = x < out->min ? x : out->min;
        out->max = x > out->max ? x : out->max;
    }
    out->hash = df_check_row(row, count);
    out->uniform = out->min >= out->max;
    for (size_t i = 1; i < count && out->uniform; i++)
        out->uniform = row[i] == row[0];
    out->damaged = false;
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

    if (!m->uniform && isfinite(m->squares) && m->max < LARGE
        && m->min > -LARGE)
        return 0;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        uint64_t n = count_poison(row, count, patterns[i]);

        *pattern = patterns[i];
        if (n > 0)
            return n;
    }
    return 0;
}

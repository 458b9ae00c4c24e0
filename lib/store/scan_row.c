/* Rows: one pass for range and sums, in vectors, and one for the check, which
   finds the row in the cache.  What isn't finite shows in the sum of squares,
   and only then is looked at more closely.  */

#include <config.h>

#include <math.h>
#include <string.h>

#include "dflash/check.h"
#include "dflash/dtype.h"
#include "store/scan_internal.h"

enum {
    STEP = 32, /* elements: a cache line */
    INFINITE = 0x7f80,
    AHEAD = 2048, /* elements; the next row mostly lies behind this one */
    PIECE = 8     /* elements of poison together that show */
};
/* Clang does it by itself, and told to makes no vectors.  */
#ifdef __clang__
#    define UNROLL
#else
#    define UNROLL _Pragma("GCC unroll 4")
#endif
#define LARGE 0x1p26f /* no hidden state is that large */

/* An integer with the order of the floats: a vector has more of those, and
   the minimum of two is one instruction.  */
static inline int16_t
in_order(uint16_t bits)
{
    int16_t x = (int16_t) bits;

    return (int16_t) (x ^ ((x >> 15) & 0x7fff));
}

/* The steps that COUNT elements fill.  Sums, of even and of odd elements, and
   range are kept by the place within a step: in vectors, which stay in
   registers while they are arrays of their own.  So their width changes
   nothing.  */
static inline __attribute__((always_inline)) void
measure_steps(struct df_row_measure *out, const uint16_t *row, size_t count)
{
    float s0[STEP / 2] = {0}, s1[STEP / 2] = {0};
    float q0[STEP / 2] = {0}, q1[STEP / 2] = {0};
    int16_t min[STEP], max[STEP];

    for (int i = 0; i < STEP; i++) {
        min[i] = in_order(INFINITE);
        max[i] = in_order(0x8000 | INFINITE);
    }
    for (size_t at = 0; at + STEP <= count; at += STEP) {
        const uint16_t *step = row + at;

        __builtin_prefetch(step + AHEAD);
        UNROLL
        for (size_t i = 0; i < STEP / 2; i++) {
            uint32_t pair;

            memcpy(&pair, step + 2 * i, sizeof pair);
            float x = df_f32_from_bits(pair << 16);
            float y = df_f32_from_bits(pair & 0xffff0000u);

            s0[i] += x;
            s1[i] += y;
            q0[i] += x * x;
            q1[i] += y * y;
        }
        UNROLL
        for (size_t i = 0; i < STEP; i++) {
            int16_t x = in_order(df_scan_load(step + i));

            min[i] = x < min[i] ? x : min[i];
            max[i] = x > max[i] ? x : max[i];
        }
    }
    int16_t least = min[0], most = max[0];
    float sum = 0, squares = 0;
    for (int i = 0; i < STEP / 2; i++) {
        sum += s0[i] + s1[i];
        squares += q0[i] + q1[i];
    }
    for (int i = 1; i < STEP; i++) {
        least = min[i] < least ? min[i] : least;
        most = max[i] > most ? max[i] : most;
    }
    out->sum = sum;
    out->squares = squares;
    out->min = df_f32_from_bf16((uint16_t) in_order((uint16_t) least));
    out->max = df_f32_from_bf16((uint16_t) in_order((uint16_t) most));
}

/* Vectors of several widths.  The loader's choice among clones is none with
   clang or a sanitizer; a branch a row costs nothing.  */
#ifdef __x86_64__
static __attribute__((target("avx2"))) void
measure_avx2(struct df_row_measure *out, const uint16_t *row, size_t count)
{
    measure_steps(out, row, count);
}

static __attribute__((target("avx512bw,avx512vl"))) void
measure_avx512(struct df_row_measure *out, const uint16_t *row, size_t count)
{
    measure_steps(out, row, count);
}
#endif

static void
measure(struct df_row_measure *out, const uint16_t *row, size_t count)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512vl"))
        measure_avx512(out, row, count);
    else if (__builtin_cpu_supports("avx2"))
        measure_avx2(out, row, count);
    else
#endif
        measure_steps(out, row, count);
}

void
df_scan_measure(struct df_row_measure *out, const uint16_t *row, size_t count)
{
    size_t at = count / STEP * STEP;

    measure(out, row, count);
    out->hash = df_check_row(row, count);
    for (; at < count; at++) {
        float x = df_f32_from_bf16(df_scan_load(row + at));

        out->sum += x;
        out->squares += x * x;
        out->min = x < out->min ? x : out->min;
        out->max = x > out->max ? x : out->max;
    }
    out->uniform = !(out->min < out->max);
    for (size_t i = 1; i < count && out->uniform; i++)
        out->uniform = df_scan_load(row + i) == df_scan_load(row);
    out->damaged = false;
}

void
df_scan_count_specials(const uint16_t *row, size_t count, uint64_t *nans,
                       uint64_t *infs)
{
    *nans = *infs = 0;
    for (size_t i = 0; i < count; i++) {
        *nans += (df_scan_load(row + i) & 0x7fffu) > 0x7f80u;
        *infs += (df_scan_load(row + i) & 0x7fffu) == 0x7f80u;
    }
}

/* The elements of ROW that are PATTERN, if PIECE of them stand together.  */
static uint64_t
count_poison(const uint16_t *row, size_t n, uint16_t pattern)
{
    size_t total = 0, piece = 0, longest = 0;

    for (size_t i = 0; i < n; i++) {
        piece = df_scan_load(row + i) == pattern ? piece + 1 : 0;
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

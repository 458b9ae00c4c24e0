/* buffers.h - memory for tests of operations: random inputs, outputs full of
   NaN between guard words, and comparisons.  */

#ifndef DF_TEST_BUFFERS_H
#define DF_TEST_BUFFERS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GUARD = 32,             /* words before and behind an output */
    GUARD_WORD = 0x7fc0beef /* a NaN */
};

/* Allocation in a test has no way out but the door.  */
static inline void *
must(void *p)
{
    if (!p) {
        fputs("Bail out! out of memory\n", stdout);
        exit(99);
    }
    return p;
}

/* N zeroed elements of SIZE bytes.  */
static inline void *
zeroed(size_t n, size_t size)
{
    return must(n < 1 << 30 ? calloc(n + 1, size) : NULL);
}

/* Uniform in [-1, 1); the same numbers in every run.  */
static inline float
random_float(void)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (float) (state >> 40) / (float) (1 << 23) - 1;
}

static inline float *
random_floats(size_t n)
{
    float *p = zeroed(n, sizeof *p);

    for (size_t i = 0; i < n; i++)
        p[i] = random_float();
    return p;
}

static inline float *
copy_floats(const float *src, size_t n)
{
    return memcpy(zeroed(n, sizeof *src), src, n * sizeof *src);
}

/* N floats that are NaN, with guards around.  */
static inline float *
guarded(size_t n)
{
    uint32_t *p = zeroed(n + 2 * GUARD, sizeof *p);

    for (size_t i = 0; i < n + 2 * GUARD; i++)
        p[i] = GUARD_WORD;
    return (float *) (void *) (p + GUARD);
}

/* Whether the guards around P[0..N) are as they were; frees P.  */
static inline bool
unguard(float *p, size_t n)
{
    uint32_t *words = (uint32_t *) (void *) p - GUARD;
    bool whole = true;

    for (size_t i = 0; i < GUARD; i++)
        whole = whole && words[i] == GUARD_WORD
                && words[GUARD + n + i] == GUARD_WORD;
    free(words);
    return whole;
}

/* Whether the N words of A and B are the same: NaN counts.  */
static inline bool
same_bits(const float *a, const float *b, size_t n)
{
    return memcmp(a, b, n * sizeof *a) == 0;
}

static inline void
fill(float *p, size_t n, float value)
{
    for (size_t i = 0; i < n; i++)
        p[i] = value;
}

/* The greatest |SEEN - WANTED| over the greatest |WANTED|, infinite if
   anything isn't finite.  */
static inline double
error_of(const float *seen, const double *wanted, size_t n)
{
    double diff = 0, size = 1e-30;

    for (size_t i = 0; i < n; i++) {
        double d = fabs((double) seen[i] - wanted[i]);

        if (!isfinite(d))
            return INFINITY;
        diff = d > diff ? d : diff;
        size = fabs(wanted[i]) > size ? fabs(wanted[i]) : size;
    }
    return diff / size;
}

#endif

#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dflash/check.h"
#include "tap/tap.h"

enum {
    N = 43 /* elements: five words and six bytes */
};

static void
fill(uint16_t *row, size_t n, uint64_t key)
{
    for (size_t i = 0; i < n; i++)
        row[i] = (uint16_t) df_philox(key, (uint32_t) i, 0, 0, 0).v[0];
}

/* How many single flipped bits of ROW[n] go unseen.  */
static long
unseen_flips(uint16_t *row, size_t n)
{
    uint64_t check = df_check_row(row, n);
    long unseen = 0;

    for (size_t bit = 0; bit < n * 16; bit++) {
        row[bit / 16] ^= (uint16_t) (1u << bit % 16);
        unseen += df_check_row(row, n) == check;
        row[bit / 16] ^= (uint16_t) (1u << bit % 16);
    }
    return unseen;
}

/* How many swaps of two different words go unseen.  */
static long
unseen_swaps(uint16_t *row, size_t n)
{
    uint64_t check = df_check_row(row, n);
    size_t words = n / 8;
    long unseen = 0;

    for (size_t i = 0; i < words; i++)
        for (size_t k = 0; k < i; k++) {
            uint16_t swapped[4096];

            memcpy(swapped, row, n * sizeof *row);
            memcpy(swapped + i * 8, row + k * 8, 16);
            memcpy(swapped + k * 8, row + i * 8, 16);
            unseen += df_check_row(swapped, n) == check;
        }
    return unseen;
}

/* Checks of rows of N elements that are all one value, for all values: how
   many equal another's.  */
static int
by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static long
equal_checks(size_t n)
{
    static uint64_t checks[65536];
    uint16_t row[512];
    long equal = 0;

    for (unsigned v = 0; v < 65536; v++) {
        for (size_t i = 0; i < n; i++)
            row[i] = (uint16_t) v;
        checks[v] = df_check_row(row, n);
    }
    qsort(checks, 65536, sizeof *checks, by_value);
    for (int i = 1; i < 65536; i++)
        equal += checks[i] == checks[i - 1];
    return equal;
}

/* A sum written down from the definition alone.  */
static uint64_t
by_definition(const uint16_t *row, size_t n)
{
    uint64_t sum = 0;

    for (size_t p = 0; p * 8 < n; p++) {
        uint64_t w[2] = {0, 0};

        for (size_t i = 0; i < 8 && p * 8 + i < n; i++)
            w[i / 4] |= (uint64_t) row[p * 8 + i] << i % 4 * 16;
        sum += df_check_word(w[0], w[1], p);
    }
    return sum;
}

static double
seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

/* How fast it is beside a copy of the same bytes: to be read, not judged. */
static void
compare_speed(void)
{
    size_t H = 4096, rows = 4096, bytes = H * rows * 2;
    uint16_t *a = malloc(bytes), *b = malloc(bytes);
    double best_check = 1e9, best_copy = 1e9;
    uint64_t sum = 0;

    if (!a || !b)
        bail("no memory");
    memset(a, 1, bytes);
    memset(b, 2, bytes);
    for (int i = 0; i < 3; i++) {
        double start = seconds(), middle;

        for (size_t r = 0; r < rows; r++)
            sum += df_check_row(a + r * H, H);
        middle = seconds();
        memcpy(b, a, bytes);
        if (middle - start < best_check)
            best_check = middle - start;
        if (seconds() - middle < best_copy)
            best_copy = seconds() - middle;
    }
    diag("check %.1f GB/s, memcpy %.1f GB/s, ratio %.2f (%llx)",
         1e-9 * (double) bytes / best_check, 1e-9 * (double) bytes / best_copy,
         best_copy / best_check, (unsigned long long) (sum + b[7]));
    free(a);
    free(b);
}

int
main(void)
{
    uint16_t row[N + 8] = {0}, odd[4096], *shifted;
    uint64_t check;

    plan(14);
    ok(df_check_row(row, 0) == 0, "no element: 0");
    ok(df_check_row(row, N) != 0, "a row of zeros has a check");
    ok(df_check_row(row, 8) != df_check_row(row, 16),
       "rows of zeros of other lengths have others");
    ok(df_check_row(row, 8) == 0x8dd9092e2a448508u,
       "one word of zeros, as another program has it");
    for (uint16_t i = 0; i < 13; i++)
        row[i] = (uint16_t) (i + 1);
    ok(df_check_row(row, 13) == 0x825f01f9d72d840cu,
       "1 to 13, as another program has it");
    fill(row, N, 1);
    for (size_t n = 0; n <= N; n++)
        if (df_check_row(row, n) != by_definition(row, n))
            bail("%zu elements differ from the definition", n);
    ok(1, "all lengths up to %d agree with the definition", N);
    is_long(0, unseen_flips(row, N), "every flipped bit shows");
    memset(row, 0, sizeof row);
    is_long(0, unseen_flips(row, N), "in a row of zeros too");
    fill(odd, 2560, 2);
    is_long(0, unseen_swaps(odd, 2560), "every swap of two words shows");
    for (size_t i = 0; i < 2560; i++)
        odd[i] = (uint16_t) (i / 8);
    is_long(0, unseen_swaps(odd, 2560), "so it does among words of one value");
    is_long(0, equal_checks(8), "one word: rows of one value all differ");
    is_long(0, equal_checks(512), "64 words: rows of one value all differ");
    fill(row, N, 3);
    shifted = (uint16_t *) ((char *) odd + 1);
    memcpy(shifted, row, N * sizeof *row);
    ok(df_check_row((void *) shifted, N) == df_check_row(row, N),
       "a row at an odd address counts the same");
    check = df_check_row(row, N);
    memmove(row + 1, row, (N - 1) * sizeof *row);
    ok(df_check_row(row, N) != check, "a row moved by one element differs");
    compare_speed();
    return 0;
}

#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dflash-bench/stats.h"

static int
compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

double
quantile(const double *sorted, size_t n, double q)
{
    double at = q * (double) (n - 1), low = floor(at);
    size_t i = (size_t) low;

    if (i + 1 >= n)
        return sorted[n - 1];
    return sorted[i] + (at - low) * (sorted[i + 1] - sorted[i]);
}

struct summary
summarize(const double *samples, size_t n, double *sorted)
{
    struct summary s;

    memcpy(sorted, samples, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare);
    s.min = sorted[0];
    s.median = quantile(sorted, n, 0.5);
    s.p95 = quantile(sorted, n, 0.95);
    s.spread = s.median > 0
                   ? (quantile(sorted, n, 0.75) - quantile(sorted, n, 0.25))
                         / s.median
                   : 0;
    return s;
}

/* How many of the pairs (a, b) have a > b, an equal pair being half a one.
   TIES gets the sum of t^3 - t over groups of t equal samples.  */
static double
pairs_larger(const double *a, size_t n_a, const double *b, size_t n_b,
             double *ties)
{
    double pairs = 0;

    *ties = 0;
    for (size_t i = 0; i < n_a; i++) {
        double equal = 0;

        for (size_t k = 0; k < n_b; k++) {
            pairs += a[i] > b[k] ? 1 : a[i] == b[k] ? 0.5 : 0;
            equal += a[i] == b[k];
        }
        for (size_t k = 0; k < n_a; k++)
            equal += a[i] == a[k];
        /* Each sample of a group adds its part of t^3 - t.  */
        *ties += equal * equal - 1;
    }
    for (size_t i = 0; i < n_b; i++) {
        double equal = 0;

        for (size_t k = 0; k < n_a; k++)
            equal += b[i] == a[k];
        for (size_t k = 0; k < n_b; k++)
            equal += b[i] == b[k];
        *ties += equal * equal - 1;
    }
    return pairs;
}

double
chance_of_larger(const double *a, size_t n_a, const double *b, size_t n_b)
{
    double na = (double) n_a, nb = (double) n_b, n = na + nb, ties;
    double u = pairs_larger(a, n_a, b, n_b, &ties);
    double variance = na * nb / 12 * (n + 1 - ties / (n * (n - 1)));

    if (!(variance > 0))
        return 1;
    return 0.5 * erfc((u - na * nb / 2 - 0.5) / sqrt(2 * variance));
}

/* stats.h - what samples say.  */

#ifndef DF_BENCH_STATS_H
#define DF_BENCH_STATS_H

#include <stddef.h>

struct summary {
    double min, median, p95;
    double spread; /* the range of the middle half, over the median */
};

/* Of N samples, at least one.  SORTED has room for N, and gets them.  */
struct summary summarize(const double *samples, size_t n, double *sorted);

/* The quantile Q, within [0, 1], of SORTED samples, between two of them on a
   straight line.  */
double quantile(const double *sorted, size_t n, double q);

/* The probability of A's samples being so much larger than B's by chance if
   both come from the same source: the rank test of Mann and Whitney, one
   side, by the normal distribution, corrected for ties.  */
double chance_of_larger(const double *a, size_t n_a, const double *b,
                        size_t n_b);

#endif

/* When a time is another time: apart from files, for the tests.  */

#include <config.h>

#include "dflash-bench/baseline.h"

/* Of many cases compared, few may seem changed by chance alone.  */
static const double significant = 1e-3;

/* Slower is what is slower by more than LIMIT in its least sample, in the
   lower quartile and in the median, and by the rank test: disturbances
   lengthen a part of the samples, a change lengthens all.  */
struct comparison
compare_samples(const double *new_sorted, size_t n_new,
                const double *old_sorted, size_t n_old, double limit)
{
    struct comparison c = {.ratio = 1, .chance = 1};
    double median = quantile(old_sorted, n_old, 0.5);
    double low = quantile(old_sorted, n_old, 0.25);
    double most = 1 + limit, quarter, least;

    if (!(old_sorted[0] > 0))
        return c;
    least = new_sorted[0] / old_sorted[0];
    c.ratio = quantile(new_sorted, n_new, 0.5) / median;
    quarter = quantile(new_sorted, n_new, 0.25) / low;
    c.chance = c.ratio >= 1
                   ? chance_of_larger(new_sorted, n_new, old_sorted, n_old)
                   : chance_of_larger(old_sorted, n_old, new_sorted, n_new);
    c.slower = c.ratio > most && quarter > most && least > most
               && c.chance < significant;
    c.faster = c.ratio * most < 1 && quarter * most < 1 && least * most < 1
               && c.chance < significant;
    return c;
}

/* baseline.h - the results of an earlier run, and what became of them.

   A baseline is what --json prints, a result a line.  */

#ifndef DF_BENCH_BASELINE_H
#define DF_BENCH_BASELINE_H

#include "dflash-bench/bench.h"

struct baseline;

/* Read PATH.  DF_FORMAT for what isn't a baseline, DF_INVALID for one of
   another version, or of another model of a device that B measures on.  */
DF_MUST_USE df_status baseline_read(struct baseline **out, const char *path,
                                    const struct bench *b);
void baseline_free(struct baseline *base);

/* Whether R, whose summary is set, is slower than in BASE, by more than the
   limit and not by chance.  False if BASE is NULL or lacks R.  */
bool baseline_slower(const struct baseline *base, const struct result *r);

/* Print a table of RESULTS over BASE, one by one.  *SLOWER is how many are,
   over the limit.  DF_INVALID if BASE has none of them.  */
DF_MUST_USE df_status baseline_report(const struct baseline *base,
                                      const struct results *results,
                                      size_t *slower);

/* For both: NEW's samples against OLD's.  */
struct comparison {
    double ratio;  /* of the medians, new over old */
    double chance; /* of such samples if nothing had changed, one side */
    bool slower, faster;
};
struct comparison compare_samples(const double *new_sorted, size_t n_new,
                                  const double *old_sorted, size_t n_old,
                                  double limit);

#endif

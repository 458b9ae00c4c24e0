/* What is a change and what is chance, on samples that are made up.  */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "dflash-bench/baseline.h"
#include "dflash/philox.h"
#include "tap/tap.h"

enum {
    N = 20
};
static const double limit = 0.05;

static double
uniform(uint32_t run, uint32_t i)
{
    return (double) df_uniform(df_philox(9, run, i, 0, 0).v[0]);
}

/* N samples around MEAN: within SPREAD of it, and every fifth up to half as
   long again, as where something else runs.  */
static void
make(double *sorted, uint32_t run, double mean, double spread, bool disturbed)
{
    double samples[N];

    for (uint32_t i = 0; i < N; i++) {
        samples[i] = mean * (1 + spread * (2 * uniform(run, i) - 1));
        if (disturbed && i % 5 == 0)
            samples[i] *= 1 + uniform(run + 1000, i) / 2;
    }
    (void) summarize(samples, N, sorted);
}

static void
test_summary(void)
{
    static const double samples[] = {5, 1, 4, 2, 3};
    double sorted[5];
    struct summary s = summarize(samples, 5, sorted);

    ok(fabs(s.min - 1) < 1e-12 && fabs(s.median - 3) < 1e-12,
       "minimum and median");
    ok(fabs(s.p95 - 4.8) < 1e-12, "the 95th percentile lies between two");
    ok(fabs(s.spread - 2.0 / 3) < 1e-12,
       "the spread is the range of the middle half");
    s = summarize(samples, 1, sorted);
    ok(fabs(s.min - 5) < 1e-12 && fabs(s.p95 - 5) < 1e-12 && s.spread < 1e-12,
       "one sample is everything");
}

/* Against tables of the test: 10 against 10, all larger, U = 100.  */
static void
test_chance(void)
{
    double a[10], b[10];

    for (int i = 0; i < 10; i++) {
        a[i] = 11 + i;
        b[i] = 1 + i;
    }
    ok(fabs(chance_of_larger(a, 10, b, 10) - 9.13e-5) < 1e-6,
       "all larger: U = 100 of 100");
    ok(chance_of_larger(b, 10, a, 10) > 0.999, "all smaller");
    ok(fabs(chance_of_larger(a, 10, a, 10) - 0.515) < 0.01,
       "the same: an even chance");
    for (int i = 0; i < 10; i++)
        a[i] = b[i] = 7;
    ok(chance_of_larger(a, 10, b, 10) > 0.999, "all equal say nothing");
}

/* How many of 200 comparisons say "slower", the new runs being FACTOR times
   as long.  */
static long
alarms(double factor, double spread, bool disturbed)
{
    long n = 0;

    for (uint32_t run = 0; run < 200; run++) {
        double old[N], new[N];

        make(old, 2 * run, 1e-3, spread, disturbed);
        make(new, 2 * run + 1, 1e-3 * factor, spread, disturbed);
        n += compare_samples(new, N, old, N, limit).slower;
    }
    return n;
}

static void
test_alarms(void)
{
    is_long(0, alarms(1, 0.01, false), "a quiet machine: no false alarm");
    is_long(0, alarms(1, 0.01, true), "a disturbed one: none either");
    is_long(0, alarms(1, 0.1, true), "nor where times spread by 20 %%");
    is_long(200, alarms(1.1, 0.01, false), "10 %% more is always noticed");
    is_long(200, alarms(1.1, 0.01, true), "also when disturbed");
    is_long(0, alarms(1.03, 0.01, false), "3 %% are within the limit");
    is_long(0, alarms(0.9, 0.01, false), "less isn't more");
}

static void
test_comparison(void)
{
    double old[N], new[N];
    struct comparison c;

    make(old, 1, 1e-3, 0.01, false);
    make(new, 2, 0.8e-3, 0.01, false);
    c = compare_samples(new, N, old, N, limit);
    ok(c.faster && !c.slower && fabs(c.ratio - 0.8) < 0.02,
       "20 %% less is faster");
    ok(c.chance < 1e-6, "and not by chance");
    c = compare_samples(old, 2, new, 2, limit);
    ok(!c.slower, "two samples are too few to say");
}

int
main(void)
{
    plan(4 + 4 + 7 + 3);
    test_summary();
    test_chance();
    test_alarms();
    test_comparison();
    return 0;
}

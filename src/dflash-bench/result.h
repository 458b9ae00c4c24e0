/* result.h - what was measured of a case.  */

#ifndef DF_BENCH_RESULT_H
#define DF_BENCH_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include "dflash-bench/stats.h"
#include "dflash/error.h"

enum {
    MAX_EXTRAS = 12,
    MAX_SERIES = 2
};

/* A number that only some suites have; its key names its unit.  */
struct extra {
    const char *key; /* "latency_us", a constant */
    double value;
    bool part; /* one of the parts that make up the time */
};

/* Numbers by their place, which only JSON has.  */
struct series {
    const char *key; /* a constant */
    double *values;  /* [n] */
    size_t n;
};

enum verdict {
    RESULT_UNCHECKED,
    RESULT_RIGHT,
    RESULT_WRONG,
    RESULT_SKIPPED /* it can't run here */
};

struct result {
    const char *suite, *device; /* their owners outlive the results */
    char *name;
    double *samples;       /* [n] seconds a call; n = 0: no times were taken */
    double *sorted, *kept; /* of the same size */
    size_t n, n_kept;
    struct summary s; /* of the samples */
    double amount;    /* of UNIT times seconds, in a call */
    const char *unit; /* "GB/s", "TFLOP/s", "tokens/s" */
    double ceiling;   /* of the device, in UNIT; 0: none is known */
    double error;     /* against the reference; below 0: not compared */
    enum verdict verdict;
    char why[200]; /* it is WRONG or SKIPPED */
    struct extra extras[MAX_EXTRAS];
    size_t n_extras;
    struct series series[MAX_SERIES];
    size_t n_series;
};

struct results {
    struct result **items;
    size_t n, room;
};

/* A result of SUITE's case NAME on DEVICE with room for N samples, at the
   end of LIST.  */
DF_MUST_USE df_status result_new(struct results *list, const char *suite,
                                 const char *name, const char *device,
                                 size_t n, struct result **out);
void result_free(struct result *r);
void results_clear(struct results *list);

/* Set the summary.  */
void result_summarize(struct result *r);

/* Lay the samples aside; go back to those if their median is the smaller
   one.  */
void result_keep(struct result *r);
void result_take_better(struct result *r);

void result_extra(struct result *r, const char *key, double value);
void result_part(struct result *r, const char *key, double value);

/* VALUES are copied.  */
DF_MUST_USE df_status result_series(struct result *r, const char *key,
                                    const double *values, size_t n);

/* The extra of that KEY, or 0.  */
double result_get(const struct result *r, const char *key);

/* The rate of the median, in UNIT.  */
double result_rate(const struct result *r);

/* "right", "WRONG", "skipped", or "-".  */
const char *result_verdict(const struct result *r);

#endif

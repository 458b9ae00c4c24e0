/* feed.h - samples of a workload, as a run takes them.  */

#ifndef DF_BENCH_FEED_H
#define DF_BENCH_FEED_H

#include "dflash-bench/workload.h"
#include "dflash/train.h"

enum {
    FEED_THREADS = 2 /* that read */
};

struct feed {
    const struct workload *w;
    struct shape shape;
    int32_t *ids;  /* [FEED_THREADS,length] */
    uint8_t *mask; /* the same */
    struct df_plan *plan;
};

/* An epoch of ALL batches of SHAPE, of which the plan takes STEPS steps of
   PER_STEP batches: the first are the same whatever STEPS is.  All zero
   before; close it after a failure too.  */
DF_MUST_USE df_status feed_open(struct feed *f, const struct workload *w,
                                struct shape shape, size_t all, int64_t steps,
                                size_t per_step);
void feed_close(struct feed *f);

/* Of a df_source, ARG being a feed.  */
df_status feed_read(void *arg, size_t thread, uint32_t index,
                    struct df_sample *out);

/* What all runs over F have in common.  */
struct df_run_options feed_options(struct feed *f);

/* The device memory in use on the N devices, in GiB.  */
double gibibytes(struct df_device *const *devices, size_t n);

#endif

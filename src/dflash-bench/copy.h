/* copy.h - a case of copies, and the product that may run beside them.  */

#ifndef DF_BENCH_COPY_H
#define DF_BENCH_COPY_H

#include "dflash-bench/bench.h"
#include "dflash-bench/copy_buffers.h"
#include "dflash-bench/load.h"

enum {
    COPY_MAX_DEPTH = 8
};

enum copy_kind {
    COPY_D2H,
    COPY_H2D,
    COPY_BOTH,
    COPY_D2D,
    COPY_PEER
};
/* What all cases of a device share.  */
struct copy_suite {
    struct bench *bench;
    struct df_device *dev;
    size_t room; /* bytes of a buffer */
    struct copy_buffers buffers;
};

struct copy_lane {
    struct df_stream *stream;
    struct df_event *done[COPY_MAX_DEPTH];
};

struct copy_work {
    struct copy_suite *suite;
    enum copy_kind kind;
    struct df_device *other; /* of a peer */
    enum copy_memory memory; /* on the host's side */
    size_t size, depth, lanes;
    size_t places; /* in the buffers, that copies take turns in */
    bool loaded;   /* beside a matrix product */
    struct copy_lane lane[COPY_MAX_LANES];

    struct load load;
    struct df_stream *compute;
    struct df_event *begin, *end; /* timed, around COUNTED products */
    struct df_event *last;        /* of all products */
    size_t counted;
    double product_alone, copy_alone; /* seconds of one */
    double product_loaded;            /* sum over runs, seconds of one */
    size_t runs;
};

/* CALLS copies by each lane, which took *SECONDS.  */
DF_MUST_USE df_status copy_some(struct copy_work *w, size_t calls,
                                double *seconds);

/* copy_load.c.  Close it after a failure too, and if it never was opened.  */
DF_MUST_USE df_status copy_load_open(struct copy_work *w);
void copy_load_close(struct copy_work *w);

/* The same as copy_some while products run, whose times are kept.  */
DF_MUST_USE df_status copy_beside(struct copy_work *w, size_t calls,
                                  double *seconds);

#endif

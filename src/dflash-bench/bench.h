/* bench.h - what a suite works with.

   A suite describes its cases, one after the other, to bench_case, which
   looks whether a case is wanted, and then does for each

       open -> check -> warm up -> sample N times -> close -> a line

   A case either queues calls, which bench_case times on the device
   (sampler.h), or runs some and times them itself, which is for work of
   which the host is a part.  */

#ifndef DF_BENCH_BENCH_H
#define DF_BENCH_BENCH_H

#include <regex.h>
#include <stdio.h>

#include "common/places.h"
#include "dflash-bench/result.h"
#include "dflash-bench/sampler.h"

enum ceiling {
    CEILING_NONE,
    CEILING_COPY,   /* a copy within the device, bytes read and written */
    CEILING_PRODUCT /* a large matrix product */
};

struct bench_case {
    const char *name; /* one word; no other case of the suite has it */
    struct df_device *dev;
    void *arg;        /* for the functions */
    double bytes;     /* moved by a call: read and written, or copied */
    double flops;     /* of a call; then the unit is TFLOP/s, else GB/s */
    const char *unit; /* not NULL: another unit, */
    double amount;    /* and so much of it times seconds in a call */
    enum ceiling ceiling;
    size_t entries; /* that a call queues; 0: 1 */
    bool warm;      /* leave in the cache what calls before left there */

    /* Make what the calls need; this and CHECK may change the numbers above.
       DF_UNSUPPORTED and DF_NO_MEMORY: the case can't run here.  CLOSE comes
       in any case.  */
    df_status (*open)(void *arg);
    void (*close)(void *arg);
    /* One of these: queue a call; do CALLS calls, which took *SECONDS.  */
    queue_fn *queue;
    df_status (*run)(void *arg, size_t calls, double *seconds);
    /* Do a call, or more, and look at what came out: DF_DEVICE if it's
       wrong, saying what.  ERROR is -1 before.  */
    df_status (*check)(void *arg, double *error);
    /* NULL, or add to the RESULT whose samples are taken.  */
    void (*finish)(void *arg, struct result *result);
};

/* What a device can do at most, measured as the run begins.  */
struct ceilings {
    double copy;    /* GB/s */
    double product; /* TFLOP/s */
    double empty;   /* seconds between two events with nothing in between */
};

/* A device, and what measuring on it takes.  */
struct station {
    struct df_device *dev;
    struct df_device_info info;
    struct sampler sampler;
    struct ceilings ceilings;
    bool measured; /* the ceilings */
};

struct bench {
    struct places places;
    struct place_list devices;
    struct station stations[MAX_PLACES]; /* of DEVICES */
    regex_t only;
    bool has_only;
    const char *suite; /* the one that runs */
    struct results results;
    struct baseline *baseline; /* NULL: none */
    struct workload *workload; /* NULL: no suite needed a target yet */
    size_t selected;           /* cases */
    char *command;             /* the command line */
    char date[32];
};

/* A suite: calls bench_case for its cases, on all devices.  */
struct suite {
    const char *name;
    const char *what; /* for --list */
    df_status (*run)(struct bench *b);
};

/* Ends with an all-zero row.  */
extern const struct suite suites[];

df_status bench_ops(struct bench *b);
df_status bench_pack(struct bench *b);
df_status bench_copy(struct bench *b);
df_status bench_postprocess(struct bench *b);
df_status bench_forward(struct bench *b);
df_status bench_step(struct bench *b);
df_status bench_pipeline(struct bench *b);
df_status bench_capture(struct bench *b);
df_status bench_sweep(struct bench *b);
df_status bench_spec(struct bench *b);

/* Whether the case NAME of the suite that runs is wanted on DEV; counts it,
   and prints it for --list, which then wants nothing.  */
bool bench_wants(struct bench *b, const char *name,
                 const struct df_device *dev);

/* Measure C if it is wanted.  A failure of C's is a failure of the run, but
   for what its functions may return.  */
DF_MUST_USE df_status bench_case(struct bench *b, const struct bench_case *c);

/* For suites that take samples in another way: a result for N samples of the
   case NAME on DEV, and its line when they are in.  */
DF_MUST_USE df_status bench_begin(struct bench *b, const char *name,
                                  struct df_device *dev, size_t n,
                                  struct result **out);
void bench_end(struct bench *b, struct result *r);

/* The station of DEV.  */
struct station *bench_station(struct bench *b, const struct df_device *dev);

/* Where lines that begin with '#' go: not between JSON objects.  */
FILE *remarks(void);

/* header.c: measure the ceilings; what the results hold for, and the clocks
   after them.  */
DF_MUST_USE df_status bench_ceilings(struct bench *b);
void print_header(const struct bench *b);
DF_MUST_USE df_status print_footer(struct bench *b);

/* print.c */
void print_columns(void);
void print_result(const struct bench *b, const struct result *r);

/* json.c: RESULT with all that the header says, in a line.  */
df_status json_write(FILE *fp, const struct bench *b, const struct result *r);

/* plot.c */
DF_MUST_USE df_status plot_results(const struct results *results,
                                   const char *path);

#endif

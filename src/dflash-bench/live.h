/* live.h - live training: runs of it, on the clock.

   A run has so many steps:

       begin | HEAD: the reservoir fills | window: N samples | stop

   A sample is the time from one step's record to the next one's.  The run is
   stopped while it goes on, so the window knows neither a beginning nor an
   end.  Losses of its first steps must be those of a run in which nothing
   overlaps: a capture, then training from that.  */

#ifndef DF_BENCH_LIVE_H
#define DF_BENCH_LIVE_H

#include "dflash-bench/feed.h"

enum {
    LIVE_CHECKED = 3 /* steps whose losses are compared */
};

/* Which devices carry what.  */
struct placement {
    struct df_device *devices[MAX_PLACES]; /* targets, then drafters */
    struct df_device *const *targets, *const *drafters;
    size_t n_devices, n_targets, n_drafters;
    char name[16]; /* "1+1", or "" if it's all one device */
};

struct live {
    struct bench *b;
    const struct placement *place;
    struct shape shape;
    enum df_transport transport;
    bool split, compile;
    size_t depth, ready;
};

/* What a run showed.  */
struct live_run {
    struct result *r; /* gets the samples; NULL: only losses are wanted */
    size_t wanted, head;
    double losses[LIVE_CHECKED];
    size_t steps; /* recorded so far */
    double last_seconds, accept;
    struct df_run_stats begin, end; /* of the window */
    bool complete;                  /* it came to its end */
    double gibibytes;
    struct df_run *run;
};

/* Losses that are known for a placement, so that a run without overlap is
   made once for all settings that must not matter.  */
struct live_reference {
    struct shape shape;
    double losses[LIVE_CHECKED];
    bool known;
};

/* The placements over B's devices: each alone, and, of several, the first
   half for targets and the rest for drafters.  Call MEASURE for each.  */
typedef df_status placement_fn(struct bench *b, const struct placement *p);
DF_MUST_USE df_status each_placement(struct bench *b, placement_fn *measure);

/* Whether P's targets and drafters are GPUs that reach each other.  */
bool placement_has_peers(const struct placement *p);

/* Measure L as the case NAME, with MOST samples; TABLE: print the stages.
 *OUT gets tokens a second, 0 if no time was taken or losses are wrong.  */
DF_MUST_USE df_status live_case(const struct live *l, const char *name,
                                size_t most, struct live_reference *ref,
                                bool table, double *out);

/* live_reference.c: set REF to what L's losses have to be; STEPS is the
   length of the schedule.  */
DF_MUST_USE df_status live_know(const struct live *l, int64_t steps,
                                struct live_reference *ref);

#endif

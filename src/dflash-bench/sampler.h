/* sampler.h - how long queued work takes.

   A sample is a batch of calls queued behind a closed gate, so that the
   device never waits for the host, between events that keep their time:

       cold:  hold | flush [e call e] flush [e call e] ... | open
       warm:  hold | [e call call call ... e]              | open

   Cold, the cache is overwritten before each call, outside what is timed.
   A sample's value is the time between the events, divided by the calls.  */

#ifndef DF_BENCH_SAMPLER_H
#define DF_BENCH_SAMPLER_H

#include <stdbool.h>

#include "dflash/device.h"

enum {
    SAMPLER_MAX_CALLS = 64, /* in a batch */
    SAMPLER_ENTRIES = 480   /* that may be queued behind the gate */
};

/* Queue one call on STREAM.  */
typedef df_status queue_fn(void *arg, struct df_stream *stream);

struct sampler {
    struct df_device *dev;
    struct df_stream *stream;
    struct df_gate *gate;
    struct df_event *events[2 * SAMPLER_MAX_CALLS];
    void *cache; /* device memory that overwrites the cache */
    size_t cache_bytes;
};

/* All zero before; clear it after a failure too.  */
DF_MUST_USE df_status sampler_open(struct sampler *s, struct df_device *dev);
void sampler_close(struct sampler *s);

/* Do a call, and wait for it: what the stream allocates for it can't be
   allocated behind the gate.  */
DF_MUST_USE df_status sampler_warm_up(struct sampler *s, queue_fn *queue,
                                      void *arg);

/* One sample of CALLS calls, at most SAMPLER_MAX_CALLS: seconds a call.  */
DF_MUST_USE df_status sampler_take(struct sampler *s, queue_fn *queue,
                                   void *arg, size_t calls, bool cold,
                                   double *seconds);

/* The calls that a sample needs to last MIN_TIME, if one takes SECONDS and
   queues ENTRIES entries.  */
size_t sampler_calls(double min_time, double seconds, size_t entries);

/* Seconds of the host's clock.  */
double now_seconds(void);

#endif

/* scene.h - a stream that is timed, and memory that goes with it: what a
   forward pass or a step is measured in.  */

#ifndef DF_BENCH_SCENE_H
#define DF_BENCH_SCENE_H

#include "dflash-bench/sampler.h"
#include "dflash/batch.h"

enum {
    SCENE_MAX = 24 /* pieces of memory */
};

struct scene {
    struct df_device *dev;
    struct df_stream *stream;
    struct df_event *begin, *end; /* timed */
    void *memory[SCENE_MAX];
    size_t n;
    uint64_t bytes_before; /* of the device, in use when the scene opened */
};

/* All zero before; close it after a failure too.  */
DF_MUST_USE df_status scene_open(struct scene *s, struct df_device *dev);
void scene_close(struct scene *s);

/* BYTES of device memory until the scene closes; N random values of the
   device's activations.  */
DF_MUST_USE df_status scene_alloc(struct scene *s, size_t bytes, void **out);
DF_MUST_USE df_status scene_random(struct scene *s, size_t n, void **out);

/* BATCH on the device.  */
DF_MUST_USE df_status scene_mirror(struct scene *s,
                                   const struct df_batch *batch,
                                   struct df_batch_arrays *out);

/* BYTES from device memory into plain memory, when all that is queued is
   done; the caller frees *OUT.  */
DF_MUST_USE df_status scene_fetch(struct scene *s, const void *from,
                                  size_t bytes, void **out);

/* SECONDS of CALLS calls of QUEUE, one behind the other, by events.  */
DF_MUST_USE df_status scene_time(struct scene *s, queue_fn *queue, void *arg,
                                 size_t calls, double *seconds);

/* One call, and the floating-point operations that it queued.  */
DF_MUST_USE df_status scene_count(struct scene *s, queue_fn *queue, void *arg,
                                  double *flops);

/* GiB of the device in use for what was opened since the scene was.  */
double scene_gibibytes(const struct scene *s);

#endif

/* device.h - devices, their memory, streams and events.

   A device makes memory, streams and events.  Work is queued on a stream
   and runs in the order it was queued; the call that queues it returns at
   once.  Streams of one device run beside each other; events order them:

       compute: [forward] [pack] (record packed) [forward] ...
       copy:                     (wait packed)   [copy] (record copied)
       host:                                     (wait copied) publish

   The CPU device keeps these rules with threads: a stream is a thread with
   a queue, an event is a condition.  So what is wrong with an order shows
   without a GPU.

   A failure of queued work sticks to its stream: it is returned by every
   later df_stream_sync and by df_event_wait of events recorded behind it,
   and no later work of that stream runs.  Such events count as reached, and
   a stream that waits for one fails in the same way.  */

#ifndef DFLASH_DEVICE_H
#define DFLASH_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dflash/dtype.h"
#include "dflash/error.h"

DF_BEGIN_DECLS

struct df_device;
struct df_stream;
struct df_event;
struct df_gate;
struct df_graph;

enum df_memory {
    DF_MEM_DEVICE, /* where the operations compute */
    DF_MEM_HOST    /* host memory that copies run fast from: pinned */
};

/* Numbers of a device since it was opened; the live ones never shrink the
   peaks.  */
struct df_device_stats {
    uint64_t allocations; /* calls of df_device_alloc, both memories, and
                             growth of the device's own scratch */
    uint64_t device_bytes, device_peak_bytes;
    uint64_t host_bytes, host_peak_bytes;
    double flops; /* floating-point operations queued so far */
};

/* Open the device NAME: "cpu" or "cpu:N", "cuda:N".  Several CPU devices
   share the threads of the machine.  DF_INVALID for a name of another form,
   DF_UNSUPPORTED for a kind this build lacks, DF_DEVICE if the runtime
   refuses, saying why.  The caller closes what it opened, after all of the
   device's memory, streams and events.  */
DF_EXPORT DF_MUST_USE df_status df_device_open(struct df_device **out,
                                               const char *name);
DF_EXPORT void df_device_close(struct df_device *dev);

/* How many GPUs there are, "cuda:0" being the first.  If none, WHY points to
   the reason, a constant.  */
DF_EXPORT int df_cuda_devices(const char **why);

DF_EXPORT const char *df_device_name(const struct df_device *dev);
DF_EXPORT bool df_device_is_cpu(const struct df_device *dev);

/* The type that activations and compute weights have on DEV: DF_F32 on a
   CPU, DF_BF16 on a GPU.  The headers call it "act".  */
DF_EXPORT enum df_dtype df_device_act(const struct df_device *dev);

DF_EXPORT void df_device_get_stats(const struct df_device *dev,
                                   struct df_device_stats *out);

/* What a device is, for a report.  Texts are empty and numbers 0 where nobody
   tells.  */
struct df_device_info {
    char model[96]; /* "NVIDIA H200"; a CPU: what the processor calls itself */
    char driver[32];  /* "580.65.06"; of GPUs alone */
    char runtime[64]; /* "CUDA 13.0"; a CPU: what makes its products */
    uint64_t memory_bytes, free_bytes;
    uint64_t cache_bytes;              /* the last one before the memory */
    unsigned units;                    /* multiprocessors, or cores */
    unsigned clock_mhz, max_clock_mhz; /* now, and at most */
    unsigned memory_clock_mhz;         /* now */
};
DF_EXPORT DF_MUST_USE df_status df_device_describe(struct df_device *dev,
                                                   struct df_device_info *out);

/* Whether copies between DEV and OTHER go from one to the other, not through
   the host.  */
DF_EXPORT bool df_device_reaches(const struct df_device *dev,
                                 const struct df_device *other);

/* The OPENBLAS_CORETYPE that would make products on the CPU faster: OpenBLAS
   fell back to loops for any processor, and this one can run better ones.
   NULL if there is nothing to gain.  */
DF_EXPORT const char *df_cpu_better_core(void);

/* Allocate BYTES, aligned to 256; contents are undefined.  DF_NO_MEMORY says
   how much was asked.  Freeing NULL is allowed.  */
DF_EXPORT DF_MUST_USE df_status df_device_alloc(struct df_device *dev,
                                                enum df_memory kind,
                                                size_t bytes, void **out);
DF_EXPORT void df_device_free(struct df_device *dev, enum df_memory kind,
                              void *ptr);

/* A stream called NAME in messages and profiles (copied).  Freeing waits
   for what is queued.  */
DF_EXPORT DF_MUST_USE df_status df_stream_new(struct df_stream **out,
                                              struct df_device *dev,
                                              const char *name);
DF_EXPORT void df_stream_free(struct df_stream *stream);
DF_EXPORT struct df_device *df_stream_device(const struct df_stream *stream);

/* Block the calling thread until all that was queued on STREAM has run.  */
DF_EXPORT DF_MUST_USE df_status df_stream_sync(struct df_stream *stream);

/* An event that counts as reached until it is first recorded.  */
DF_EXPORT DF_MUST_USE df_status df_event_new(struct df_event **out,
                                             struct df_device *dev);
DF_EXPORT void df_event_free(struct df_event *event);

/* Queue on STREAM: EVENT, of the same device, is reached.  Recording again
   moves it.  */
DF_EXPORT DF_MUST_USE df_status df_event_record(struct df_event *event,
                                                struct df_stream *stream);

/* Queue on STREAM: go on only when EVENT, as recorded by now, is reached.
   EVENT may belong to another device.  */
DF_EXPORT DF_MUST_USE df_status df_stream_wait(struct df_stream *stream,
                                               struct df_event *event);

/* Block the calling thread until EVENT, as recorded by now, is reached.  */
DF_EXPORT DF_MUST_USE df_status df_event_wait(struct df_event *event);

/* Whether EVENT is reached, without waiting.  */
DF_EXPORT bool df_event_reached(struct df_event *event);

/* An event that also keeps the time at which it is reached.  It may neither
   be freed nor recorded again before it is.  */
DF_EXPORT DF_MUST_USE df_status df_event_new_timed(struct df_event **out,
                                                   struct df_device *dev);

/* The *SECONDS from FROM to TO, both timed events of one device that have
   been recorded, after waiting for both.  */
DF_EXPORT DF_MUST_USE df_status df_event_seconds(struct df_event *from,
                                                 struct df_event *to,
                                                 double *seconds);

/* A gate, to queue work without any of it running: so a measurement leaves
   out how long queuing takes.  Less may be queued behind a closed gate than
   a stream has room for, 512 entries; no memory may be allocated or freed
   meanwhile, nothing be queued in a size for the first time, and nothing be
   copied from or to memory that is neither device memory nor pinned.  */
DF_EXPORT DF_MUST_USE df_status df_gate_new(struct df_gate **out,
                                            struct df_device *dev);
/* What it held must have run: open it and wait for the streams before.  */
DF_EXPORT void df_gate_free(struct df_gate *gate);

/* Queue on STREAM, of the same device: wait until GATE is opened next.  A
   GPU gives up after 10 s and goes on.  */
DF_EXPORT DF_MUST_USE df_status df_gate_hold(struct df_gate *gate,
                                             struct df_stream *stream);

/* Let all go on that GATE holds.  */
DF_EXPORT void df_gate_open(struct df_gate *gate);

/* Queue a copy of BYTES; either side may be device or host memory (of
   another device too).  Both must stay valid and unchanged until an event
   recorded behind the copy is reached.  */
DF_EXPORT DF_MUST_USE df_status df_copy(struct df_stream *stream, void *dst,
                                        const void *src, size_t bytes);

/* Queue: each of the BYTES at device memory DST becomes VALUE.  */
DF_EXPORT DF_MUST_USE df_status df_fill(struct df_stream *stream, void *dst,
                                        int value, size_t bytes);

/* Queue, at the end of a warm-up: whatever threads work for STREAM's device
   get as much memory as the largest operation so far took on any stream.
   Nothing that isn't larger allocates behind this.  */
DF_EXPORT DF_MUST_USE df_status df_settle(struct df_stream *stream);

/* From here to df_graph_end, what the calling thread queues on STREAM isn't
   run but recorded: operations, fills, and copies within the device, all of
   which must have been queued in the same sizes before.  DF_UNSUPPORTED if
   the device has no graphs, as a CPU.  */
DF_EXPORT DF_MUST_USE df_status df_graph_begin(struct df_stream *stream);

/* End the recording, which becomes a graph of STREAM.  */
DF_EXPORT DF_MUST_USE df_status df_graph_end(struct df_stream *stream,
                                             struct df_graph **out);
DF_EXPORT void df_graph_free(struct df_graph *graph);

/* Queue all that GRAPH recorded, with the same arguments, on its stream.  */
DF_EXPORT DF_MUST_USE df_status df_graph_launch(struct df_graph *graph);

/* Begin, and end, a stretch of the calling thread's time that a profiler of
   DEV shows as NAME and NUMBER, with the work that is queued in it.  They
   nest.  Cheap without a profiler; nothing on a CPU or if DEV is NULL.  */
DF_EXPORT void df_range_begin(struct df_device *dev, const char *name,
                              uint64_t number);
DF_EXPORT void df_range_end(struct df_device *dev);

/* Queue a pause of the stream, for tests that shake the order of things.  */
DF_EXPORT DF_MUST_USE df_status df_stall(struct df_stream *stream,
                                         double seconds);

DF_END_DECLS
#endif

/* stream_internal.h - the CPU device's streams and events.

   A stream is a thread and a ring of entries:

       host: [queue] --> ring of entries --> thread: [run] --> done count

   Entry number S (from 1) has run when the stream's progress says done >= S.
   An event is such a number of a stream, so recording one queues nothing,
   and who waits for it keeps the pair, whatever the event is recorded as
   later.  */

#ifndef DF_STREAM_INTERNAL_H
#define DF_STREAM_INTERNAL_H

#include "base/device_internal.h"

/* What an entry does, on the stream's thread.  */
typedef df_status df_entry_fn(const void *args);

/* Queue FN(a copy of ARGS): at most DF_MAX_ARGS bytes.  Blocks while the
   ring is full.  */
DF_MUST_USE df_status df_cpu_queue(struct df_stream *stream, df_entry_fn *fn,
                                   const void *args, size_t bytes);

/* As struct df_device_vtable has them.  */
DF_MUST_USE df_status df_cpu_stream_new(struct df_stream **out,
                                        struct df_device *dev,
                                        const char *name);
void df_cpu_stream_free(struct df_stream *stream);
DF_MUST_USE df_status df_cpu_stream_sync(struct df_stream *stream);
DF_MUST_USE df_status df_cpu_event_new(struct df_event **out,
                                       struct df_device *dev, bool timed);
void df_cpu_event_free(struct df_event *event);
DF_MUST_USE df_status df_cpu_event_record(struct df_event *event,
                                          struct df_stream *stream);
DF_MUST_USE df_status df_cpu_stream_wait(struct df_stream *stream,
                                         struct df_event *event);
DF_MUST_USE df_status df_cpu_event_wait(struct df_event *event);
bool df_cpu_event_reached(struct df_event *event);
DF_MUST_USE df_status df_cpu_event_seconds(struct df_event *from,
                                           struct df_event *to,
                                           double *seconds);

/* gate.c */
DF_MUST_USE df_status df_cpu_gate_new(struct df_gate **out,
                                      struct df_device *dev);
void df_cpu_gate_free(struct df_gate *gate);
DF_MUST_USE df_status df_cpu_gate_hold(struct df_gate *gate,
                                       struct df_stream *stream);
void df_cpu_gate_open(struct df_gate *gate);

#endif

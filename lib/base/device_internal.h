/* device_internal.h - what a kind of device has to bring.

   device.c checks arguments, counts, and calls through these tables; a
   device's own structures begin with the structures here.  */

#ifndef DF_DEVICE_INTERNAL_H
#define DF_DEVICE_INTERNAL_H

#include "dflash/device.h"
#include "dflash/ops.h"

/* The CUDA device is C++, which spells atomics in another way; they have the
   same layout.  */
#ifdef __cplusplus
#    include <atomic>
#    define DF_ATOMIC(type) std::atomic<type>
#else
#    include <stdatomic.h>
#    define DF_ATOMIC(type) _Atomic(type)
#endif

DF_BEGIN_DECLS

enum {
    DF_MAX_ARGS = 496 /* bytes of an operation's arguments */
};

/* Queue ARGS, which are copied: at most DF_MAX_ARGS bytes.  */
#define X(op, flow)                                          \
    typedef df_status df_##op##_fn(struct df_stream *stream, \
                                   const struct df_##op##_args *args);
DF_OPS(X)
#undef X

/* LD, or WIDTH where rows are contiguous.  */
static inline size_t
df_ld(size_t ld, size_t width)
{
    return ld ? ld : width;
}

struct df_device_vtable {
    const char *kind; /* "cpu", "cuda" */
    enum df_dtype act;
    void (*close)(struct df_device *dev);
    /* OUT is all zero.  */
    df_status (*describe)(struct df_device *dev, struct df_device_info *out);
    /* OTHER is of the same kind, and not DEV.  */
    bool (*reaches)(const struct df_device *dev,
                    const struct df_device *other);
    df_status (*alloc)(struct df_device *dev, enum df_memory kind,
                       size_t bytes, void **out);
    void (*free)(struct df_device *dev, enum df_memory kind, void *ptr);
    /* How often scratch grew since DEV was opened; NULL: it is counted by
       df_device_count.  */
    uint64_t (*scratch_growth)(const struct df_device *dev);
    df_status (*stream_new)(struct df_stream **out, struct df_device *dev,
                            const char *name);
    void (*stream_free)(struct df_stream *stream);
    df_status (*stream_sync)(struct df_stream *stream);
    df_status (*event_new)(struct df_event **out, struct df_device *dev,
                           bool timed);
    void (*event_free)(struct df_event *event);
    df_status (*event_record)(struct df_event *event,
                              struct df_stream *stream);
    df_status (*stream_wait)(struct df_stream *stream, struct df_event *event);
    df_status (*event_wait)(struct df_event *event);
    bool (*event_reached)(struct df_event *event);
    /* Both are timed and reached.  */
    df_status (*event_seconds)(struct df_event *from, struct df_event *to,
                               double *seconds);
    df_status (*gate_new)(struct df_gate **out, struct df_device *dev);
    void (*gate_free)(struct df_gate *gate);
    df_status (*gate_hold)(struct df_gate *gate, struct df_stream *stream);
    void (*gate_open)(struct df_gate *gate);
    df_status (*copy)(struct df_stream *stream, void *dst, const void *src,
                      size_t bytes);
    df_status (*fill)(struct df_stream *stream, void *dst, int value,
                      size_t bytes);
    /* NULL: the device has no graphs.  */
    df_status (*graph_begin)(struct df_stream *stream);
    df_status (*graph_end)(struct df_stream *stream, struct df_graph **out);
    void (*graph_free)(struct df_graph *graph);
    df_status (*graph_launch)(struct df_graph *graph);
    /* NULL: nobody looks.  */
    void (*range_begin)(const char *name, uint64_t number);
    void (*range_end)(void);
    df_status (*stall)(struct df_stream *stream, double seconds);
    df_status (*settle)(struct df_stream *stream); /* NULL: no need to */
#define X(op, flow) df_##op##_fn *op; /* NULL: the device lacks it */
    DF_OPS(X)
#undef X
};

struct df_device {
    const struct df_device_vtable *vt;
    char name[32];
    /* Any thread may change these.  */
    DF_ATOMIC(uint64_t) allocations;
    DF_ATOMIC(uint64_t) device_bytes, device_peak, host_bytes, host_peak;
    DF_ATOMIC(uint64_t) flops;
};

struct df_stream {
    struct df_device *dev;
    char name[32];
    DF_ATOMIC(uint64_t) flops;      /* this stream's part of the device's */
    DF_ATOMIC(uint64_t) graph_from; /* the same when a recording began */
};

struct df_graph {
    struct df_device *dev;
    struct df_stream *stream; /* may be gone when the graph is freed */
    uint64_t flops;
};

struct df_event {
    struct df_device *dev;
    bool timed;
};

struct df_gate {
    struct df_device *dev;
};

/* Open CPU device number INDEX.  */
DF_MUST_USE df_status df_cpu_open(struct df_device **out, int index);

/* Count memory that DEV got, BYTES >= 0, or gave back, BYTES < 0.  */
void df_device_count(struct df_device *dev, enum df_memory kind,
                     int64_t bytes);

DF_END_DECLS
#endif

/* copy_buffers.h - what copies go between: memory that is made once and
   serves all sizes.  */

#ifndef DF_BENCH_COPY_BUFFERS_H
#define DF_BENCH_COPY_BUFFERS_H

#include "dflash/device.h"

enum {
    COPY_MAX_LANES = 2 /* copies that run beside each other */
};

enum copy_memory {
    MEMORY_DEVICE,
    MEMORY_PINNED,
    MEMORY_PAGEABLE
};

/* BYTES of memory, random in the sources.  */
struct copy_area {
    struct df_device *dev;
    enum copy_memory kind;
    void *data;
};

/* Sources and destinations, a pair a lane.  */
struct copy_buffers {
    struct copy_area src[COPY_MAX_LANES], dst[COPY_MAX_LANES];
    size_t lanes;
    size_t bytes;  /* of each */
    bool too_much; /* there was no memory; don't try again */
};

/* Have B, all zero or opened before, be LANES areas of at least BYTES, kind
   and device as in SRC and DST: what fits already is kept.  */
DF_MUST_USE df_status copy_buffers_open(struct copy_buffers *b,
                                        const struct copy_area *src,
                                        const struct copy_area *dst,
                                        size_t lanes, size_t bytes);
void copy_buffers_close(struct copy_buffers *b);

/* DF_DEVICE if BYTES at offset AT of lane LANE are not what the source has
   there.  */
DF_MUST_USE df_status copy_buffers_compare(const struct copy_buffers *b,
                                           size_t lane, size_t at,
                                           size_t bytes);

/* Overwrite BYTES at AT of the destinations.  */
DF_MUST_USE df_status copy_buffers_spoil(const struct copy_buffers *b,
                                         size_t at, size_t bytes);

#endif

/* packing.h - the hidden states of a batch: K layers of T tokens, as a target
   leaves them, and the buffer that they are packed into.

       layers K x [T,H] act --pack--> packed [T,K*H] bf16, checks [T,K]
                                      split  K x [T,H] bf16, checks [T,K]  */

#ifndef DF_BENCH_PACKING_H
#define DF_BENCH_PACKING_H

#include "dflash/ops.h"

enum {
    PACKING_MAX_K = 8,
    PACKING_MAX_BUFFERS = 8
};

struct packing {
    struct df_device *dev;
    size_t T, K, H;
    bool split, noise, checks;
    size_t n_buffers;                     /* to pack into */
    void *layers;                         /* device memory, K x [T,H] act */
    uint16_t *out[PACKING_MAX_BUFFERS];   /* device memory */
    uint64_t *check[PACKING_MAX_BUFFERS]; /* the same, behind OUT */
    uint64_t *sample;                     /* device memory, [T] */
    int32_t *token;                       /* the same */
};

/* DEV to N_BUFFERS are set; close it after a failure too.  */
DF_MUST_USE df_status packing_open(struct packing *p);
void packing_close(struct packing *p);

/* Queue the packing of all layers into buffer number I.  */
DF_MUST_USE df_status packing_queue(struct packing *p, size_t i,
                                    struct df_stream *stream);

/* Bytes of a buffer: of the states, and with the checks.  */
size_t packing_states(const struct packing *p);
size_t packing_bytes(const struct packing *p);

/* Bytes that packing reads and writes.  */
double packing_moved(const struct packing *p);

/* Look at what IMAGE, a copy of a buffer, has of a few rows; DF_DEVICE if
   it's wrong, saying where.  */
DF_MUST_USE df_status packing_check(const struct packing *p,
                                    const void *image);

#endif

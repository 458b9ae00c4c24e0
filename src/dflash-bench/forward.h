/* forward.h - a target's forward pass over one batch, alone.

       batch -> layers 0 to LAST -> hidden states K x [T,H], if packed  */

#ifndef DF_BENCH_FORWARD_H
#define DF_BENCH_FORWARD_H

#include "dflash-bench/scene.h"
#include "dflash-bench/workload.h"
#include "dflash/target.h"

struct forward {
    const struct workload *w;
    struct df_device *dev;
    struct shape shape; /* the largest batch */
    int last_layer;     /* that is run */
    bool pack;          /* the captured layers */
    bool against_cpu;   /* a GPU's states are compared with the CPU's too */

    struct scene scene;
    struct df_embeddings embeddings;
    struct df_target *target;
    struct df_batch *batch; /* that is run */
    void *mirror;           /* its arrays on the device: */
    struct df_batch_arrays arrays;
    uint16_t *hidden; /* device memory, of the largest batch */
    double flops;     /* of a pass; forward_check sets it */
};

/* The first six are set; close it after a failure too.  */
DF_MUST_USE df_status forward_open(struct forward *f);
void forward_close(struct forward *f);

/* Run the samples FIRST and up, as SHAPE says, from now on.  */
DF_MUST_USE df_status forward_take(struct forward *f, struct shape shape,
                                   uint64_t first);

/* Queue a pass: of type queue_fn, ARG being a forward.  */
DF_MUST_USE df_status forward_queue(void *arg, struct df_stream *stream);

/* Do a pass, and get what is packed of layer K: [T,H], the caller's.  */
DF_MUST_USE df_status forward_states(struct forward *f, size_t k,
                                     uint16_t **out);

/* The hidden states of a pass against those of a sequence alone, and those
   of a GPU against the CPU's if that is wanted; *ERROR is the largest relative
   one of a layer.  */
DF_MUST_USE df_status forward_check(struct forward *f, double *error);

/* Median of the seconds that a pass takes with all captured layers packed,
   and nothing else going on.  */
DF_MUST_USE df_status forward_alone(struct bench *b, struct df_device *dev,
                                    struct shape shape, double *seconds);

/* The rate in tokens a second that COUNT operations a token allow if all of
   them ran as fast as a large matrix product does on DEV.  */
double product_tokens(struct bench *b, const struct df_device *dev,
                      double count);

#endif

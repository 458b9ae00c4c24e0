/* load.h - a matrix product, as the ceiling of its kind, and to keep a stream
   busy while something else is measured.  */

#ifndef DF_BENCH_LOAD_H
#define DF_BENCH_LOAD_H

#include "dflash/ops.h"

struct load {
    struct df_device *dev;
    struct df_linear_args args;
    void *memory;
    double flops; /* of a product */
};

/* All zero before; close it after a failure too.  */
DF_MUST_USE df_status load_open(struct load *load, struct df_device *dev);
void load_close(struct load *load);

/* Queue one product: of type queue_fn, ARG being a load.  */
DF_MUST_USE df_status load_queue(void *arg, struct df_stream *stream);

/* Set N bf16 or float values at device memory DATA, which repeat after a
   few thousand, to random ones of [-1, 1).  Waits.  */
DF_MUST_USE df_status fill_random(struct df_device *dev, void *data,
                                  enum df_dtype type, size_t n);

#endif

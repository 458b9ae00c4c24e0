/* workload.h - what the suites with a target work on: the target, a drafter
   or the shapes of one for it, and batches of random tokens.

   Every sequence is as long as the others, and its last two thirds are
   supervised.  A sample depends on its number alone.  */

#ifndef DF_BENCH_WORKLOAD_H
#define DF_BENCH_WORKLOAD_H

#include "common/model.h"
#include "dflash-bench/bench.h"
#include "dflash/batch.h"
#include "dflash/drafter.h"
#include "dflash/drafter_files.h"

enum {
    WORKLOAD_SEED = 42
};

/* How is trained: what dflash-train does when nothing else is said.  */
#define WORKLOAD_RATE 6e-4
extern const struct df_objective workload_objective;
extern const struct df_adamw_options workload_adamw;

/* SEQS sequences of LENGTH tokens.  */
struct shape {
    size_t seqs, length;
};

struct workload {
    struct model model;
    struct layer_list layers; /* captured */
    struct df_drafter_config drafter;
    const struct df_tensors *weights; /* that a drafter begins with: */
    struct df_tensors *random;        /* these, */
    struct df_drafter_files *files;   /* or those of a folder */
};

/* What the options say of a sequence, an answer, and a batch; exit unless
   they go together.  */
size_t workload_length(void);
size_t workload_new_tokens(void);
struct shape workload_shape(void);
void workload_check(void);

/* Open B's workload, unless it is open or cases are only listed.  */
DF_MUST_USE df_status workload_open(struct bench *b);
void workload_free(struct workload *w);

/* Batches of SHAPE and nothing larger.  */
struct df_batch_limits workload_limits(const struct workload *w,
                                       struct shape shape);

/* Sample number INDEX: IDS and MASK have room for LENGTH.  */
void workload_sample(const struct workload *w, uint64_t index, size_t length,
                     int32_t *ids, uint8_t *mask);

/* A batch of the samples FIRST and up, within LIMITS.  */
DF_MUST_USE df_status workload_batch(const struct workload *w,
                                     struct shape shape, uint64_t first,
                                     const struct df_batch_limits *limits,
                                     struct df_batch **out);

#endif

/* step.h - a step of a drafter over one batch, and its parts, each with
   memory of its own in the shapes of the whole.

       whole:      unpack, forward, loss, backward, clip, AdamW
       attention:  forward and backward, once a layer
       head:       rows of the supervised slots, head and loss, and back
       optimizer:  norm of the gradient, clipping, AdamW
       sum:        another drafter's gradients come, are added, and the sum
                   goes back  */

#ifndef DF_BENCH_STEP_H
#define DF_BENCH_STEP_H

#include "dflash-bench/scene.h"
#include "dflash-bench/workload.h"
#include "dflash/drafter.h"

enum step_part {
    STEP_WHOLE,
    STEP_GRAPH, /* the whole, passes queued as graphs */
    STEP_ATTENTION,
    STEP_HEAD,
    STEP_OPTIMIZER,
    STEP_SUM,
    STEP_PARTS
};

/* What a part computes, to be compared.  */
struct step_output {
    const void *data; /* device memory */
    size_t n;
    enum df_dtype type;
};

struct step {
    const struct workload *w;
    struct df_device *dev, *other; /* of the other drafter; may be DEV */
    struct shape shape;
    enum step_part part;

    struct scene scene;
    struct df_batch *batch;
    struct df_batch sizes; /* BATCH, rounded as a GPU computes it */
    struct df_batch_arrays arrays;
    double weight; /* of the batch's slots */

    /* Of the whole, and of the optimizer.  */
    struct df_embeddings embeddings;
    struct df_drafter *drafter;
    uint16_t *hidden; /* K x [T,H] */
    struct df_loss_sums *sums;

    /* Of the others.  */
    struct df_draft_attention_args attention;
    struct df_draft_attention_bwd_args attention_bwd;
    struct df_gather_rows_args gather;
    struct df_head_loss_args head;
    struct df_objective_args objective;
    struct df_scatter_rows_args scatter;
    struct df_add_args add;
    float *theirs; /* on OTHER: gradients that are added */

    struct step_output output;
    double bytes, flops; /* of a call; 0: not counted */
};

/* The first five are set; close it after a failure too.  */
DF_MUST_USE df_status step_open(struct step *s);
void step_close(struct step *s);

/* step_parts.c: what the parts that aren't the drafter's own work on.  */
DF_MUST_USE df_status step_open_attention(struct step *s);
DF_MUST_USE df_status step_open_head(struct step *s);
DF_MUST_USE df_status step_open_sum(struct step *s);

/* Queue the part: of type queue_fn, ARG being a step.  */
DF_MUST_USE df_status step_queue(void *arg, struct df_stream *stream);

/* Begin at the same point as after opening.  */
DF_MUST_USE df_status step_reset(struct step *s);

#endif

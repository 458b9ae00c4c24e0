/* drafter.h - a DFlash drafter: parameters, forward and backward passes,
   the objective and the optimizer's step.

   One micro-batch:

       features F [T,K*H] ---- fc, hidden_norm ----> context C [T,H]
                                                       | keys and values
       block ids [N*b] -- embed --> X -- L layers -----+--> X
       X -- norm --> rows of the supervised slots -- head, loss --> sums
       and back, gradients added up over the micro-batches of a step

   and the step: norm of the gradient, clipping, AdamW, all on the device.
   Formulas: the comments of ops.h; the manual has the model as a whole.

   All calls queue work on a stream of the drafter's device.  A drafter is
   for one thread at a time.  */

#ifndef DFLASH_DRAFTER_H
#define DFLASH_DRAFTER_H

#include "dflash/batch.h"
#include "dflash/device.h"
#include "dflash/drafter_files.h"
#include "dflash/ops.h"
#include "dflash/safetensors.h"
#include "dflash/target.h"
#include "dflash/weights.h"

DF_BEGIN_DECLS

struct df_drafter;

/* A tensor among the parameters.  */
struct df_param {
    struct df_weight_spec spec;
    size_t offset; /* of its first element in the flat arrays */
    size_t count;
};

/* Flat arrays of [count] float32 in device memory, all in the order of the
   parameters; gaps between tensors are 0 and stay so.  */
struct df_flat {
    size_t count;
    float *w, *g, *m, *v; /* masters, gradients, the two moments */
    struct df_step_state *state;
};

struct df_objective {
    bool dpace;
    float gamma; /* dflash: decay; 0: none */
    float alpha; /* dpace */
};

struct df_adamw_options {
    float beta1, beta2, eps, weight_decay;
    double max_norm; /* 0: no clipping */
};

/* Plan parameters and buffers for batches up to LIMITS; contents are
   undefined until df_drafter_init, df_drafter_load or the flat arrays are
   filled.  EMBEDDINGS must outlive the drafter and sets its device.
   DF_SHAPE if CONFIG, LIMITS and EMBEDDINGS don't fit together;
   DF_UNSUPPORTED for a vocabulary of its own.  */
DF_EXPORT DF_MUST_USE df_status
df_drafter_new(struct df_drafter **out, const struct df_drafter_config *config,
               const struct df_embeddings *embeddings,
               const struct df_batch_limits *limits);

/* A drafter that only drafts, for a decoder: it has the weights as passes
   compute with them, and nothing else, neither the flat arrays nor buffers.
   df_drafter_load or df_drafter_init fills it.  It has no part in what else
   is declared below, but for its configuration and parameters.  */
DF_EXPORT DF_MUST_USE df_status df_drafter_new_frozen(
    struct df_drafter **out, const struct df_drafter_config *config,
    const struct df_embeddings *embeddings);
DF_EXPORT void df_drafter_free(struct df_drafter *d);

DF_EXPORT const struct df_param *df_drafter_params(const struct df_drafter *d,
                                                   size_t *n);
DF_EXPORT struct df_flat df_drafter_flat(const struct df_drafter *d);

/* Weights normal(0, 0.02) drawn by SEED, norms 1, moments 0, no step taken.
   All three return when it's done.  */
DF_EXPORT DF_MUST_USE df_status df_drafter_init(struct df_drafter *d,
                                                uint64_t seed);

/* Weights from TENSORS, moments 0, no step taken.  */
DF_EXPORT DF_MUST_USE df_status
df_drafter_load(struct df_drafter *d, const struct df_tensors *tensors);

/* After the flat weights were written directly: bring the copies that the
   passes compute with up to date.  */
DF_EXPORT DF_MUST_USE df_status df_drafter_refresh(struct df_drafter *d);

/* What df_drafter_save and checkpoints write from now on; z-lab's layout
   without this.  What FORM points to must outlive the drafter.  DF_INVALID if
   FORM's layout cannot say the drafter's configuration.  */
DF_EXPORT DF_MUST_USE df_status
df_drafter_set_form(struct df_drafter *d, const struct df_drafter_form *form);

/* Write config.json and model.safetensors (bf16) into the folder DIR, which
   exists.  */
DF_EXPORT DF_MUST_USE df_status df_drafter_save(struct df_drafter *d,
                                                const char *dir);

/* Where the features F [T,K*H] act go before df_drafter_forward.  */
DF_EXPORT void *df_drafter_features(struct df_drafter *d);

/* The blocks of BATCH; then the final hidden states [N*b,H] act are at
   df_drafter_hidden.  */
DF_EXPORT DF_MUST_USE df_status df_drafter_forward(
    struct df_drafter *d, struct df_stream *stream,
    const struct df_batch *batch, const struct df_batch_arrays *arrays);
DF_EXPORT const void *df_drafter_hidden(const struct df_drafter *d);

/* The loss of what df_drafter_forward made, added to SUMS (device memory).
   With BACKWARD, the gradient of the loss's numerator is added to the flat
   gradients: divide by the denominator of the whole step there.  */
DF_EXPORT DF_MUST_USE df_status df_drafter_loss(
    struct df_drafter *d, struct df_stream *stream,
    const struct df_batch *batch, const struct df_batch_arrays *arrays,
    const struct df_objective *objective, struct df_loss_sums *sums,
    bool backward);

/* Forward pass, loss, and back, of BATCH, which df_batch_pad has padded, in
   the rounded sizes.  The features behind BATCH's own are cleared here.  What
   is added in these sizes is 0, so that losses and gradients differ from
   those of the calls above by no more than the order of sums.  */
DF_EXPORT DF_MUST_USE df_status df_drafter_pass(
    struct df_drafter *d, struct df_stream *stream,
    const struct df_batch *batch, const struct df_batch_arrays *arrays,
    const struct df_objective *objective, struct df_loss_sums *sums);

/* From now on, df_drafter_pass queues the sizes and ARRAYS that it has had
   before as graphs: the same bits, one call.  All its calls have to be on one
   stream then.  DF_UNSUPPORTED on a CPU.  */
DF_EXPORT DF_MUST_USE df_status df_drafter_compile(struct df_drafter *d);

/* Gradients to 0.  */
DF_EXPORT DF_MUST_USE df_status
df_drafter_clear_gradients(struct df_drafter *d, struct df_stream *stream);

/* Scale the gradients by SCALE, clip, take a step at learning rate LR.  */
DF_EXPORT DF_MUST_USE df_status
df_drafter_step(struct df_drafter *d, struct df_stream *stream, double scale,
                double lr, const struct df_adamw_options *options);

/* Learning rate of step E (from 0) of TOTAL: linear warm-up over
   int(WARMUP_RATIO * TOTAL) steps, then a cosine to 0.  */
DF_EXPORT double df_learning_rate(double lr, double warmup_ratio,
                                  int64_t total, int64_t e);

DF_END_DECLS
#endif

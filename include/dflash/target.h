/* target.h - the forward pass of a target over a packed batch.

   embed -> layer 0 -> layer 1 -> ... -> norm -> head
                |          |
              hook       hook

   The residual stream after a layer goes to a hook, which packs it; logits
   are made only when asked for.  */

#ifndef DFLASH_TARGET_H
#define DFLASH_TARGET_H

#include "dflash/batch.h"
#include "dflash/config.h"
#include "dflash/device.h"
#include "dflash/safetensors.h"

DF_BEGIN_DECLS

/* The embedding and the head of a target, on one device, frozen.  The
   target's forward pass and the drafters of the device share them.  */
struct df_embeddings {
    struct df_device *dev;
    void *embed; /* [V,H] act */
    void *head;  /* [V,H] act; EMBED if tied; NULL if not wanted */
    size_t V, H;
    bool own_head; /* HEAD has memory of its own */
    void *memory;
};

/* Load both, or without WITH_HEAD the embedding alone, which is all that a
   forward pass without logits needs.  */
DF_EXPORT DF_MUST_USE df_status
df_embeddings_load(struct df_embeddings *out, const struct df_tensors *tensors,
                   const struct df_model_config *config, struct df_device *dev,
                   bool with_head);
DF_EXPORT void df_embeddings_free(struct df_embeddings *e);

struct df_target;

/* Load the weights and plan the buffers for batches up to LIMITS.  Layers
   behind LAST_LAYER are neither loaded nor run; num_hidden_layers - 1 for
   all.  EMBEDDINGS must outlive the target, TENSORS need not.  */
DF_EXPORT DF_MUST_USE df_status df_target_new(
    struct df_target **out, const struct df_model_config *config,
    const struct df_tensors *tensors, const struct df_embeddings *embeddings,
    const struct df_batch_limits *limits, int last_layer);

/* The same with the weights of OTHER, which has these layers and must outlive
   the target; so must OTHER's embeddings.  Both may run at a time.  */
DF_EXPORT DF_MUST_USE df_status
df_target_new_sharing(struct df_target **out, const struct df_target *other,
                      const struct df_batch_limits *limits, int last_layer);
DF_EXPORT void df_target_free(struct df_target *target);

/* X [T,H] act: the residual stream after LAYER, on the target's device, to
   be read by work queued on STREAM during the call; what comes next on the
   stream overwrites it.  */
typedef df_status df_layer_hook(void *arg, int layer, const void *x,
                                struct df_stream *stream);

/* Queue the forward pass over BATCH, whose ids, pos and cu_seqlens lie in
   ARRAYS on the device; HOOK (may be NULL) is called for every layer.  */
DF_EXPORT DF_MUST_USE df_status df_target_forward(
    struct df_target *target, struct df_stream *stream,
    const struct df_batch *batch, const struct df_batch_arrays *arrays,
    df_layer_hook *hook, void *arg);

/* Queue, after a forward pass through all layers: NORM [R,H] act = the final
   norm of the rows ROWS[R] (device memory), LOGITS [R,V] act.  */
DF_EXPORT DF_MUST_USE df_status df_target_logits(struct df_target *target,
                                                 struct df_stream *stream,
                                                 const int32_t *rows, size_t R,
                                                 void *norm, void *logits);

DF_END_DECLS
#endif

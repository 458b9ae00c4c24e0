/* weights.h - which tensors a model consists of: their names, shapes and
   roles, so that loaders, exporters and optimizers agree.

   H hidden, I intermediate, A query heads, G key/value heads, D head size,
   V vocabulary, K captured layers.  */

#ifndef DFLASH_WEIGHTS_H
#define DFLASH_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dflash/config.h"
#include "dflash/drafter_config.h"
#include "dflash/safetensors.h"

DF_BEGIN_DECLS

enum df_weight {
    DF_WEIGHT_EMBEDDING,   /* [V, H] */
    DF_WEIGHT_HEAD,        /* [V, H]; absent when tied */
    DF_WEIGHT_NORM,        /* [H], after the last layer */
    DF_WEIGHT_FC,          /* [H, K*H], drafters */
    DF_WEIGHT_HIDDEN_NORM, /* [H], drafters */
    /* In each layer: */
    DF_WEIGHT_INPUT_NORM, /* [H], before attention */
    DF_WEIGHT_Q,          /* [A*D, H] */
    DF_WEIGHT_K,          /* [G*D, H] */
    DF_WEIGHT_V,          /* [G*D, H] */
    DF_WEIGHT_O,          /* [H, A*D] */
    DF_WEIGHT_Q_BIAS,     /* [A*D]; biases if attention_bias */
    DF_WEIGHT_K_BIAS,     /* [G*D] */
    DF_WEIGHT_V_BIAS,     /* [G*D] */
    DF_WEIGHT_O_BIAS,     /* [H] */
    DF_WEIGHT_Q_NORM,     /* [D]; if qk_norm */
    DF_WEIGHT_K_NORM,     /* [D] */
    DF_WEIGHT_MLP_NORM,   /* [H], before the MLP */
    DF_WEIGHT_GATE,       /* [I, H] */
    DF_WEIGHT_UP,         /* [I, H] */
    DF_WEIGHT_DOWN,       /* [H, I] */
    DF_N_WEIGHTS
};

struct df_weight_spec {
    enum df_weight weight;
    int layer; /* -1: not in a layer */
    int rank;  /* 1 or 2 */
    int64_t shape[2];
    bool is_norm; /* begins as ones rather than random */
    char name[72];
};

/* Elements of W.  */
static inline size_t
df_weight_count(const struct df_weight_spec *w)
{
    return (size_t) w->shape[0] * (w->rank > 1 ? (size_t) w->shape[1] : 1);
}

/* The weights of C in a fixed order: those outside of layers first, then
   layer by layer.  *N of them, to be freed.  DF_NO_MEMORY.  */
DF_EXPORT DF_MUST_USE df_status df_model_weights(
    struct df_weight_spec **out, size_t *n, const struct df_model_config *c);
DF_EXPORT DF_MUST_USE df_status df_drafter_weights(
    struct df_weight_spec **out, size_t *n, const struct df_drafter_config *c);

/* Check that TS has every weight of C, with the right shape and a type that
   df_tensor_read_f32 takes; that it has none that C rules out, such as a
   bias where attention_bias is false; and that the head of a tied model, if
   there is one, equals the embedding.  DF_FORMAT, DF_SHAPE (with tensor,
   wanted and found shape), DF_UNSUPPORTED (with type and tensor).  */
DF_EXPORT DF_MUST_USE df_status df_model_check_tensors(
    const struct df_model_config *c, const struct df_tensors *ts);

/* How many tensors of TS are no weights of C at all, like those of layers
   that it doesn't have, and *FIRST of them by name, or NULL.  They are left
   out; worth a warning.  DF_NO_MEMORY.  */
DF_EXPORT DF_MUST_USE df_status df_model_find_unknown(
    const struct df_model_config *c, const struct df_tensors *ts, size_t *n,
    const struct df_tensor **first);

/* As df_model_check_tensors, of a drafter, whose tensors must moreover be all
   that there are: engines leave an unknown one out without a word.  Those of
   speculators' layout may have embed_tokens.weight [V, H] and lm_head.weight
   [Vd, H]; with a vocabulary of its own, Vd of V tokens, also t2d [V], d2t
   [Vd] and the head, and the maps are looked through.  */
DF_EXPORT DF_MUST_USE df_status df_drafter_check_tensors(
    const struct df_drafter_config *c, const struct df_tensors *ts);

/* Weights that no file has: normal(0, 0.02) in bf16, norms 1, for measuring
   without a checkpoint.  They repeat, and tensors overlap in memory, so that
   a large model is made in seconds.  The same SEED gives the same.  The
   caller frees *OUT (df_tensors_free).  */
DF_EXPORT DF_MUST_USE df_status df_tensors_random(
    struct df_tensors **out, const struct df_model_config *c, uint64_t seed);
DF_EXPORT DF_MUST_USE df_status df_tensors_random_drafter(
    struct df_tensors **out, const struct df_drafter_config *c, uint64_t seed);

DF_END_DECLS
#endif

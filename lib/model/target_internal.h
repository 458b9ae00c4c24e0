/* target_internal.h - a target's weights and buffers.  */

#ifndef DF_TARGET_INTERNAL_H
#define DF_TARGET_INTERNAL_H

#include "base/arena_internal.h"
#include "dflash/target.h"

/* q, k and v lie behind each other and so form one product; so do gate and
   up.  All are act.  */
struct target_layer {
    void *input_norm;      /* [H] */
    void *qkv, *qkv_bias;  /* [(A+2G)D,H], [(A+2G)D] or NULL */
    void *q_norm, *k_norm; /* [D], or NULL without qk_norm */
    void *o, *o_bias;      /* [H,A*D], [H] or NULL */
    void *mlp_norm;        /* [H] */
    void *gate_up;         /* [2I,H] */
    void *down;            /* [H,I] */
};

struct df_target {
    struct df_decoder_config c;
    size_t n_layers; /* that are loaded */
    struct df_device *dev;
    const struct df_embeddings *embeddings;
    struct df_batch_limits limits;

    struct df_arena weights;     /* empty if they are another's */
    struct target_layer *layers; /* [n_layers] */
    void *norm;                  /* [H] */

    struct df_arena buffers;
    float *cos, *sin; /* [max_seqlen,D/2] */
    void *x;          /* [T,H] the residual stream */
    void *xn;         /* [T,H] what a norm made of it */
    void *qkv;        /* [T,(A+2G)D] */
    void *att;        /* [T,A*D] */
    void *gu;         /* [T,2I] */
    void *h;          /* [T,I] */
};

/* Rows of a pass, packed as a batch is, or rows behind what a cache has.
   Device memory.  */
struct df_target_pass {
    const int32_t *ids, *pos;  /* [T] */
    const int32_t *cu_seqlens; /* [B+1]; rows behind its last are padding */
    size_t T, B, max_seqlen;
    /* With a cache: */
    void *const *cache;             /* [n_layers] [cache_rows,2GD] act: a key,
                                       then a value; or NULL */
    const int32_t *cache_row;       /* [T] where a row goes to; -1: nowhere */
    const int32_t *kv_begin, *past; /* [B], as attention has them */
    size_t cache_rows, max_past;
};

/* Queue PASS through the first N_LAYERS layers.  */
DF_MUST_USE df_status df_target_run(struct df_target *t,
                                    struct df_stream *stream,
                                    const struct df_target_pass *pass,
                                    size_t n_layers, df_layer_hook *hook,
                                    void *arg);

/* As df_target_logits, but the logits Z [R,V] are float32, rows LDZ apart.  */
DF_MUST_USE df_status df_target_scores(struct df_target *t,
                                       struct df_stream *stream,
                                       const int32_t *rows, size_t R,
                                       void *norm, float *z, size_t ldz);

/* Load all weights of T's layers from TS.  */
DF_MUST_USE df_status df_target_load(struct df_target *t,
                                     const struct df_model_config *config,
                                     const struct df_tensors *ts);

#endif

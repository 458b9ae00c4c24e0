/* config.h - what a target's config.json says, checked and as plain values.

   A family of models (Qwen3, Llama, ...) is one file of lib/model that says
   how its config is read and which weights it has.  What no family here
   computes exactly is refused by name, so that a config that loads is one
   that runs right.  */

#ifndef DFLASH_CONFIG_H
#define DFLASH_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "dflash/dtype.h"
#include "dflash/rope.h"

DF_BEGIN_DECLS

enum {
    DF_MAX_LAYERS = 256,
    DF_MAX_EOS_IDS = 16
};

/* A stack of decoder layers: what targets and drafters have in common.  The
   letters are those of the shapes in dflash/weights.h.  */
struct df_decoder_config {
    int hidden_size;         /* H */
    int intermediate_size;   /* I */
    int num_hidden_layers;   /* L, at most DF_MAX_LAYERS */
    int num_attention_heads; /* A */
    int num_key_value_heads; /* G, divides A */
    int head_dim;            /* D, even; A times D need not be H */
    int vocab_size;          /* V */
    int max_position_embeddings;
    double rms_norm_eps;
    bool attention_bias; /* q, k, v and o have biases */
    bool qk_norm;        /* RMSNorm over each head of q and k */
    struct df_rope rope;
    /* Per layer: 0, or W: a query at position p sees keys p-W+1 to p.  */
    int window[DF_MAX_LAYERS];
};

struct df_model_config {
    struct df_decoder_config d;
    char model_type[32]; /* the family: "qwen3" */
    bool tie_word_embeddings;
    uint64_t hash;       /* of config.json, whatever its blanks and order */
    enum df_dtype dtype; /* as config.json says; F32 when it says nothing */
    int bos_token_id;    /* -1: none; so is the next */
    int pad_token_id;
    int n_eos_token_ids;
    int eos_token_ids[DF_MAX_EOS_IDS];
};

/* Read the config.json PATH, or that of the folder PATH.  DF_IO, DF_FORMAT;
   DF_UNSUPPORTED for what is valid but not computed here.  */
DF_EXPORT DF_MUST_USE df_status
df_model_config_load(struct df_model_config *out, const char *path);

DF_END_DECLS
#endif

/* config_internal.h - families of models, and reading what configs share.

   To add a family: write its file with a struct df_family, name it in
   families.c, list it in local.mk.  */

#ifndef DF_CONFIG_INTERNAL_H
#define DF_CONFIG_INTERNAL_H

#include <jansson.h>

#include "dflash/config.h"
#include "dflash/weights.h"

/* The dimensions of weights; see the letters in dflash/weights.h.  */
enum df_dim {
    DF_DIM_NONE, /* of a vector: no second dimension */
    DF_DIM_H,
    DF_DIM_I,
    DF_DIM_V,
    DF_DIM_D,
    DF_DIM_AD,
    DF_DIM_GD,
    DF_DIM_KH,
    DF_N_DIMS
};

/* When a model has a weight.  */
enum df_when {
    DF_ALWAYS,
    DF_WHEN_UNTIED,
    DF_WHEN_BIAS,
    DF_WHEN_QK_NORM
};

/* A row of a family's table.  A '*' in NAME stands for the layer.  */
struct df_weight_row {
    enum df_weight weight;
    const char *name;
    enum df_dim rows, cols;
    enum df_when when;
};

/* The usual layer, under the names that Hugging Face gives it.  */
#define DF_DECODER_ROWS(prefix)                                               \
    {DF_WEIGHT_INPUT_NORM, prefix "layers.*.input_layernorm.weight",          \
     DF_DIM_H, DF_DIM_NONE, DF_ALWAYS},                                       \
        {DF_WEIGHT_Q, prefix "layers.*.self_attn.q_proj.weight", DF_DIM_AD,   \
         DF_DIM_H, DF_ALWAYS},                                                \
        {DF_WEIGHT_K, prefix "layers.*.self_attn.k_proj.weight", DF_DIM_GD,   \
         DF_DIM_H, DF_ALWAYS},                                                \
        {DF_WEIGHT_V, prefix "layers.*.self_attn.v_proj.weight", DF_DIM_GD,   \
         DF_DIM_H, DF_ALWAYS},                                                \
        {DF_WEIGHT_O, prefix "layers.*.self_attn.o_proj.weight", DF_DIM_H,    \
         DF_DIM_AD, DF_ALWAYS},                                               \
        {DF_WEIGHT_Q_BIAS, prefix "layers.*.self_attn.q_proj.bias",           \
         DF_DIM_AD, DF_DIM_NONE, DF_WHEN_BIAS},                               \
        {DF_WEIGHT_K_BIAS, prefix "layers.*.self_attn.k_proj.bias",           \
         DF_DIM_GD, DF_DIM_NONE, DF_WHEN_BIAS},                               \
        {DF_WEIGHT_V_BIAS, prefix "layers.*.self_attn.v_proj.bias",           \
         DF_DIM_GD, DF_DIM_NONE, DF_WHEN_BIAS},                               \
        {DF_WEIGHT_O_BIAS, prefix "layers.*.self_attn.o_proj.bias", DF_DIM_H, \
         DF_DIM_NONE, DF_WHEN_BIAS},                                          \
        {DF_WEIGHT_MLP_NORM,                                                  \
         prefix "layers.*.post_attention_layernorm.weight", DF_DIM_H,         \
         DF_DIM_NONE, DF_ALWAYS},                                             \
        {DF_WEIGHT_GATE, prefix "layers.*.mlp.gate_proj.weight", DF_DIM_I,    \
         DF_DIM_H, DF_ALWAYS},                                                \
        {DF_WEIGHT_UP, prefix "layers.*.mlp.up_proj.weight", DF_DIM_I,        \
         DF_DIM_H, DF_ALWAYS},                                                \
    {                                                                         \
        DF_WEIGHT_DOWN, prefix "layers.*.mlp.down_proj.weight", DF_DIM_H,     \
            DF_DIM_I, DF_ALWAYS                                               \
    }

#define DF_QK_NORM_ROWS(prefix)                                             \
    {DF_WEIGHT_Q_NORM, prefix "layers.*.self_attn.q_norm.weight", DF_DIM_D, \
     DF_DIM_NONE, DF_WHEN_QK_NORM},                                         \
    {                                                                       \
        DF_WEIGHT_K_NORM, prefix "layers.*.self_attn.k_norm.weight",        \
            DF_DIM_D, DF_DIM_NONE, DF_WHEN_QK_NORM                          \
    }

/* The embedding, the final norm and the head, likewise.  */
#define DF_OUTER_ROWS                                                         \
    {DF_WEIGHT_EMBEDDING, "model.embed_tokens.weight", DF_DIM_V, DF_DIM_H,    \
     DF_ALWAYS},                                                              \
        {DF_WEIGHT_HEAD, "lm_head.weight", DF_DIM_V, DF_DIM_H,                \
         DF_WHEN_UNTIED},                                                     \
    {                                                                         \
        DF_WEIGHT_NORM, "model.norm.weight", DF_DIM_H, DF_DIM_NONE, DF_ALWAYS \
    }

struct df_family {
    const char *model_type;
    const char *const *architectures; /* ends with NULL */
    const struct df_weight_row *rows; /* end with a NULL name */
    /* Set what is particular in C, of which all that families share has
       been read from JSON, and refuse what the family doesn't compute.  */
    df_status (*configure)(struct df_model_config *c, const json_t *json,
                           const char *where);
};

extern const struct df_family df_family_llama;
extern const struct df_family df_family_qwen3;

/* The family MODEL_TYPE, or NULL.  */
const struct df_family *df_family_find(const char *model_type);

/* "llama, qwen3" into BUF of SIZE bytes.  Returns BUF.  */
const char *df_family_list(char *buf, size_t size);

/* Load the JSON object PATH, or config.json in the folder PATH; *FILE is
   the path of the file.  The caller owns both.  */
DF_MUST_USE df_status df_config_open(json_t **out, char **file,
                                     const char *path);

/* df_json_get_int into an int.  */
DF_MUST_USE df_status df_config_get_int(const json_t *json, const char *key,
                                        int min, int max, int *out,
                                        const char *where);

/* Read what D holds, but for qk_norm and windows, and refuse activations
   other than silu and quantized weights.  */
DF_MUST_USE df_status df_config_read_decoder(struct df_decoder_config *d,
                                             const json_t *json,
                                             const char *where);

/* Read the windows of D as transformers does for Qwen3: layer_types, or
   else use_sliding_window, sliding_window and max_window_layers.  */
DF_MUST_USE df_status df_config_read_windows(struct df_decoder_config *d,
                                             const json_t *json,
                                             const char *where);

/* Refuse JSON's architectures unless one of them is in KNOWN; none at all
   pass.  */
DF_MUST_USE df_status df_config_check_architectures(const json_t *json,
                                                    const char *const *known,
                                                    const char *where);

/* Read rope_parameters or rope_scaling, and rope_theta.  */
DF_MUST_USE df_status df_rope_read(struct df_rope *r, const json_t *json,
                                   int max_position, const char *where);

/* R as a rope_parameters object; NULL when there is no memory.  */
json_t *df_rope_to_json(const struct df_rope *r);

#endif

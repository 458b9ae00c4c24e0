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

/* One row each, in short: a matrix that every model has, and a vector.  */
#define DF_MATRIX(weight, name, rows, cols)                               \
    {                                                                     \
        DF_WEIGHT_##weight, name, DF_DIM_##rows, DF_DIM_##cols, DF_ALWAYS \
    }
#define DF_VECTOR(weight, name, rows, when)                             \
    {                                                                   \
        DF_WEIGHT_##weight, name, DF_DIM_##rows, DF_DIM_NONE, DF_##when \
    }

/* The usual layer, under the names that Hugging Face gives it behind the
   string PREFIX.  */
#define DF_DECODER_ROWS(prefix)                                         \
    DF_VECTOR(INPUT_NORM, prefix "layers.*.input_layernorm.weight", H,  \
              ALWAYS),                                                  \
        DF_MATRIX(Q, prefix "layers.*.self_attn.q_proj.weight", AD, H), \
        DF_MATRIX(K, prefix "layers.*.self_attn.k_proj.weight", GD, H), \
        DF_MATRIX(V, prefix "layers.*.self_attn.v_proj.weight", GD, H), \
        DF_MATRIX(O, prefix "layers.*.self_attn.o_proj.weight", H, AD), \
        DF_VECTOR(Q_BIAS, prefix "layers.*.self_attn.q_proj.bias", AD,  \
                  WHEN_BIAS),                                           \
        DF_VECTOR(K_BIAS, prefix "layers.*.self_attn.k_proj.bias", GD,  \
                  WHEN_BIAS),                                           \
        DF_VECTOR(V_BIAS, prefix "layers.*.self_attn.v_proj.bias", GD,  \
                  WHEN_BIAS),                                           \
        DF_VECTOR(O_BIAS, prefix "layers.*.self_attn.o_proj.bias", H,   \
                  WHEN_BIAS),                                           \
        DF_VECTOR(MLP_NORM,                                             \
                  prefix "layers.*.post_attention_layernorm.weight", H, \
                  ALWAYS),                                              \
        DF_MATRIX(GATE, prefix "layers.*.mlp.gate_proj.weight", I, H),  \
        DF_MATRIX(UP, prefix "layers.*.mlp.up_proj.weight", I, H),      \
        DF_MATRIX(DOWN, prefix "layers.*.mlp.down_proj.weight", H, I)

#define DF_QK_NORM_ROWS(prefix)                                         \
    DF_VECTOR(Q_NORM, prefix "layers.*.self_attn.q_norm.weight", D,     \
              WHEN_QK_NORM),                                            \
        DF_VECTOR(K_NORM, prefix "layers.*.self_attn.k_norm.weight", D, \
                  WHEN_QK_NORM)

/* The embedding, the head and the final norm, likewise.  */
#define DF_OUTER_ROWS                                          \
    DF_MATRIX(EMBEDDING, "model.embed_tokens.weight", V, H),   \
        {DF_WEIGHT_HEAD, "lm_head.weight", DF_DIM_V, DF_DIM_H, \
         DF_WHEN_UNTIED},                                      \
        DF_VECTOR(NORM, "model.norm.weight", H, ALWAYS)

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

/* The embedding and the head of C in TS; *HEAD is NULL if C is tied.  */
DF_MUST_USE df_status df_model_find_outer(const struct df_model_config *c,
                                          const struct df_tensors *ts,
                                          const struct df_tensor **embed,
                                          const struct df_tensor **head);

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

#include <config.h>

#include <stdlib.h>

#include "dflash/weights.h"
#include "model/target_internal.h"
#include "model/upload_internal.h"

static void
layout_layer(struct df_arena *a, const struct df_decoder_config *c,
             struct target_layer *l)
{
    size_t s = df_dtype_size(df_device_act(a->dev));
    size_t H = (size_t) c->hidden_size, I = (size_t) c->intermediate_size;
    size_t D = (size_t) c->head_dim, q = (size_t) c->num_attention_heads * D;
    size_t qkv = q + 2 * (size_t) c->num_key_value_heads * D;

    l->input_norm = df_arena_take(a, H, s);
    l->qkv = df_arena_take(a, qkv * H, s);
    l->o = df_arena_take(a, H * q, s);
    if (c->attention_bias) {
        l->qkv_bias = df_arena_take(a, qkv, s);
        l->o_bias = df_arena_take(a, H, s);
    }
    if (c->qk_norm) {
        l->q_norm = df_arena_take(a, D, s);
        l->k_norm = df_arena_take(a, D, s);
    }
    l->mlp_norm = df_arena_take(a, H, s);
    l->gate_up = df_arena_take(a, 2 * I * H, s);
    l->down = df_arena_take(a, H * I, s);
}

static void
layout(struct df_arena *a, void *owner)
{
    struct df_target *t = owner;

    for (size_t i = 0; i < t->n_layers; i++)
        layout_layer(a, &t->c, &t->layers[i]);
    t->norm = df_arena_take(a, (size_t) t->c.hidden_size,
                            df_dtype_size(df_device_act(a->dev)));
}

/* Where WEIGHT of layer L goes, or NULL if it is held elsewhere.  */
static void *
place(const struct df_target *t, const struct df_weight_spec *w)
{
    const struct df_decoder_config *c = &t->c;
    const struct target_layer *l = w->layer < 0 ? NULL : &t->layers[w->layer];
    size_t s = df_dtype_size(df_device_act(t->dev));
    size_t H = (size_t) c->hidden_size, I = (size_t) c->intermediate_size;
    size_t D = (size_t) c->head_dim;
    size_t k = (size_t) c->num_attention_heads * D; /* first row of k */
    size_t v = k + (size_t) c->num_key_value_heads * D;
    char *at;

#define ROW(base, row, width) (at = (base), at + (row) * (width) *s)
    switch (w->weight) {
    case DF_WEIGHT_NORM:
        return t->norm;
    case DF_WEIGHT_INPUT_NORM:
        return l->input_norm;
    case DF_WEIGHT_Q:
        return l->qkv;
    case DF_WEIGHT_K:
        return ROW(l->qkv, k, H);
    case DF_WEIGHT_V:
        return ROW(l->qkv, v, H);
    case DF_WEIGHT_O:
        return l->o;
    case DF_WEIGHT_Q_BIAS:
        return l->qkv_bias;
    case DF_WEIGHT_K_BIAS:
        return ROW(l->qkv_bias, k, 1);
    case DF_WEIGHT_V_BIAS:
        return ROW(l->qkv_bias, v, 1);
    case DF_WEIGHT_O_BIAS:
        return l->o_bias;
    case DF_WEIGHT_Q_NORM:
        return l->q_norm;
    case DF_WEIGHT_K_NORM:
        return l->k_norm;
    case DF_WEIGHT_MLP_NORM:
        return l->mlp_norm;
    case DF_WEIGHT_GATE:
        return l->gate_up;
    case DF_WEIGHT_UP:
        return ROW(l->gate_up, I, H);
    case DF_WEIGHT_DOWN:
        return l->down;
    default:
        return NULL;
    }
#undef ROW
}

static bool
wanted(const struct df_target *t, const struct df_weight_spec *w)
{
    return w->layer < (int) t->n_layers && w->weight != DF_WEIGHT_EMBEDDING
           && w->weight != DF_WEIGHT_HEAD;
}

static df_status
load_all(struct df_target *t, const struct df_weight_spec *specs, size_t n,
         const struct df_tensors *ts)
{
    struct df_uploader up;
    const struct df_tensor *tensor;
    df_status status = df_uploader_begin(&up, t->dev);

    for (size_t i = 0; i < n && status == DF_OK; i++) {
        if (!wanted(t, &specs[i]))
            continue;
        status = df_tensors_get(ts, specs[i].name, &tensor);
        if (status == DF_OK)
            status = df_upload_tensor(&up, place(t, &specs[i]), tensor);
    }
    df_uploader_end(&up);
    return status;
}

df_status
df_target_load(struct df_target *t, const struct df_model_config *config,
               const struct df_tensors *ts)
{
    struct df_weight_spec *specs;
    size_t n;
    df_status status;

    DF_TRY(df_model_check_tensors(config, ts));
    DF_TRY(df_arena_make(&t->weights, t->dev, DF_MEM_DEVICE, layout, t));
    DF_TRY(df_model_weights(&specs, &n, config));
    status = load_all(t, specs, n, ts);
    free(specs);
    return status;
}

/* Reading what the configs of targets and drafters have in common.  */

#include <config.h>

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/json_internal.h"
#include "model/config_internal.h"

/* Far above any model, and low enough for products to fit their types.  */
enum {
    MAX_HIDDEN = 1 << 20,
    MAX_INTERMEDIATE = 1 << 22,
    MAX_HEADS = 1 << 12,
    MAX_HEAD_DIM = 1 << 10,
    MAX_VOCAB = 1 << 24,
    MAX_POSITIONS = 1 << 28
};

static const struct {
    const char *key;
    size_t offset;
    int max;
} sizes[] = {
#define FIELD(name, max)                                     \
    {                                                        \
#        name, offsetof(struct df_decoder_config, name), max \
    }
    FIELD(hidden_size, MAX_HIDDEN),
    FIELD(intermediate_size, MAX_INTERMEDIATE),
    FIELD(num_hidden_layers, DF_MAX_LAYERS),
    FIELD(num_attention_heads, MAX_HEADS),
    FIELD(vocab_size, MAX_VOCAB),
    FIELD(max_position_embeddings, MAX_POSITIONS),
#undef FIELD
};

static df_status
read_sizes(struct df_decoder_config *d, const json_t *json, const char *where)
{
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        int *field = (int *) ((char *) d + sizes[i].offset);
        const json_t *present;

        DF_TRY(df_json_require(json, sizes[i].key, &present, where));
        DF_TRY(df_config_get_int(json, sizes[i].key, 1, sizes[i].max, field,
                                 where));
    }
    return DF_OK;
}

/* head_dim is a setting of its own: Qwen3-4B has 32 heads of 128 over a
   hidden size of 2560.  Only where it is absent is it the quotient.  */
static df_status
read_heads(struct df_decoder_config *d, const json_t *json, const char *where)
{
    int heads = d->num_attention_heads;

    d->num_key_value_heads = heads;
    DF_TRY(df_config_get_int(json, "num_key_value_heads", 1, heads,
                             &d->num_key_value_heads, where));
    if (heads % d->num_key_value_heads)
        return DF_FAIL(DF_FORMAT,
                       "%s: num_attention_heads %d is no multiple of"
                       " num_key_value_heads %d",
                       where, heads, d->num_key_value_heads);
    DF_TRY(df_config_get_int(json, "head_dim", 1, MAX_HEAD_DIM, &d->head_dim,
                             where));
    if (d->head_dim == 0 && d->hidden_size % heads)
        return DF_FAIL(DF_FORMAT,
                       "%s: no head_dim, and hidden_size %d is no multiple"
                       " of num_attention_heads %d",
                       where, d->hidden_size, heads);
    if (d->head_dim == 0)
        d->head_dim = d->hidden_size / heads;
    if (d->head_dim % 2 || d->head_dim > MAX_HEAD_DIM)
        return DF_FAIL(DF_FORMAT,
                       "%s: head_dim is %d, not even and at most %d", where,
                       d->head_dim, MAX_HEAD_DIM);
    return DF_OK;
}

/* What would load and compute something else.  */
static df_status
refuse(const json_t *json, const char *where)
{
    const char *act = "silu";
    const json_t *quantized = json_object_get(json, "quantization_config");

    DF_TRY(df_json_get_string(json, "hidden_act", &act, where));
    if (strcmp(act, "silu") != 0)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: hidden_act '%s' is not supported (supported:"
                       " silu)",
                       where, act);
    if (quantized && !json_is_null(quantized))
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: quantization_config: quantized weights are not"
                       " supported",
                       where);
    return DF_OK;
}

df_status
df_config_read_decoder(struct df_decoder_config *d, const json_t *json,
                       const char *where)
{
    DF_TRY(refuse(json, where));
    DF_TRY(read_sizes(d, json, where));
    DF_TRY(read_heads(d, json, where));
    d->rms_norm_eps = 1e-6;
    DF_TRY(df_json_get_real(json, "rms_norm_eps", &d->rms_norm_eps, where));
    if (!(d->rms_norm_eps > 0 && d->rms_norm_eps < 1))
        return DF_FAIL(DF_FORMAT, "%s: rms_norm_eps is %g", where,
                       d->rms_norm_eps);
    DF_TRY(
        df_json_get_bool(json, "attention_bias", &d->attention_bias, where));
    return df_rope_read(&d->rope, json, d->max_position_embeddings, where);
}

/* Set D's windows from layer_types, of which sliding layers get WINDOW.  */
static df_status
read_layer_types(struct df_decoder_config *d, const json_t *types, int window,
                 const char *where)
{
    size_t layers = (size_t) d->num_hidden_layers;

    if (!json_is_array(types))
        return DF_FAIL(DF_FORMAT, "%s: layer_types is %s, not an array", where,
                       df_json_type_name(types));
    if (json_array_size(types) != layers)
        return DF_FAIL(DF_FORMAT,
                       "%s: layer_types has %zu entries for %zu layers", where,
                       json_array_size(types), layers);
    for (size_t i = 0; i < layers; i++) {
        const char *type = json_string_value(json_array_get(types, i));

        if (type && strcmp(type, "full_attention") == 0)
            continue;
        if (!type || strcmp(type, "sliding_attention") != 0)
            return DF_FAIL(DF_UNSUPPORTED,
                           "%s: layer_types[%zu] '%s' is not supported"
                           " (supported: full_attention, sliding_attention)",
                           where, i, type ? type : "?");
        if (window == 0)
            return DF_FAIL(DF_FORMAT,
                           "%s: layer_types[%zu] is sliding_attention, but"
                           " there is no use_sliding_window with a"
                           " sliding_window",
                           where, i);
        d->window[i] = window;
    }
    return DF_OK;
}

df_status
df_config_read_windows(struct df_decoder_config *d, const json_t *json,
                       const char *where)
{
    const json_t *types = json_object_get(json, "layer_types");
    bool use = false;
    int window = 4096, first = 28; /* what transformers takes when absent */

    DF_TRY(df_json_get_bool(json, "use_sliding_window", &use, where));
    if (json_is_null(json_object_get(json, "sliding_window")))
        window = 0;
    if (use)
        DF_TRY(df_config_get_int(json, "sliding_window", 1, MAX_POSITIONS,
                                 &window, where));
    else
        window = 0;
    if (types && !json_is_null(types))
        return read_layer_types(d, types, window, where);
    DF_TRY(df_config_get_int(json, "max_window_layers", 0, MAX_POSITIONS,
                             &first, where));
    for (int i = first; i < d->num_hidden_layers; i++)
        d->window[i] = window;
    return DF_OK;
}

/* A drafter's config.json in the layout of speculators: to z-lab's form and
   from it.  */

#include <config.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_internal.h"
#include "model/config_internal.h"
#include "model/drafter_files_internal.h"

static const char layers_key[] = "aux_hidden_state_layer_ids";

/* The decoder's object is written without what is usual in its class.  */
static const struct {
    const char *model_type;
    const char *usual;
} classes[] = {
    {"qwen3",
     "{\"vocab_size\":151936,\"hidden_size\":4096,\"intermediate_size\":22016,"
     "\"num_hidden_layers\":32,\"num_attention_heads\":32,"
     "\"num_key_value_heads\":32,\"head_dim\":128,"
     "\"max_position_embeddings\":32768}"},
    {"llama",
     "{\"vocab_size\":32000,\"hidden_size\":4096,\"intermediate_size\":11008,"
     "\"num_hidden_layers\":32,\"num_attention_heads\":32,"
     "\"max_position_embeddings\":2048}" },
};

/* The decoder of JSON with what is usual; the caller owns *OUT.  */
static df_status
copy_decoder(json_t **out, const json_t *json, const char *where)
{
    static const char key[] = "transformer_layer_config";
    const json_t *layers;
    const char *type = NULL;
    size_t i = 0, n = sizeof classes / sizeof classes[0];

    *out = NULL;
    DF_TRY(df_json_require(json, key, &layers, where));
    if (!json_is_object(layers))
        return DF_FAIL(DF_FORMAT, "%s: %s is %s, not an object", where, key,
                       df_json_type_name(layers));
    DF_TRY(df_json_get_string(layers, "model_type", &type, where));
    while (i < n && (!type || strcmp(type, classes[i].model_type) != 0))
        i++;
    if (i == n)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: %s: model_type is qwen3 or llama, not '%s'", where,
                       key, type ? type : "");
    *out = json_loads(classes[i].usual, 0, NULL);
    if (!*out || json_object_update(*out, (json_t *) layers)
        || json_object_set_new(*out, "model_type", json_string("qwen3")))
        return DF_FAIL(DF_NO_MEMORY, "%s", where);
    return DF_OK;
}

/* Id I of IDS, from 1, which is the output of the first layer, to N - 1; N,
   if that is known, is what engines leave out.  */
static df_status
check_id(const json_t *ids, size_t i, int n, const char *where)
{
    const json_t *value = json_array_get(ids, i);
    json_int_t id = json_integer_value(value);

    if (!json_is_integer(value))
        return DF_FAIL(DF_FORMAT, "%s: %s holds %s", where, layers_key,
                       df_json_type_name(value));
    if (id == 0)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: %s holds 0, the embedding's output: wanted are 1"
                       " and up",
                       where, layers_key);
    if (id < 0 || id > DF_MAX_LAYERS || (n > 0 && id >= n))
        return DF_FAIL(DF_FORMAT, "%s: %s holds %lld, not within 1 and %d",
                       where, layers_key, (long long) id,
                       n > 0 ? n - 1 : DF_MAX_LAYERS);
    if (i > 0 && id <= json_integer_value(json_array_get(ids, i - 1)))
        return DF_FAIL(
            DF_FORMAT, "%s: %s must ascend, but %lld follows %lld", where,
            layers_key, (long long) id,
            (long long) json_integer_value(json_array_get(ids, i - 1)));
    return DF_OK;
}

/* The ids as z-lab counts.  The caller owns *OUT.  */
static df_status
copy_ids(json_t **out, const json_t *json, const char *where)
{
    const json_t *ids;
    int n = 0;

    *out = NULL;
    DF_TRY(df_config_get_int(json, "num_target_layers", 1, DF_MAX_LAYERS, &n,
                             where));
    DF_TRY(df_json_require(json, layers_key, &ids, where));
    if (!json_is_array(ids) || json_array_size(ids) == 0)
        return DF_FAIL(DF_FORMAT, "%s: %s is %s, not an array of integers",
                       where, layers_key,
                       json_is_array(ids) ? "empty" : df_json_type_name(ids));
    for (size_t i = 0; i < json_array_size(ids); i++)
        DF_TRY(check_id(ids, i, n, where));
    *out = json_array();
    for (size_t i = 0; i < json_array_size(ids); i++)
        json_array_append_new(
            *out,
            json_integer(json_integer_value(json_array_get(ids, i)) - 1));
    return DF_OK;
}

/* The settings of drafters that this library has no other kind of.  */
static df_status
check_kind(const json_t *json, const char *where)
{
    static const char *const known[] = {"DFlashDraftModel", "DFlashSpeculator",
                                        NULL};
    const char *type = NULL;
    bool from_anchor = false;

    DF_TRY(df_json_get_string(json, "speculators_model_type", &type, where));
    if (!type || strcmp(type, "dflash") != 0)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: speculators_model_type is dflash, not '%s'", where,
                       type ? type : "");
    DF_TRY(df_config_check_architectures(json, known, where));
    DF_TRY(df_json_get_bool(json, "sample_from_anchor", &from_anchor, where));
    if (from_anchor)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: sample_from_anchor true is not supported: slot 0"
                       " of a block holds the anchor and predicts nothing",
                       where);
    return DF_OK;
}

/* Engines draft speculative_tokens, whatever the block is.  */
static df_status
check_proposal(const json_t *json, int block_size, const char *where)
{
    const json_t *config = json_object_get(json, "speculators_config");
    const json_t *method =
        json_array_get(json_object_get(config, "proposal_methods"), 0);
    const json_t *verifier = json_object_get(config, "verifier");
    char place[400];
    int tokens = 0;

    if (!json_is_object(method) || !json_is_object(verifier))
        return DF_FAIL(DF_FORMAT,
                       "%s: no speculators_config with proposal_methods and"
                       " a verifier",
                       where);
    snprintf(place, sizeof place, "%s: speculators_config", where);
    DF_TRY(df_config_get_int(method, "speculative_tokens", 0, INT_MAX, &tokens,
                             place));
    if (tokens != block_size - 1)
        return DF_FAIL(DF_FORMAT,
                       "%s: speculative_tokens is %d, but a block of %d has"
                       " %d",
                       place, tokens, block_size, block_size - 1);
    if (!json_is_string(json_object_get(verifier, "name_or_path")))
        return DF_FAIL(DF_FORMAT, "%s: verifier: no name_or_path", place);
    return DF_OK;
}

static df_status
check_sizes(int *draft_vocab, int *block_size, const json_t *json,
            const json_t *decoder, const char *where)
{
    const json_t *present;
    int vocab = 0, hidden = 0, target;

    DF_TRY(
        df_config_get_int(decoder, "vocab_size", 1, INT_MAX, &vocab, where));
    DF_TRY(
        df_config_get_int(decoder, "hidden_size", 1, INT_MAX, &hidden, where));
    DF_TRY(df_json_require(json, "block_size", &present, where));
    DF_TRY(df_config_get_int(json, "block_size", DF_MIN_BLOCK_SIZE,
                             DF_MAX_BLOCK_SIZE, block_size, where));
    DF_TRY(df_json_require(json, "draft_vocab_size", &present, where));
    DF_TRY(df_config_get_int(json, "draft_vocab_size", 1, vocab, draft_vocab,
                             where));
    target = hidden;
    DF_TRY(df_config_get_int(json, "target_hidden_size", 1, INT_MAX, &target,
                             where));
    if (target != hidden)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: target_hidden_size is %d, but hidden_size %d",
                       where, target, hidden);
    if (*draft_vocab == vocab)
        *draft_vocab = 0;
    return DF_OK;
}

/* Put what z-lab has at top level or in dflash_config into FLAT.  IDS is
   owned by it afterwards.  */
static df_status
put_settings(json_t *flat, json_t *ids, const json_t *json, const char *where)
{
    const json_t *block, *mask;
    json_t *n = json_object_get(json, "num_target_layers");
    json_t *dtype = json_object_get(json, "dtype");
    json_t *dflash = json_object();
    int failed = json_object_set_new(dflash, "target_layer_ids", ids);

    failed |= json_object_set_new(flat, "dflash_config", dflash);
    DF_TRY(df_json_require(json, "block_size", &block, where));
    DF_TRY(df_json_require(json, "mask_token_id", &mask, where));
    failed |= json_object_set(flat, "block_size", (json_t *) block);
    failed |= json_object_set(dflash, "mask_token_id", (json_t *) mask);
    if (n && !json_is_null(n))
        failed |= json_object_set(flat, "num_target_layers", n);
    if (dtype && !json_object_get(flat, "dtype"))
        failed |= json_object_set(flat, "dtype", dtype);
    json_object_del(flat, "draft_vocab_size");
    json_object_del(flat, "architectures");
    return failed ? DF_FAIL(DF_NO_MEMORY, "%s", where) : DF_OK;
}

df_status
df_speculators_flatten(json_t **out, int *draft_vocab, const json_t *json,
                       const char *where)
{
    json_t *flat = NULL, *ids = NULL;
    int block_size = 0;
    df_status status;

    *out = NULL;
    DF_TRY(check_kind(json, where));
    status = copy_decoder(&flat, json, where);
    if (status == DF_OK)
        status = check_sizes(draft_vocab, &block_size, json, flat, where);
    if (status == DF_OK)
        status = check_proposal(json, block_size, where);
    if (status == DF_OK)
        status = copy_ids(&ids, json, where);
    if (status == DF_OK)
        status = put_settings(flat, ids, json, where);
    if (status == DF_OK)
        *out = flat;
    else
        json_decref(flat);
    return status;
}

int
df_first_unlike_layer(const struct df_drafter_config *c)
{
    for (int i = 1; i < c->d.num_hidden_layers; i++)
        if (!c->d.window[i] != !c->d.window[0])
            return i;
    return -1;
}

/* A sliding layer is causal within a block, a full one isn't: that is how
   blocks are trained, and an engine has one setting for all layers.  */
df_status
df_speculators_check_layers(const struct df_drafter_config *c,
                            const json_t *json, const char *where)
{
    static const char key[] = "sliding_window_non_causal";
    int unlike = df_first_unlike_layer(c);
    bool non_causal = false;

    if (unlike > 0)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: layer 0 is %s and layer %d isn't: engines know"
                       " one causality for all layers",
                       where, c->d.window[0] ? "sliding" : "full", unlike);
    if (!c->d.window[0])
        return DF_OK;
    if (!json_is_boolean(json_object_get(json, key)))
        return DF_FAIL(DF_FORMAT,
                       "%s: no %s, although the layers slide: engines"
                       " disagree on what that means",
                       where, key);
    DF_TRY(df_json_get_bool(json, key, &non_causal, where));
    if (non_causal)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: %s true is not supported: sliding layers are"
                       " causal",
                       where, key);
    return DF_OK;
}

/* The object speculators_config: that of OLD, but for what FORM says.  */
static json_t *
speculators_config(const struct df_drafter_config *c,
                   const struct df_drafter_form *form, const json_t *old)
{
    const struct df_model_config *target = form->target.config;
    json_t *names, *o;

    if (old && !form->verifier)
        return json_deep_copy(json_object_get(old, "speculators_config"));
    names = json_array();
    if (target)
        json_array_append_new(
            names,
            json_string(df_family_find(target->model_type)->architectures[0]));
    o = json_pack("{s:s, s:s, s:[{s:s, s:i, s:i, s:f}], s:{s:s, s:o}}",
                  "algorithm", "dflash", "default_proposal_method", "greedy",
                  "proposal_methods", "proposal_type", "greedy",
                  "speculative_tokens", c->block_size - 1, "verifier_accept_k",
                  1, "accept_tolerance", 0.0, "verifier", "name_or_path",
                  form->verifier, "architectures", names);
    return o;
}

static json_t *
aux_ids(const struct df_drafter_config *c)
{
    json_t *ids = json_array();

    for (int i = 0; i < c->n_target_layer_ids; i++)
        json_array_append_new(ids, json_integer(c->target_layer_ids[i] + 1));
    return ids;
}

/* FLAT without what has another place here.  */
static json_t *
decoder_of(const json_t *flat)
{
    static const char *const others[] = {"architectures", "block_size",
                                         "dflash_config", "num_target_layers"};
    json_t *o = json_deep_copy(flat);

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        json_object_del(o, others[i]);
    return o;
}

json_t *
df_speculators_wrap(const json_t *flat, const struct df_drafter_config *c,
                    const struct df_drafter_form *form, json_t *old)
{
    int vocab = c->draft_vocab_size ? c->draft_vocab_size : c->d.vocab_size;
    json_t *o = json_pack(
        "{s:[s], s:s, s:o, s:i, s:o, s:i, s:i, s:n, s:b, s:b, s:b, s:o, s:O}",
        "architectures", "DFlashDraftModel", "speculators_model_type",
        "dflash", "transformer_layer_config", decoder_of(flat),
        "draft_vocab_size", vocab, "aux_hidden_state_layer_ids", aux_ids(c),
        "block_size", c->block_size, "mask_token_id", c->mask_token_id,
        "target_hidden_size", "sample_from_anchor", false,
        "sliding_window_non_causal", c->d.window[0] == 0,
        "tie_word_embeddings", false, "speculators_config",
        speculators_config(c, form, old), "dtype",
        json_object_get(flat, "dtype"));

    int failed = !o;

    if (o && c->num_target_layers > 0)
        failed |= json_object_set_new(o, "num_target_layers",
                                      json_integer(c->num_target_layers));
    if (o && old)
        failed |= json_object_update_missing(o, old);
    if (!failed) {
        json_object_del(o, "auto_map"); /* of code that is not copied */
        return o;
    }
    json_decref(o);
    return NULL;
}

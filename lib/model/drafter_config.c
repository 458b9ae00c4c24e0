/* A drafter's config.json: reading, and making one for a target.  */

#include <config.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_internal.h"
#include "model/config_internal.h"
#include "model/drafter_files_internal.h"

static const char *const architectures[] = {"DFlashDraftModel", NULL};

/* KEY stands in DFLASH or at top level; in both only with the same value.  */
static df_status
find_either(const json_t **out, const json_t *json, const json_t *dflash,
            const char *key, const char *where)
{
    const json_t *inner = json_object_get(dflash, key);
    const json_t *outer = json_object_get(json, key);

    inner = json_is_null(inner) ? NULL : inner;
    outer = json_is_null(outer) ? NULL : outer;
    if (inner && outer && !json_equal(inner, outer))
        return DF_FAIL(DF_FORMAT,
                       "%s: %s differs between top level and dflash_config",
                       where, key);
    if (!inner && !outer)
        return DF_FAIL(DF_FORMAT, "%s: no %s", where, key);
    *out = inner ? dflash : json;
    return DF_OK;
}

static df_status
get_either(const json_t *json, const json_t *dflash, const char *key, int min,
           int max, int *out, const char *where)
{
    const json_t *owner;

    DF_TRY(find_either(&owner, json, dflash, key, where));
    return df_config_get_int(owner, key, min, max, out, where);
}

/* Settings of other kinds of drafters, which add weights to this one's,
   stand in the same object.  */
static df_status
check_dflash_keys(json_t *dflash, const char *where)
{
    static const char *const known[] = {"mask_token_id", "target_layer_ids",
                                        "block_size", "num_target_layers",
                                        "mask_token"};
    const char *key;
    json_t *value;

    json_object_foreach(dflash, key, value)
    {
        size_t i = 0, n = sizeof known / sizeof known[0];

        while (i < n && strcmp(known[i], key) != 0)
            i++;
        if (i == n && !json_is_null(value) && !json_is_false(value))
            return DF_FAIL(DF_UNSUPPORTED,
                           "%s: dflash_config: '%s' is not supported", where,
                           key);
    }
    return DF_OK;
}

/* The ids of C are what the file's order of tensors follows, so the order
   matters.  */
static df_status
check_ids(df_status kind, const struct df_drafter_config *c, const char *where)
{
    for (int i = 0; i < c->n_target_layer_ids; i++) {
        int id = c->target_layer_ids[i];

        if (id < 0 || (c->num_target_layers && id >= c->num_target_layers))
            return DF_FAIL(kind,
                           "%s: target layer id %d is not within 0 and %d",
                           where, id, c->num_target_layers - 1);
        if (i > 0 && id <= c->target_layer_ids[i - 1])
            return DF_FAIL(kind,
                           "%s: target layer ids must ascend, but %d follows"
                           " %d",
                           where, id, c->target_layer_ids[i - 1]);
    }
    return DF_OK;
}

static df_status
read_ids(struct df_drafter_config *c, const json_t *json, const json_t *dflash,
         const char *where)
{
    const json_t *owner, *ids;

    DF_TRY(find_either(&owner, json, dflash, "target_layer_ids", where));
    ids = json_object_get(owner, "target_layer_ids");
    if (!json_is_array(ids))
        return DF_FAIL(DF_FORMAT, "%s: target_layer_ids is %s, not an array",
                       where, df_json_type_name(ids));
    size_t n = json_array_size(ids);
    if (n < 1 || n > DF_MAX_LAYERS)
        return DF_FAIL(DF_FORMAT, "%s: %zu target_layer_ids", where, n);
    c->n_target_layer_ids = (int) n;
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(ids, i);
        json_int_t id = json_integer_value(value);

        if (!json_is_integer(value))
            return DF_FAIL(DF_FORMAT, "%s: target_layer_ids holds %s", where,
                           df_json_type_name(value));
        if (id < INT_MIN || id > INT_MAX)
            return DF_FAIL(DF_FORMAT, "%s: target_layer_ids holds %lld", where,
                           (long long) id);
        c->target_layer_ids[i] = (int) id;
    }
    return check_ids(DF_FORMAT, c, where);
}

/* That it is a drafter of this kind at all.  */
static df_status
check_kind(const json_t *json, const char *where)
{
    const char *type = NULL;
    int64_t vocab = 0, draft_vocab;

    DF_TRY(df_config_check_architectures(json, architectures, where));
    DF_TRY(df_json_get_string(json, "model_type", &type, where));
    if (!type || strcmp(type, "qwen3") != 0)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: a drafter's model_type is qwen3, not '%s'", where,
                       type ? type : "");
    DF_TRY(df_json_get_int(json, "vocab_size", 0, INT_MAX, &vocab, where));
    draft_vocab = vocab;
    DF_TRY(df_json_get_int(json, "draft_vocab_size", 0, INT_MAX, &draft_vocab,
                           where));
    if (draft_vocab != vocab)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: a draft_vocab_size other than vocab_size is not"
                       " supported in z-lab's layout",
                       where);
    return DF_OK;
}

/* Engines take the padding without a word where no mask token is given, and
   then fewer tokens are accepted.  The end of a sequence is allowed: there
   are published drafters that were trained with it.  */
static df_status
check_mask(const struct df_drafter_config *c, const json_t *json,
           const char *where)
{
    const json_t *pad = json_object_get(json, "pad_token_id");

    if (json_is_integer(pad) && json_integer_value(pad) == c->mask_token_id)
        return DF_FAIL(DF_FORMAT,
                       "%s: mask_token_id is %d, and so is pad_token_id: a"
                       " mask token of its own is wanted",
                       where, c->mask_token_id);
    return DF_OK;
}

/* JSON is in z-lab's form.  WHERE is the place of what DFlash has, DECODER
   that of the rest.  */
static df_status
read_config(struct df_drafter_config *c, json_t *json, const char *where,
            const char *decoder)
{
    json_t *dflash = json_object_get(json, "dflash_config");

    DF_TRY(check_kind(json, where));
    if (dflash && !json_is_object(dflash))
        return DF_FAIL(DF_FORMAT, "%s: dflash_config is %s, not an object",
                       where, df_json_type_name(dflash));
    DF_TRY(check_dflash_keys(dflash, where));
    DF_TRY(df_config_read_decoder(&c->d, json, decoder));
    if (c->d.attention_bias)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: attention_bias is not supported in a drafter",
                       decoder);
    c->d.qk_norm = true;
    DF_TRY(df_config_read_windows(&c->d, json, decoder));
    DF_TRY(get_either(json, dflash, "block_size", DF_MIN_BLOCK_SIZE,
                      DF_MAX_BLOCK_SIZE, &c->block_size, where));
    DF_TRY(get_either(json, dflash, "mask_token_id", 0, c->d.vocab_size - 1,
                      &c->mask_token_id, where));
    if (c->layout == DF_LAYOUT_ZLAB
        || json_object_get(json, "num_target_layers"))
        DF_TRY(get_either(json, dflash, "num_target_layers", 1, DF_MAX_LAYERS,
                          &c->num_target_layers, where));
    DF_TRY(check_mask(c, json, where));
    return read_ids(c, json, dflash, where);
}

/* Likewise for JSON in speculators' form; *FLAT is what it is in z-lab's.  */
static df_status
read_speculators(struct df_drafter_config *c, json_t **flat,
                 const json_t *json, const char *where)
{
    char decoder[400];

    c->layout = DF_LAYOUT_SPECULATORS;
    DF_TRY(df_speculators_flatten(flat, &c->draft_vocab_size, json, where));
    snprintf(decoder, sizeof decoder, "%s: transformer_layer_config", where);
    DF_TRY(read_config(c, *flat, where, decoder));
    return df_speculators_check_layers(c, json, where);
}

static void
keep_speculators(struct df_drafter_json *out, json_t *json)
{
    json_t *config = json_object_get(json, "speculators_config");

    out->speculators = json_incref(json);
    out->verifier = json_string_value(
        json_object_get(json_object_get(config, "verifier"), "name_or_path"));
}

df_status
df_drafter_json_load(struct df_drafter_json *out, struct df_drafter_config *c,
                     const char *path)
{
    json_t *json;
    df_status status;

    *out = (struct df_drafter_json){0};
    *c = (struct df_drafter_config){0};
    DF_TRY(df_config_open(&json, &out->path, path));
    if (json_object_get(json, "speculators_model_type")) {
        status = read_speculators(c, &out->flat, json, out->path);
        if (status == DF_OK)
            keep_speculators(out, json);
    } else {
        out->flat = json_incref(json);
        status = read_config(c, json, out->path, out->path);
    }
    json_decref(json);
    if (status != DF_OK)
        df_drafter_json_free(out);
    return status;
}

void
df_drafter_json_free(struct df_drafter_json *json)
{
    json_decref(json->flat);
    json_decref(json->speculators);
    free(json->path);
    *json = (struct df_drafter_json){0};
}

df_status
df_drafter_config_load(struct df_drafter_config *out, const char *path)
{
    struct df_drafter_json json;

    DF_TRY(df_drafter_json_load(&json, out, path));
    df_drafter_json_free(&json);
    return DF_OK;
}

const char *
df_drafter_layout_name(enum df_drafter_layout layout)
{
    return layout == DF_LAYOUT_SPECULATORS ? "speculators" : "zlab";
}

/* In integers, so that ties are exact: 1 + i * span / last.  */
df_status
df_target_layer_ids_default(int n_target, int n_draft, int *ids)
{
    int last = n_draft - 1, span = n_target - 4;

    if (n_draft == 1 && n_target >= 1) {
        ids[0] = n_target / 2;
        return DF_OK;
    }
    if (n_draft < 1 || span < last)
        return DF_FAIL(DF_INVALID,
                       "a target of %d layers has no %d default layers for a"
                       " drafter: name them",
                       n_target, n_draft);
    for (int i = 0; i < n_draft; i++) {
        int whole = 1 + i * span / last, twice = 2 * (i * span % last);
        bool up = twice > last || (twice == last && whole % 2);

        ids[i] = whole + up;
    }
    return DF_OK;
}

static df_status
check_range(const char *what, int value, int min, int max)
{
    if (value < min || value > max)
        return DF_FAIL(DF_INVALID, "%s is %d, not within %d and %d", what,
                       value, min, max);
    return DF_OK;
}

df_status
df_drafter_config_from_target(struct df_drafter_config *out,
                              const struct df_model_config *target,
                              int n_layers, const int *ids, int n_ids,
                              int block_size, int mask_token_id)
{
    const struct df_decoder_config *d = &target->d;

    DF_TRY(check_range("number of draft layers", n_layers, 1, DF_MAX_LAYERS));
    DF_TRY(check_range("block size", block_size, DF_MIN_BLOCK_SIZE,
                       DF_MAX_BLOCK_SIZE));
    DF_TRY(check_range("mask token id", mask_token_id, 0, d->vocab_size - 1));
    *out = (struct df_drafter_config){
        .d = *d,
        .block_size = block_size,
        .mask_token_id = mask_token_id,
        .num_target_layers = d->num_hidden_layers,
        .n_target_layer_ids = ids ? n_ids : n_layers,
    };
    out->d.num_hidden_layers = n_layers;
    out->d.attention_bias = false;
    out->d.qk_norm = true;
    memset(out->d.window, 0, sizeof out->d.window);
    if (!ids)
        return df_target_layer_ids_default(d->num_hidden_layers, n_layers,
                                           out->target_layer_ids);
    DF_TRY(check_range("number of target layer ids", n_ids, 1, DF_MAX_LAYERS));
    memcpy(out->target_layer_ids, ids, (size_t) n_ids * sizeof *ids);
    return check_ids(DF_INVALID, out, "drafter");
}

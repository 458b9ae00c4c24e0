/* Writing a drafter's config.json.

   Readers differ in where they look, so some things are said twice: rope in
   rope_parameters and in rope_theta with rope_scaling, the block size at top
   level and in dflash_config.

   z-lab's form is made first; that of speculators is made of it.  */

#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file_internal.h"
#include "base/json_internal.h"
#include "model/config_internal.h"
#include "model/drafter_files_internal.h"

/* The size of all windows there are, or 0.  */
static df_status
common_window(const struct df_decoder_config *d, int *out)
{
    *out = 0;
    for (int i = 0; i < d->num_hidden_layers; i++) {
        if (*out && d->window[i] && d->window[i] != *out)
            return DF_FAIL(DF_INVALID,
                           "drafter: windows of %d and of %d, but config.json"
                           " has room for one",
                           *out, d->window[i]);
        if (d->window[i])
            *out = d->window[i];
    }
    return DF_OK;
}

/* Out of memory shows later, as a value that cannot be set.  */
static json_t *
layer_types(const struct df_decoder_config *d)
{
    json_t *list = json_array();

    for (int i = 0; i < d->num_hidden_layers; i++)
        json_array_append_new(list,
                              json_string(d->window[i] ? "sliding_attention"
                                                       : "full_attention"));
    return list;
}

static json_t *
dflash_config(const struct df_drafter_config *c)
{
    json_t *ids = json_array();

    for (int i = 0; i < c->n_target_layer_ids; i++)
        json_array_append_new(ids, json_integer(c->target_layer_ids[i]));
    return json_pack("{s:i, s:i, s:i, s:o}", "block_size", c->block_size,
                     "mask_token_id", c->mask_token_id, "num_target_layers",
                     c->num_target_layers, "target_layer_ids", ids);
}

/* The old spelling of rope beside the new one in O.  */
static int
mirror_rope(json_t *o, const struct df_rope *r)
{
    json_t *old = df_rope_to_json(r);

    json_object_del(old, "rope_theta");
    if (r->type == DF_ROPE_DEFAULT) {
        json_decref(old);
        old = json_null();
    }
    return json_object_set_new(o, "rope_theta", json_real(r->theta))
           | json_object_set_new(o, "rope_scaling", old);
}

/* NULL when there is no memory.  */
static json_t *
to_json(const struct df_drafter_config *c, int window)
{
    const struct df_decoder_config *d = &c->d;
    json_t *o =
        json_pack("{s:[s], s:s, s:b, s:f, s:n, s:i, s:o, s:s, s:n, s:i, s:s}",
                  "architectures", "DFlashDraftModel", "model_type", "qwen3",
                  "attention_bias", false, "attention_dropout", 0.0,
                  "bos_token_id", "block_size", c->block_size, "dflash_config",
                  dflash_config(c), "dtype", "bfloat16", "eos_token_id",
                  "head_dim", d->head_dim, "hidden_act", "silu");
    json_t *sizes = json_pack(
        "{s:i, s:f, s:i, s:o, s:i, s:i, s:i, s:i, s:i, s:i}", "hidden_size",
        d->hidden_size, "initializer_range", 0.02, "intermediate_size",
        d->intermediate_size, "layer_types", layer_types(d),
        "max_position_embeddings", d->max_position_embeddings,
        "max_window_layers", d->num_hidden_layers, "num_attention_heads",
        d->num_attention_heads, "num_hidden_layers", d->num_hidden_layers,
        "num_key_value_heads", d->num_key_value_heads, "num_target_layers",
        c->num_target_layers);
    json_t *rest = json_pack(
        "{s:n, s:f, s:o, s:o, s:b, s:b, s:b, s:i}", "pad_token_id",
        "rms_norm_eps", d->rms_norm_eps, "rope_parameters",
        df_rope_to_json(&d->rope), "sliding_window",
        window ? json_integer(window) : json_null(), "tie_word_embeddings",
        false, "use_cache", true, "use_sliding_window", window > 0,
        "vocab_size", d->vocab_size);
    int failed = !o || json_object_update(o, sizes)
                 || json_object_update(o, rest) || mirror_rope(o, &d->rope);

    json_decref(sizes);
    json_decref(rest);
    if (!failed)
        return o;
    json_decref(o);
    return NULL;
}

/* O as text, with the digits that numbers need to be read back exactly but
   without 9.9999999999999995e-07 where 1e-06 will do.  To be freed.  */
static char *
dump(const json_t *o)
{
    size_t flags = JSON_INDENT(2) | JSON_SORT_KEYS;
    char *text = json_dumps(o, flags | JSON_REAL_PRECISION(15));
    json_t *back = text ? json_loads(text, 0, NULL) : NULL;
    bool exact = back && json_equal(o, back);

    json_decref(back);
    if (exact)
        return text;
    free(text);
    return json_dumps(o, flags | JSON_REAL_PRECISION(17));
}

static df_status
write_text(const char *path, const char *text)
{
    struct stat st;
    bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    char *file = folder ? df_path_join(path, "config.json") : strdup(path);
    df_status status;

    if (!file)
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory for its name", path);
    status = df_file_write(file, text, strlen(text));
    free(file);
    return status;
}

static bool
is_one_of(const char *key, const char *const *keys)
{
    while (*keys && strcmp(*keys, key) != 0)
        keys++;
    return *keys != NULL;
}

/* Take into O, in z-lab's form, the settings of OLD that have no part in
   what a drafter computes, and those of which O knows nothing.  */
static int
keep_settings(json_t *o, json_t *old)
{
    static const char *const given[] = {
        "attention_dropout", "bos_token_id", "dtype",
        "eos_token_id",      "pad_token_id", "initializer_range",
        "max_window_layers", "use_cache",    NULL};
    /* Said elsewhere in O, or of code that is not copied.  */
    static const char *const said[] = {"auto_map",
                                       "draft_vocab_size",
                                       "mask_token_id",
                                       "original_max_position_embeddings",
                                       "partial_rotary_factor",
                                       "target_layer_ids",
                                       "torch_dtype",
                                       NULL};
    const char *key;
    json_t *value;
    int failed = 0;

    json_object_foreach(old, key, value)
    {
        bool known = json_object_get(o, key) != NULL;

        if (is_one_of(key, said) || (known && !is_one_of(key, given))
            || (known && json_is_null(value)))
            continue;
        failed |= json_object_set(o, key, value);
    }
    return failed;
}

df_status
df_drafter_form_check(const struct df_drafter_config *c,
                      const struct df_drafter_form *form, const char *where)
{
    int last = c->target_layer_ids[c->n_target_layer_ids - 1], window;
    int unlike = df_first_unlike_layer(c);

    DF_TRY(common_window(&c->d, &window));
    if (form->layout == DF_LAYOUT_ZLAB) {
        if (c->draft_vocab_size)
            return DF_FAIL(DF_INVALID,
                           "%s: draft_vocab_size is %d of %d: z-lab's layout"
                           " has no vocabulary of its own",
                           where, c->draft_vocab_size, c->d.vocab_size);
        if (c->num_target_layers == 0)
            return DF_FAIL(DF_INVALID,
                           "%s: no num_target_layers, which z-lab's layout"
                           " wants: a target would say it",
                           where);
        return DF_OK;
    }
    if (unlike > 0)
        return DF_FAIL(DF_INVALID,
                       "%s: layer 0 is %s and layer %d isn't: of"
                       " speculators' layout engines read one causality for"
                       " all layers",
                       where, c->d.window[0] ? "sliding" : "full", unlike);
    if (last + 1 == c->num_target_layers)
        return DF_FAIL(DF_INVALID,
                       "%s: target layer id %d is the last of %d, which"
                       " readers of speculators' layout leave out",
                       where, last, c->num_target_layers);
    return DF_OK;
}

df_status
df_drafter_json_write(const struct df_drafter_config *c,
                      const struct df_drafter_form *form,
                      const struct df_drafter_json *old, const char *path)
{
    json_t *json, *flat;
    char *text;
    int window;
    df_status status;

    DF_TRY(df_drafter_form_check(c, form, old ? old->path : "drafter"));
    DF_TRY(common_window(&c->d, &window));
    json = flat = to_json(c, window);
    if (json && old && keep_settings(json, old->flat))
        json = NULL;
    if (json && form->layout == DF_LAYOUT_SPECULATORS)
        json =
            df_speculators_wrap(flat, c, form, old ? old->speculators : NULL);
    text = json ? dump(json) : NULL;
    status = text ? write_text(path, text)
                  : DF_FAIL(DF_NO_MEMORY, "%s: no memory to write it", path);
    free(text);
    if (json != flat)
        json_decref(json);
    json_decref(flat);
    return status;
}

df_status
df_drafter_config_save(const struct df_drafter_config *c, const char *path)
{
    static const struct df_drafter_form form = {.layout = DF_LAYOUT_ZLAB};

    return df_drafter_json_write(c, &form, NULL, path);
}

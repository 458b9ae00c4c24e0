#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <unistr.h>

#include "base/file_internal.h"
#include "base/hash_internal.h"
#include "base/json_internal.h"
#include "text/load_internal.h"
#include "text/tokenizer_internal.h"

/* Offsets are 32-bit numbers; what is longer than this is no document.  */
enum {
    TEXT_MAX = 1 << 30
};

/* Truncation and padding would be the tokenizer's own idea of what to do
   with a text, and training has its own.  */
static df_status
check_file(const json_t *file, const char *path)
{
    const char *version = "1.0";

    if (!json_is_object(file))
        return DF_FAIL(DF_FORMAT, "%s: is %s, not an object", path,
                       df_json_type_name(file));
    DF_TRY(df_load_keys(file,
                        "version truncation padding added_tokens normalizer "
                        "pre_tokenizer post_processor decoder model",
                        path));
    DF_TRY(df_json_get_string(file, "version", &version, path));
    if (strcmp(version, "1.0") != 0)
        return DF_FAIL(DF_UNSUPPORTED, "%s: version %.20s is not supported",
                       path, version);
    for (int i = 0; i < 2; i++) {
        const char *key = i ? "padding" : "truncation";
        const json_t *value = json_object_get(file, key);

        if (value && !json_is_null(value))
            return DF_FAIL(DF_UNSUPPORTED,
                           "%s: %s is not supported; null "
                           "leaves texts whole",
                           path, key);
    }
    return DF_OK;
}

static df_status
load_file(struct df_tokenizer *tok, const json_t *file, const char *path)
{
    const json_t *model;

    DF_TRY(check_file(file, path));
    DF_TRY(df_json_require(file, "model", &model, path));
    DF_TRY(df_steps_normalizer(&tok->normalizer,
                               json_object_get(file, "normalizer"), path));
    DF_TRY(df_steps_pre_tokenizer(
        &tok->pre_tokenizer, json_object_get(file, "pre_tokenizer"), path));
    /* Hugging Face's idea of where normalized text began isn't ours.  */
    if (tok->pre_tokenizer.at_start && tok->normalizer.n > 0)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: a normalizer is not supported "
                       "with prepend_scheme first",
                       path);
    DF_TRY(df_vocab_load(&tok->vocab, model, path));
    DF_TRY(df_bpe_load(&tok->bpe, &tok->vocab, model,
                       tok->pre_tokenizer.byte_level, path));
    DF_TRY(df_added_load(&tok->added, &tok->vocab,
                         json_object_get(file, "added_tokens"),
                         &tok->normalizer, path));
    DF_TRY(df_post_load(&tok->post, json_object_get(file, "post_processor"),
                        &tok->vocab, path));
    return df_decoder_load(&tok->decoder, json_object_get(file, "decoder"),
                           path);
}

static df_status
load_path(struct df_tokenizer *tok, const char *path)
{
    struct df_file map;
    json_t *file;
    df_status status;

    DF_TRY(df_file_map(&map, path));
    tok->hash = df_hash_bytes(map.data, map.size);
    status = df_json_parse(&file, (const char *) map.data, map.size, path);
    df_file_unmap(&map);
    DF_TRY(status);
    status = load_file(tok, file, path);
    json_decref(file);
    return status;
}

df_status
df_tokenizer_open(struct df_tokenizer **out, const char *dir)
{
    struct df_tokenizer *tok = calloc(1, sizeof *tok);
    char *path = df_path_join(dir, "tokenizer.json");
    df_status status;

    *out = NULL;
    if (!tok || !path)
        status = DF_FAIL(DF_NO_MEMORY, "%s: no memory for a tokenizer", dir);
    else
        status = load_path(tok, path);
    free(path);
    if (status == DF_OK)
        status = df_tokenizer_config_load(&tok->config, dir, &tok->vocab);
    if (status == DF_OK)
        *out = tok;
    else
        df_tokenizer_free(tok);
    return status;
}

void
df_tokenizer_free(struct df_tokenizer *tok)
{
    if (!tok)
        return;
    df_steps_free(&tok->normalizer);
    df_steps_free(&tok->pre_tokenizer);
    df_vocab_free(&tok->vocab);
    df_bpe_free(&tok->bpe);
    df_added_free(&tok->added);
    df_post_free(&tok->post);
    df_decoder_free(&tok->decoder);
    free(tok->config.chat_template);
    free(tok);
}

/* One call of df_tokenizer_encode.  Each function below is the sink of the
   one above it: text between raw added tokens, then normalized, then
   between normalized added tokens, then in parts.  */
struct encoding {
    const struct df_tokenizer *tok;
    struct df_matcher *m;
    struct df_bpe_scratch scratch;
    struct df_ids *ids;
};

static df_status
encode_part(void *context, const struct df_text *part)
{
    struct encoding *e = context;

    return df_bpe_encode(&e->tok->bpe, &e->scratch, part, e->ids);
}

static df_status
encode_between_normalized(void *context, const struct df_text *text)
{
    struct encoding *e = context;

    return df_steps_run(&e->tok->pre_tokenizer, 0, text, e->m, encode_part, e);
}

static df_status
encode_normalized(void *context, const struct df_text *text)
{
    struct encoding *e = context;
    const struct df_added *added = &e->tok->added;

    return df_added_split(added, &added->normalized, text, e->ids,
                          encode_between_normalized, e);
}

static df_status
encode_between_raw(void *context, const struct df_text *text)
{
    struct encoding *e = context;

    return df_steps_run(&e->tok->normalizer, 0, text, e->m, encode_normalized,
                        e);
}

static df_status
encode_all(struct encoding *e, const struct df_text *text, bool special)
{
    const struct df_post *post = &e->tok->post;
    const struct df_added *added = &e->tok->added;
    uint32_t end = (uint32_t) text->len;

    for (size_t i = 0; special && i < post->n_before; i++)
        DF_TRY(df_ids_push(e->ids, post->before[i], 0, 0));
    DF_TRY(df_added_split(added, &added->raw, text, e->ids, encode_between_raw,
                          e));
    for (size_t i = 0; special && i < post->n_behind; i++)
        DF_TRY(df_ids_push(e->ids, post->behind[i], end, end));
    return DF_OK;
}

df_status
df_tokenizer_encode(const struct df_tokenizer *tok, const char *text,
                    size_t len, int flags, struct df_ids *ids)
{
    struct encoding e = {.tok = tok, .ids = ids};
    struct df_text whole = {text, len, NULL, NULL, 0};
    size_t before = ids->n;
    df_status status;

    if (len > TEXT_MAX)
        return DF_FAIL(DF_INVALID, "a text of %zu bytes is longer than %d",
                       len, TEXT_MAX);
    const uint8_t *bad = len ? u8_check((const uint8_t *) text, len) : NULL;
    if (bad)
        return DF_FAIL(DF_INVALID, "the text is not UTF-8 at byte %zu",
                       (size_t) (bad - (const uint8_t *) text));
    DF_TRY(df_matcher_new(&e.m));
    status = encode_all(&e, &whole, flags & DF_ADD_SPECIAL);
    if (status != DF_OK)
        ids->n = before;
    df_matcher_free(e.m);
    df_bpe_scratch_free(&e.scratch);
    return status;
}

/* The string of ID as decoding starts from it, unless it's to be skipped.  */
static df_status
put_token(const struct df_tokenizer *tok, int32_t id, bool skip_special,
          struct df_strings *s)
{
    const struct df_added_token *added = df_added_find(&tok->added, id);
    size_t len;
    const char *text = df_vocab_text(&tok->vocab, id, &len);

    if (!text)
        return DF_FAIL(DF_INVALID, "no token has the id %d", id);
    if (!added)
        return df_strings_put(s, text, len);
    if (skip_special && added->special)
        return DF_OK;
    return df_strings_put(s, added->shown, added->shown_len);
}

df_status
df_tokenizer_decode(const struct df_tokenizer *tok, const int32_t *ids,
                    size_t n, bool skip_special, char **text, size_t *len)
{
    struct df_strings s = {0};
    df_status status = DF_OK;

    *text = NULL;
    *len = 0;
    for (size_t i = 0; i < n && status == DF_OK; i++)
        status = put_token(tok, ids[i], skip_special, &s);
    if (status == DF_OK)
        status = df_decoder_run(&tok->decoder, &s);
    if (status == DF_OK)
        status = df_bytes_put(&s.bytes, "", 1);
    free(s.end);
    if (status != DF_OK) {
        free(s.bytes.data);
        return status;
    }
    *text = s.bytes.data;
    *len = s.bytes.len - 1;
    return DF_OK;
}

int32_t
df_tokenizer_id(const struct df_tokenizer *tok, const char *token)
{
    return df_vocab_find(&tok->vocab, token, strlen(token));
}

const char *
df_tokenizer_token(const struct df_tokenizer *tok, int32_t id)
{
    return df_vocab_text(&tok->vocab, id, NULL);
}

int32_t
df_tokenizer_special(const struct df_tokenizer *tok, const char *role)
{
    enum df_role found = df_role_find(role);

    return found < DF_ROLES ? tok->config.role[found] : -1;
}

int32_t
df_tokenizer_size(const struct df_tokenizer *tok)
{
    return (int32_t) tok->vocab.size;
}

const char *
df_tokenizer_chat_template(const struct df_tokenizer *tok)
{
    return tok->config.chat_template;
}

uint64_t
df_tokenizer_hash(const struct df_tokenizer *tok)
{
    return tok->hash;
}

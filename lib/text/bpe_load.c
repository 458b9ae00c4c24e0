#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_internal.h"
#include "text/load_internal.h"
#include "text/vocab_internal.h"

#define MODEL_KEYS                                             \
    "type dropout unk_token continuing_subword_prefix "        \
    "end_of_word_suffix fuse_unk byte_fallback ignore_merges " \
    "vocab merges"

/* Files from before 2021 give the model no type; only BPE has merges.  */
static df_status
check_model(const json_t *model, const char *where)
{
    const char *type = "BPE", *affix = "";
    double dropout = 0;

    if (!json_is_object(model))
        return DF_FAIL(DF_FORMAT, "%s: model is %s, not an object", where,
                       df_json_type_name(model));
    if (!json_object_get(model, "merges"))
        type = "unknown";
    DF_TRY(df_json_get_string(model, "type", &type, where));
    if (strcmp(type, "BPE") != 0)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: model of type %.40s is not supported", where,
                       type);
    DF_TRY(df_load_keys(model, MODEL_KEYS, where));
    DF_TRY(df_json_get_real(model, "dropout", &dropout, where));
    if (dropout != 0)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: model with dropout is not supported", where);
    DF_TRY(
        df_json_get_string(model, "continuing_subword_prefix", &affix, where));
    if (*affix)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: model with a "
                       "continuing_subword_prefix is not "
                       "supported",
                       where);
    DF_TRY(df_json_get_string(model, "end_of_word_suffix", &affix, where));
    if (*affix)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: model with an end_of_word_suffix "
                       "is not supported",
                       where);
    return DF_OK;
}

df_status
df_vocab_load(struct df_vocab *v, const json_t *model, const char *where)
{
    const json_t *vocab;
    const char *text;
    json_t *id;

    DF_TRY(check_model(model, where));
    DF_TRY(df_json_require(model, "vocab", &vocab, where));
    if (!json_is_object(vocab))
        return DF_FAIL(DF_FORMAT, "%s: vocab is %s, not an object", where,
                       df_json_type_name(vocab));
    json_object_foreach((json_t *) vocab, text, id)
    {
        if (!json_is_integer(id))
            return DF_FAIL(DF_FORMAT, "%s: token %.80s has %s for an id",
                           where, text, df_json_type_name(id));
        DF_TRY(df_vocab_add(v, text, strlen(text), json_integer_value(id),
                            false, where));
    }
    return v->n ? DF_OK : DF_FAIL(DF_FORMAT, "%s: vocab is empty", where);
}

/* A merge's two halves, in either spelling: ["a", "b"] or "a b".  */
struct halves {
    const char *text[2];
    size_t len[2];
};

static df_status
split_merge(const json_t *merge, size_t i, struct halves *h, const char *where)
{
    if (json_is_array(merge) && json_array_size(merge) == 2
        && json_is_string(json_array_get(merge, 0))
        && json_is_string(json_array_get(merge, 1))) {
        for (int k = 0; k < 2; k++) {
            const json_t *half = json_array_get(merge, (size_t) k);

            h->text[k] = json_string_value(half);
            h->len[k] = json_string_length(half);
        }
        return DF_OK;
    }
    const char *text = json_string_value(merge);
    const char *space = text ? strchr(text, ' ') : NULL;
    if (!space || strchr(space + 1, ' '))
        return DF_FAIL(DF_FORMAT,
                       "%s: merge %zu is not two strings or one string with "
                       "one space",
                       where, i);
    *h = (struct halves){
        {text,                    space + 1                     },
        {(size_t) (space - text),
         json_string_length(merge) - (size_t) (space + 1 - text)}
    };
    return DF_OK;
}

static df_status
find_token(const struct df_vocab *v, const char *text, size_t len, size_t i,
           int32_t *id, const char *where)
{
    *id = df_vocab_find(v, text, len);
    if (*id >= 0)
        return DF_OK;
    return DF_FAIL(DF_FORMAT, "%s: merge %zu: no token %.*s", where, i,
                   len > 80 ? 80 : (int) len, text);
}

static df_status
load_merge(struct df_bpe *bpe, const json_t *merge, size_t i, uint32_t rank,
           struct df_bytes *whole, const char *where)
{
    struct halves h;
    int32_t left, right, id;

    DF_TRY(split_merge(merge, i, &h, where));
    DF_TRY(find_token(bpe->vocab, h.text[0], h.len[0], i, &left, where));
    DF_TRY(find_token(bpe->vocab, h.text[1], h.len[1], i, &right, where));
    whole->len = 0;
    DF_TRY(df_bytes_put(whole, h.text[0], h.len[0]));
    DF_TRY(df_bytes_put(whole, h.text[1], h.len[1]));
    DF_TRY(find_token(bpe->vocab, whole->data, whole->len, i, &id, where));
    return df_pairs_put(&bpe->merges, (uint64_t) left << 32 | (uint32_t) right,
                        rank, id);
}

/* A string that begins with #version, the first line of old merges files,
   is no merge.  */
static df_status
load_merges(struct df_bpe *bpe, const json_t *model, const char *where)
{
    const json_t *list;
    struct df_bytes whole = {0};
    uint32_t rank = 0;
    df_status status;

    DF_TRY(df_load_array(model, "merges", &list, where));
    status = DF_OK;
    for (size_t i = 0; i < json_array_size(list) && status == DF_OK; i++) {
        const json_t *merge = json_array_get(list, i);
        const char *text = json_string_value(merge);

        if (!text || strncmp(text, "#version", 8) != 0)
            status = load_merge(bpe, merge, i, rank++, &whole, where);
    }
    free(whole.data);
    return status;
}

static df_status
load_letters(struct df_bpe *bpe, const char *where)
{
    for (int i = 0; i < 256; i++) {
        char text[8];
        size_t len = 1;

        text[0] = (char) i;
        if (bpe->byte_level)
            len = df_byte_spelling((uint8_t) i, text);
        bpe->letter[i] = bpe->byte_level || i < 0x80
                             ? df_vocab_find(bpe->vocab, text, len)
                             : -1;
        snprintf(text, sizeof text, "<0x%02X>", (unsigned) i);
        bpe->fallback[i] = df_vocab_find(bpe->vocab, text, 6);
        /* It would apply to the spelling of the byte, not to the byte.  */
        if (bpe->byte_level && bpe->byte_fallback && bpe->letter[i] < 0)
            return DF_FAIL(DF_UNSUPPORTED,
                           "%s: byte_fallback with ByteLevel "
                           "is not supported",
                           where);
    }
    return DF_OK;
}

df_status
df_bpe_load(struct df_bpe *bpe, const struct df_vocab *v, const json_t *model,
            bool byte_level, const char *where)
{
    const char *unk = NULL;

    bpe->vocab = v;
    bpe->byte_level = byte_level;
    DF_TRY(df_json_get_bool(model, "fuse_unk", &bpe->fuse_unk, where));
    DF_TRY(
        df_json_get_bool(model, "byte_fallback", &bpe->byte_fallback, where));
    DF_TRY(
        df_json_get_bool(model, "ignore_merges", &bpe->ignore_merges, where));
    DF_TRY(df_json_get_string(model, "unk_token", &unk, where));
    bpe->has_unk = unk != NULL;
    bpe->unk = unk ? df_vocab_find(v, unk, strlen(unk)) : -1;
    DF_TRY(load_letters(bpe, where));
    return load_merges(bpe, model, where);
}

void
df_bpe_free(struct df_bpe *bpe)
{
    df_pairs_free(&bpe->merges);
}

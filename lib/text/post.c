#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/json_internal.h"
#include "text/load_internal.h"
#include "text/tokenizer_internal.h"

static df_status
append(int32_t **list, size_t *n, int32_t id, const char *where)
{
    int32_t *p = realloc(*list, (*n + 1) * sizeof *p);

    if (!p)
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory for its tokens", where);
    p[(*n)++] = id;
    *list = p;
    return DF_OK;
}

/* Add the ids of the special token NAME, before or BEHIND the text.  */
static df_status
add_special(struct df_post *post, const struct df_part *part, const char *name,
            bool behind, const struct df_vocab *vocab)
{
    const json_t *all, *token, *ids;

    DF_TRY(df_json_require(part->obj, "special_tokens", &all, part->where));
    DF_TRY(df_json_require(all, name, &token, part->where));
    DF_TRY(df_load_array(token, "ids", &ids, part->where));
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const json_t *value = json_array_get(ids, i);
        json_int_t id = json_integer_value(value);

        if (!json_is_integer(value) || id < 0 || id >= DF_ID_LIMIT
            || !df_vocab_text(vocab, (int32_t) id, NULL))
            return DF_FAIL(DF_FORMAT,
                           "%s: special token %.40s has an id that no token "
                           "has",
                           part->where, name);
        if (behind)
            DF_TRY(append(&post->behind, &post->n_behind, (int32_t) id,
                          part->where));
        else
            DF_TRY(append(&post->before, &post->n_before, (int32_t) id,
                          part->where));
    }
    return DF_OK;
}

/* One piece of the template: the text, *SEEN from then on, or a token.  */
static df_status
load_piece(struct df_post *post, const struct df_part *part,
           const json_t *piece, bool *seen, const struct df_vocab *vocab)
{
    const json_t *special = json_object_get(piece, "SpecialToken");
    const json_t *sequence = json_object_get(piece, "Sequence");
    const char *id;
    size_t len;

    DF_TRY(df_load_keys(piece, special ? "SpecialToken" : "Sequence",
                        part->where));
    if (!special && !sequence)
        return DF_FAIL(DF_FORMAT,
                       "%s: a piece of its template is neither a "
                       "SpecialToken nor a Sequence",
                       part->where);
    DF_TRY(df_load_string(special ? special : sequence, "id", &id, &len,
                          part->where));
    if (special)
        return add_special(post, part, id, *seen, vocab);
    if (strcmp(id, "A") != 0 || *seen)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: a template with other than one text A is not "
                       "supported",
                       part->where);
    *seen = true;
    return DF_OK;
}

static df_status
load_template(struct df_post *post, const struct df_part *part,
              const struct df_vocab *vocab)
{
    const json_t *pieces;
    bool seen = false;

    DF_TRY(df_load_keys(part->obj, "type single pair special_tokens",
                        part->where));
    DF_TRY(df_load_array(part->obj, "single", &pieces, part->where));
    if (post->n_before || post->n_behind)
        return DF_FAIL(DF_UNSUPPORTED, "%s inside another is not supported",
                       part->where);
    for (size_t i = 0; i < json_array_size(pieces); i++)
        DF_TRY(
            load_piece(post, part, json_array_get(pieces, i), &seen, vocab));
    if (!seen)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: a template with other than one text A is not "
                       "supported",
                       part->where);
    return DF_OK;
}

df_status
df_post_load(struct df_post *post, const json_t *value,
             const struct df_vocab *vocab, const char *where)
{
    struct df_part part;
    const json_t *list;

    if (!value || json_is_null(value))
        return DF_OK;
    DF_TRY(df_part_open(&part, value, "post_processor", where));
    if (strcmp(part.type, "TemplateProcessing") == 0)
        return load_template(post, &part, vocab);
    /* ByteLevel trims Hugging Face's offsets; ids stay as they are.  */
    if (strcmp(part.type, "ByteLevel") == 0)
        return df_load_keys(part.obj,
                            "type add_prefix_space trim_offsets use_regex",
                            part.where);
    if (strcmp(part.type, "Sequence") != 0)
        return df_part_refuse(&part);
    DF_TRY(df_load_keys(part.obj, "type processors", part.where));
    DF_TRY(df_load_array(part.obj, "processors", &list, part.where));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *inner = json_array_get(list, i);

        if (!json_is_object(inner))
            return DF_FAIL(DF_FORMAT,
                           "%s: processors[%zu] is %s, not an object",
                           part.where, i, df_json_type_name(inner));
        DF_TRY(df_post_load(post, inner, vocab, where));
    }
    return DF_OK;
}

void
df_post_free(struct df_post *post)
{
    free(post->before);
    free(post->behind);
    *post = (struct df_post){0};
}

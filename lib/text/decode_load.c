#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/json_internal.h"
#include "text/load_internal.h"
#include "text/tokenizer_internal.h"

static df_status
add_step(struct df_decoder *decoder, enum df_decode_kind kind,
         struct df_decode_step **out)
{
    DF_TRY(df_grow(&decoder->step, &decoder->cap, decoder->n + 1,
                   sizeof *decoder->step));
    *out = &decoder->step[decoder->n++];
    **out = (struct df_decode_step){.kind = kind};
    return DF_OK;
}

/* KEY of PART, which is one character.  */
static df_status
load_character(struct df_decode_step *step, const struct df_part *part,
               const char *key)
{
    DF_TRY(df_load_copy(part->obj, key, &step->content, &step->content_len,
                        part->where));
    if (step->content_len > 0
        && step->content_len == df_utf8_len(step->content[0]))
        return DF_OK;
    return DF_FAIL(DF_FORMAT, "%s: %s is not one character", part->where, key);
}

static df_status
load_strip(struct df_decoder *decoder, const struct df_part *part)
{
    struct df_decode_step *step;
    const json_t *value;
    int64_t start = 0, stop = 0;

    DF_TRY(df_load_keys(part->obj, "type content start stop", part->where));
    DF_TRY(add_step(decoder, DF_DECODE_STRIP, &step));
    DF_TRY(load_character(step, part, "content"));
    DF_TRY(df_json_require(part->obj, "start", &value, part->where));
    DF_TRY(df_json_require(part->obj, "stop", &value, part->where));
    DF_TRY(df_json_get_int(part->obj, "start", 0, INT32_MAX, &start,
                           part->where));
    DF_TRY(
        df_json_get_int(part->obj, "stop", 0, INT32_MAX, &stop, part->where));
    step->start = (size_t) start;
    step->stop = (size_t) stop;
    return DF_OK;
}

static df_status
load_replace(struct df_decoder *decoder, const struct df_part *part)
{
    struct df_decode_step *step;

    DF_TRY(df_load_keys(part->obj, "type pattern content", part->where));
    DF_TRY(add_step(decoder, DF_DECODE_REPLACE, &step));
    DF_TRY(df_pattern_load(&step->regex, part->obj, part->where));
    return df_load_copy(part->obj, "content", &step->content,
                        &step->content_len, part->where);
}

static df_status
load_metaspace(struct df_decoder *decoder, const struct df_part *part)
{
    struct df_decode_step *step;
    const char *scheme = "always", *where = part->where;
    bool prefix = true;

    DF_TRY(df_load_keys(part->obj,
                        "type replacement add_prefix_space "
                        "prepend_scheme split str_rep",
                        where));
    DF_TRY(add_step(decoder, DF_DECODE_METASPACE, &step));
    DF_TRY(load_character(step, part, "replacement"));
    DF_TRY(df_json_get_string(part->obj, "prepend_scheme", &scheme, where));
    DF_TRY(df_json_get_bool(part->obj, "add_prefix_space", &prefix, where));
    step->drop_first = strcmp(scheme, "never") != 0;
    if (step->drop_first && strcmp(scheme, "always") != 0
        && strcmp(scheme, "first") != 0)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: prepend_scheme %.40s is not "
                       "supported",
                       where, scheme);
    if (!prefix && step->drop_first)
        return DF_FAIL(DF_FORMAT,
                       "%s: add_prefix_space is false, yet "
                       "prepend_scheme is %s",
                       where, scheme);
    return DF_OK;
}

static df_status
load_sequence(struct df_decoder *decoder, const struct df_part *part,
              const char *where)
{
    const json_t *list;

    DF_TRY(df_load_keys(part->obj, "type decoders", part->where));
    DF_TRY(df_load_array(part->obj, "decoders", &list, part->where));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *value = json_array_get(list, i);

        if (!json_is_object(value))
            return DF_FAIL(DF_FORMAT, "%s: decoders[%zu] is %s, not an object",
                           part->where, i, df_json_type_name(value));
        DF_TRY(df_decoder_load(decoder, value, where));
    }
    return DF_OK;
}

df_status
df_decoder_load(struct df_decoder *decoder, const json_t *value,
                const char *where)
{
    struct df_decode_step *step;
    struct df_part part;

    if (!value || json_is_null(value))
        return DF_OK;
    decoder->given = true;
    DF_TRY(df_part_open(&part, value, "decoder", where));
    if (strcmp(part.type, "Sequence") == 0)
        return load_sequence(decoder, &part, where);
    if (strcmp(part.type, "Strip") == 0)
        return load_strip(decoder, &part);
    if (strcmp(part.type, "Replace") == 0)
        return load_replace(decoder, &part);
    if (strcmp(part.type, "Metaspace") == 0)
        return load_metaspace(decoder, &part);
    if (strcmp(part.type, "ByteLevel") == 0) {
        DF_TRY(df_load_keys(part.obj,
                            "type add_prefix_space trim_offsets use_regex",
                            part.where));
        return add_step(decoder, DF_DECODE_BYTE_LEVEL, &step);
    }
    if (strcmp(part.type, "ByteFallback") != 0
        && strcmp(part.type, "Fuse") != 0)
        return df_part_refuse(&part);
    DF_TRY(df_load_keys(part.obj, "type", part.where));
    return add_step(
        decoder,
        part.type[0] == 'F' ? DF_DECODE_FUSE : DF_DECODE_BYTE_FALLBACK, &step);
}

void
df_decoder_free(struct df_decoder *decoder)
{
    for (size_t i = 0; i < decoder->n; i++) {
        df_regex_free(decoder->step[i].regex);
        free(decoder->step[i].content);
    }
    free(decoder->step);
    *decoder = (struct df_decoder){0};
}

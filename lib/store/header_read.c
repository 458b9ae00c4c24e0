/* Reading a header: every key of the table must be there and as it should.  */

#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/json_internal.h"
#include "store/header_internal.h"

static df_status
mistaken(const struct df_head_key *key, const json_t *value,
         const char *wanted, const char *where)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    df_status status =
        DF_FAIL(DF_FORMAT, "%s: %s is %.80s, not %s", where, key->name,
                text ? text : df_json_type_name(value), wanted);

    free(text);
    return status;
}

static df_status
decode_hash(const struct df_head_key *key, const json_t *value, uint64_t *out,
            const char *where)
{
    const char *text = json_string_value(value);

    *out = 0;
    if (json_is_null(value))
        return DF_OK;
    if (!text || strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return mistaken(key, value, "16 hexadecimal digits", where);
    *out = strtoull(text, NULL, 16);
    return DF_OK;
}

static df_status
decode_layers(const struct df_head_key *key, const json_t *value,
              struct df_capture_header *h, const char *where)
{
    json_int_t before = -1;

    h->K = json_array_size(value);
    if (h->K < 1 || h->K > DF_MAX_LAYER_IDS)
        return mistaken(key, value, "a list of 1 to 32 layers", where);
    for (size_t i = 0; i < h->K; i++) {
        const json_t *item = json_array_get(value, i);
        json_int_t id = json_integer_value(item);
        bool unknown = id == -1 && before == -1;

        if (!json_is_integer(item) || id < -1 || id > INT32_MAX
            || (!unknown && id <= before))
            return mistaken(key, value, "a list of ascending layers", where);
        h->layer_ids[i] = (int32_t) id;
        before = id;
    }
    if (h->layer_ids[0] == -1 && before != -1)
        return mistaken(key, value, "known as a whole", where);
    return DF_OK;
}

static df_status
decode_size(const struct df_head_key *key, const json_t *value, size_t *out,
            const char *where)
{
    bool optional = strcmp(key->name, "vocab_size") == 0;
    json_int_t max = optional ? INT32_MAX : DF_MAX_HIDDEN_SIZE;
    json_int_t x = json_integer_value(value);

    *out = 0;
    if (optional && json_is_null(value))
        return DF_OK;
    if (x < 1 || x > max)
        return mistaken(key, value,
                        optional ? "null or 1 to 2147483647"
                                 : "within 1 and 1048576",
                        where);
    *out = (size_t) x;
    return DF_OK;
}

/* Keep TEXT, which is consumed, in HEAD and point AT to it.  */
static df_status
keep(struct df_head *head, const struct df_head_key *key, char *text, void *at,
     const char *where)
{
    size_t i = 0;

    while (i < DF_HEAD_TEXTS - 1 && head->texts[i])
        i++;
    head->texts[i] = text;
    memcpy(at, &text, sizeof text);
    return text ? DF_OK : DF_FAIL(DF_NO_MEMORY, "%s: %s", where, key->name);
}

static df_status
decode_text(struct df_head *head, const struct df_head_key *key,
            const json_t *value, void *at, const char *where)
{
    if (json_is_null(value))
        return DF_OK;
    if (key->kind == DF_KEY_STRING) {
        const char *text = json_string_value(value);

        if (!text || strlen(text) != json_string_length(value))
            return mistaken(key, value, "a string or null", where);
        return keep(head, key, strdup(text), at, where);
    }
    if (!json_is_object(value))
        return mistaken(key, value, "an object or null", where);
    return keep(head, key, json_dumps(value, JSON_COMPACT), at, where);
}

/* What must be as it is, since nothing else is understood.  */
static df_status
decode_constant(const struct df_head_key *key, const json_t *value,
                const char *where)
{
    char *text;
    df_status status;

    if (key->kind == DF_KEY_VERSION
            ? json_integer_value(value) == DF_CAPTURE_VERSION
            : json_is_string(value)
                  && strcmp(json_string_value(value), key->which) == 0)
        return DF_OK;
    text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    status = DF_FAIL(DF_UNSUPPORTED, "%s: %s is %.80s; only %s is understood",
                     where, key->name, text ? text : "wrong",
                     key->kind == DF_KEY_VERSION ? "1" : key->which);
    free(text);
    return status;
}

static df_status
decode(struct df_head *head, const struct df_head_key *key,
       const json_t *value, const char *where)
{
    struct df_capture_header *h = &head->header;
    void *at = (char *) h + key->at;

    switch (key->kind) {
    case DF_KEY_CONSTANT:
    case DF_KEY_VERSION:
        return decode_constant(key, value, where);
    case DF_KEY_STRING:
    case DF_KEY_OBJECT:
        return decode_text(head, key, value, at, where);
    case DF_KEY_HASH:
        return decode_hash(key, value, at, where);
    case DF_KEY_SIZE:
        return decode_size(key, value, at, where);
    case DF_KEY_LAYERS:
        return decode_layers(key, value, h, where);
    case DF_KEY_LAYOUT:
        for (int i = 0; i < 2; i++)
            if (json_is_string(value)
                && strcmp(json_string_value(value), df_layout_names[i]) == 0) {
                h->layout = i ? DF_CAPTURE_SPLIT : DF_CAPTURE_PACKED;
                return DF_OK;
            }
        return mistaken(key, value, "packed or split", where);
    case DF_KEY_BOOL:
        if (!json_is_boolean(value))
            return mistaken(key, value, "true or false", where);
        *(bool *) at = json_is_true(value);
        return DF_OK;
    case DF_KEY_CHECK:
        *(bool *) at = !json_is_null(value);
        return json_is_null(value) ? DF_OK
                                   : decode_constant(key, value, where);
    }
    return DF_OK;
}

static df_status
decode_all(struct df_head *head, const json_t *object, const char *where)
{
    const char *name;
    const json_t *value;

    if (!json_is_object(object))
        return DF_FAIL(DF_FORMAT, "%s: header is %s, not an object", where,
                       df_json_type_name(object));
    for (size_t i = 0; i < DF_N_HEAD_KEYS; i++) {
        value = json_object_get(object, df_head_keys[i].name);
        if (!value)
            return DF_FAIL(DF_FORMAT, "%s: header has no %s", where,
                           df_head_keys[i].name);
        DF_TRY(decode(head, &df_head_keys[i], value, where));
    }
    json_object_foreach((json_t *) object, name, value)
    {
        size_t i = 0;

        while (i < DF_N_HEAD_KEYS && strcmp(name, df_head_keys[i].name) != 0)
            i++;
        if (i == DF_N_HEAD_KEYS)
            return DF_FAIL(DF_UNSUPPORTED,
                           "%s: header has '%.80s', which isn't understood",
                           where, name);
    }
    return DF_OK;
}

df_status
df_head_parse(struct df_head *out, const char *text, size_t len,
              const char *where)
{
    json_t *object;
    df_status status;

    *out = (struct df_head){0};
    DF_TRY(df_json_parse(&object, text, len, where));
    status = decode_all(out, object, where);
    json_decref(object);
    if (status != DF_OK)
        df_head_clear(out);
    return status;
}

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_internal.h"
#include "text/load_internal.h"

df_status
df_part_open(struct df_part *part, const json_t *value, const char *what,
             const char *where)
{
    const json_t *type;

    if (!json_is_object(value))
        return DF_FAIL(DF_FORMAT, "%s: %s is %s, not an object", where, what,
                       df_json_type_name(value));
    snprintf(part->where, sizeof part->where, "%s: %s", where, what);
    DF_TRY(df_json_require(value, "type", &type, part->where));
    if (!json_is_string(type))
        return DF_FAIL(DF_FORMAT, "%s: type is %s, not a string", part->where,
                       df_json_type_name(type));
    part->obj = value;
    part->type = json_string_value(type);
    snprintf(part->where, sizeof part->where, "%s: %s of type %.40s", where,
             what, part->type);
    return DF_OK;
}

df_status
df_part_refuse(const struct df_part *part)
{
    return DF_FAIL(DF_UNSUPPORTED, "%s is not supported", part->where);
}

/* Whether WORD is one of WORDS, which spaces separate.  */
static bool
is_one_of(const char *word, const char *words)
{
    size_t len = strlen(word);

    for (const char *p = words; *p; p += strspn(p, " ")) {
        size_t n = strcspn(p, " ");

        if (n == len && memcmp(p, word, n) == 0)
            return true;
        p += n;
    }
    return false;
}

df_status
df_load_keys(const json_t *obj, const char *keys, const char *where)
{
    const char *key;
    json_t *value;

    json_object_foreach(
        (json_t *) obj, key,
        value) if (!is_one_of(key,
                              keys)) return DF_FAIL(DF_UNSUPPORTED,
                                                    "%s: the key %.80s is not "
                                                    "supported",
                                                    where, key);
    return DF_OK;
}

df_status
df_load_string(const json_t *obj, const char *key, const char **text,
               size_t *len, const char *where)
{
    const json_t *value;

    DF_TRY(df_json_require(obj, key, &value, where));
    if (!json_is_string(value))
        return DF_FAIL(DF_FORMAT, "%s: %s is %s, not a string", where, key,
                       df_json_type_name(value));
    *text = json_string_value(value);
    *len = json_string_length(value);
    return DF_OK;
}

df_status
df_load_copy(const json_t *obj, const char *key, char **text, size_t *len,
             const char *where)
{
    const char *borrowed;

    DF_TRY(df_load_string(obj, key, &borrowed, len, where));
    *text = malloc(*len + 1);
    if (!*text)
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory for %s", where, key);
    memcpy(*text, borrowed, *len + 1);
    return DF_OK;
}

df_status
df_load_bool(const json_t *obj, const char *key, bool *out, const char *where)
{
    const json_t *value;

    DF_TRY(df_json_require(obj, key, &value, where));
    return df_json_get_bool(obj, key, out, where);
}

df_status
df_load_array(const json_t *obj, const char *key, const json_t **out,
              const char *where)
{
    DF_TRY(df_json_require(obj, key, out, where));
    if (!json_is_array(*out))
        return DF_FAIL(DF_FORMAT, "%s: %s is %s, not an array", where, key,
                       df_json_type_name(*out));
    return DF_OK;
}

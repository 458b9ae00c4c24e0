#include <config.h>

#include <errno.h>
#include <string.h>

#include "base/file_internal.h"
#include "base/json_internal.h"

/* What jansson says quotes the text, which may have anything in it.  */
static void
make_printable(char *s)
{
    for (; *s; s++)
        if ((unsigned char) *s < ' ' || (unsigned char) *s >= 0x7F)
            *s = '?';
}

df_status
df_json_parse_line(json_t **out, const char *text, size_t len,
                   const char *name, uint64_t line)
{
    json_error_t err;

    *out =
        json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &err);
    if (*out)
        return DF_OK;
    if (json_error_code(&err) == json_error_out_of_memory)
        return DF_FAIL(DF_NO_MEMORY, "%s:%llu: JSON of %zu bytes", name,
                       (unsigned long long) line, len);
    make_printable(err.text);
    return DF_FAIL(DF_FORMAT, "%s:%llu:%d: not JSON: %s", name,
                   (unsigned long long) line + (unsigned) err.line - 1,
                   err.column, err.text);
}

df_status
df_json_parse(json_t **out, const char *text, size_t len, const char *name)
{
    return df_json_parse_line(out, text, len, name, 1);
}

df_status
df_json_load(json_t **out, const char *path)
{
    struct df_file file;
    df_status status;

    *out = NULL;
    DF_TRY(df_file_map(&file, path));
    status = df_json_parse(out, (const char *) file.data, file.size, path);
    df_file_unmap(&file);
    return status;
}

df_status
df_json_load_if_exists(json_t **out, const char *path)
{
    *out = NULL;
    return df_file_exists(path) ? df_json_load(out, path) : DF_OK;
}

const char *
df_json_type_name(const json_t *value)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object",   [JSON_ARRAY] = "an array",
        [JSON_STRING] = "a string",    [JSON_INTEGER] = "an integer",
        [JSON_REAL] = "a real number", [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",        [JSON_NULL] = "null",
    };
    return value ? names[json_typeof(value)] : "nothing";
}

/* The value of KEY, or NULL when it is absent or null.  */
static const json_t *
present(const json_t *obj, const char *key)
{
    const json_t *value = json_object_get(obj, key);

    return json_is_null(value) ? NULL : value;
}

static df_status
mistyped(const json_t *value, const char *key, const char *wanted,
         const char *where)
{
    return DF_FAIL(DF_FORMAT, "%s: %s is %s, not %s", where, key,
                   df_json_type_name(value), wanted);
}

df_status
df_json_get_int(const json_t *obj, const char *key, int64_t min, int64_t max,
                int64_t *out, const char *where)
{
    const json_t *value = present(obj, key);

    if (!value)
        return DF_OK;
    if (!json_is_integer(value))
        return mistyped(value, key, "an integer", where);
    json_int_t n = json_integer_value(value);
    if (n < min || n > max)
        return DF_FAIL(DF_FORMAT, "%s: %s is %lld, not within %lld and %lld",
                       where, key, (long long) n, (long long) min,
                       (long long) max);
    *out = n;
    return DF_OK;
}

df_status
df_json_get_real(const json_t *obj, const char *key, double *out,
                 const char *where)
{
    const json_t *value = present(obj, key);

    if (!value)
        return DF_OK;
    if (!json_is_number(value))
        return mistyped(value, key, "a number", where);
    *out = json_number_value(value);
    return DF_OK;
}

df_status
df_json_get_bool(const json_t *obj, const char *key, bool *out,
                 const char *where)
{
    const json_t *value = present(obj, key);

    if (!value)
        return DF_OK;
    if (!json_is_boolean(value))
        return mistyped(value, key, "true or false", where);
    *out = json_is_true(value);
    return DF_OK;
}

df_status
df_json_get_string(const json_t *obj, const char *key, const char **out,
                   const char *where)
{
    const json_t *value = present(obj, key);

    if (!value)
        return DF_OK;
    if (!json_is_string(value))
        return mistyped(value, key, "a string", where);
    *out = json_string_value(value);
    return DF_OK;
}

df_status
df_json_require(const json_t *obj, const char *key, const json_t **out,
                const char *where)
{
    *out = present(obj, key);
    return *out ? DF_OK : DF_FAIL(DF_FORMAT, "%s: no %s", where, key);
}

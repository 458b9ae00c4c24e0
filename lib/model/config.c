/* Reading config.json: the file and the target's own settings.  */

#include <config.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file_internal.h"
#include "base/hash_internal.h"
#include "base/json_internal.h"
#include "model/config_internal.h"

df_status
df_config_open(json_t **out, char **file, const char *path)
{
    struct stat st;
    bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    df_status status;

    *out = NULL;
    *file = folder ? df_path_join(path, "config.json") : strdup(path);
    if (!*file)
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory for its name", path);
    status = df_json_load(out, *file);
    if (status == DF_OK && !json_is_object(*out))
        status = DF_FAIL(DF_FORMAT, "%s: is %s, not an object", *file,
                         df_json_type_name(*out));
    if (status != DF_OK) {
        json_decref(*out);
        free(*file);
        *out = NULL;
        *file = NULL;
    }
    return status;
}

df_status
df_config_get_int(const json_t *json, const char *key, int min, int max,
                  int *out, const char *where)
{
    int64_t value = *out;

    DF_TRY(df_json_get_int(json, key, min, max, &value, where));
    *out = (int) value;
    return DF_OK;
}

df_status
df_config_check_architectures(const json_t *json, const char *const *known,
                              const char *where)
{
    const json_t *list = json_object_get(json, "architectures");
    const char *first = "";

    if (!list || json_is_null(list))
        return DF_OK;
    if (!json_is_array(list))
        return DF_FAIL(DF_FORMAT, "%s: architectures is %s, not an array",
                       where, df_json_type_name(list));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));

        if (!name)
            return DF_FAIL(DF_FORMAT, "%s: architectures holds %s", where,
                           df_json_type_name(json_array_get(list, i)));
        for (const char *const *k = known; *k; k++)
            if (strcmp(name, *k) == 0)
                return DF_OK;
        if (i == 0)
            first = name;
    }
    if (json_array_size(list) == 0)
        return DF_OK;
    return DF_FAIL(DF_UNSUPPORTED,
                   "%s: architecture '%s' is not supported (wanted: %s)",
                   where, first, known[0]);
}

/* The family that model_type names, if it computes the architecture too:
   the same type also comes with heads for other tasks.  */
static df_status
find_family(const struct df_family **out, const json_t *json,
            const char *where)
{
    const char *type = NULL;
    char list[64];

    DF_TRY(df_json_get_string(json, "model_type", &type, where));
    if (!type)
        return DF_FAIL(DF_FORMAT, "%s: no model_type", where);
    *out = df_family_find(type);
    if (!*out)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: model_type '%s' is not supported (supported: %s)",
                       where, type, df_family_list(list, sizeof list));
    return df_config_check_architectures(json, (*out)->architectures, where);
}

/* One of eos_token_id, which is an integer or an array of them.  */
static df_status
add_eos(struct df_model_config *c, const json_t *value, const char *where)
{
    if (!json_is_integer(value))
        return DF_FAIL(DF_FORMAT, "%s: eos_token_id is %s, not an integer",
                       where, df_json_type_name(value));
    json_int_t id = json_integer_value(value);
    if (id < 0 || id > INT_MAX)
        return DF_FAIL(DF_FORMAT, "%s: eos_token_id is %lld", where,
                       (long long) id);
    if (c->n_eos_token_ids == DF_MAX_EOS_IDS)
        return DF_FAIL(DF_UNSUPPORTED, "%s: more than %d eos_token_id", where,
                       DF_MAX_EOS_IDS);
    c->eos_token_ids[c->n_eos_token_ids++] = (int) id;
    return DF_OK;
}

static df_status
read_token_ids(struct df_model_config *c, const json_t *json,
               const char *where)
{
    const json_t *eos = json_object_get(json, "eos_token_id");

    c->bos_token_id = c->pad_token_id = -1;
    /* Some configs spell "none" as -1.  */
    DF_TRY(df_config_get_int(json, "bos_token_id", -1, INT_MAX,
                             &c->bos_token_id, where));
    DF_TRY(df_config_get_int(json, "pad_token_id", -1, INT_MAX,
                             &c->pad_token_id, where));
    if (!eos || json_is_null(eos))
        return DF_OK;
    if (!json_is_array(eos))
        return add_eos(c, eos, where);
    for (size_t i = 0; i < json_array_size(eos); i++)
        DF_TRY(add_eos(c, json_array_get(eos, i), where));
    return DF_OK;
}

/* "dtype", or "torch_dtype" as it was called.  */
static df_status
read_dtype(struct df_model_config *c, const json_t *json, const char *where)
{
    const char *name = NULL;

    c->dtype = DF_F32;
    DF_TRY(df_json_get_string(json, "torch_dtype", &name, where));
    DF_TRY(df_json_get_string(json, "dtype", &name, where));
    if (!name || strcmp(name, "float32") == 0 || strcmp(name, "auto") == 0)
        return DF_OK;
    if (strcmp(name, "bfloat16") == 0)
        c->dtype = DF_BF16;
    else if (strcmp(name, "float16") == 0)
        c->dtype = DF_F16;
    else
        return DF_FAIL(DF_UNSUPPORTED, "%s: dtype '%s' is not supported",
                       where, name);
    return DF_OK;
}

static df_status
hash_config(struct df_model_config *c, const json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);

    if (!text)
        return DF_FAIL(DF_NO_MEMORY, "a configuration as text");
    c->hash = df_hash_bytes(text, strlen(text));
    free(text);
    return DF_OK;
}

static df_status
read_config(struct df_model_config *c, const json_t *json, const char *where)
{
    const struct df_family *family = NULL;

    *c = (struct df_model_config){0};
    DF_TRY(find_family(&family, json, where));
    snprintf(c->model_type, sizeof c->model_type, "%s", family->model_type);
    DF_TRY(df_config_read_decoder(&c->d, json, where));
    DF_TRY(df_json_get_bool(json, "tie_word_embeddings",
                            &c->tie_word_embeddings, where));
    DF_TRY(read_token_ids(c, json, where));
    DF_TRY(read_dtype(c, json, where));
    DF_TRY(hash_config(c, json));
    return family->configure(c, json, where);
}

df_status
df_model_config_load(struct df_model_config *out, const char *path)
{
    json_t *json;
    char *file;
    df_status status;

    DF_TRY(df_config_open(&json, &file, path));
    status = read_config(out, json, file);
    json_decref(json);
    free(file);
    return status;
}

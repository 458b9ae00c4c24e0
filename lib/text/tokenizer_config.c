#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_internal.h"
#include "base/json_internal.h"
#include "text/load_internal.h"
#include "text/tokenizer_internal.h"

static const char *const role_names[DF_ROLES] = {
    [DF_ROLE_BOS] = "bos",  [DF_ROLE_EOS] = "eos", [DF_ROLE_UNK] = "unk",
    [DF_ROLE_SEP] = "sep",  [DF_ROLE_PAD] = "pad", [DF_ROLE_CLS] = "cls",
    [DF_ROLE_MASK] = "mask"};

enum df_role
df_role_find(const char *name)
{
    enum df_role role = DF_ROLE_BOS;

    while (role < DF_ROLES && strcmp(name, role_names[role]) != 0)
        role++;
    return role;
}

/* KEY of OBJ is a token's string, or an object with it as "content".  */
static df_status
load_role(int32_t *id, const json_t *obj, const char *key,
          const struct df_vocab *vocab, const char *where)
{
    const json_t *value = json_object_get(obj, key);
    const char *text;
    size_t len;

    *id = -1;
    if (!value || json_is_null(value))
        return DF_OK;
    if (json_is_object(value))
        DF_TRY(df_load_string(value, "content", &text, &len, where));
    else
        DF_TRY(df_load_string(obj, key, &text, &len, where));
    *id = df_vocab_find(vocab, text, len);
    if (*id < 0)
        return DF_FAIL(DF_FORMAT,
                       "%s: %s is %.80s, which tokenizer.json does "
                       "not have",
                       where, key, text);
    return DF_OK;
}

/* Transformers adds what is only listed here, numbering it as it likes.  */
static df_status
check_added(const json_t *obj, const struct df_vocab *vocab, const char *where)
{
    const json_t *listed = json_object_get(obj, "added_tokens_decoder");
    const char *key, *text;
    json_t *value;
    size_t len;

    if (listed && !json_is_null(listed) && !json_is_object(listed))
        return DF_FAIL(DF_FORMAT,
                       "%s: added_tokens_decoder is %s, not an "
                       "object",
                       where, df_json_type_name(listed));
    json_object_foreach((json_t *) listed, key, value)
    {
        char id[16];

        DF_TRY(df_load_string(value, "content", &text, &len, where));
        snprintf(id, sizeof id, "%d", df_vocab_find(vocab, text, len));
        if (strcmp(id, key) != 0)
            return DF_FAIL(DF_FORMAT,
                           "%s: added token %.80s has id %.20s, in "
                           "tokenizer.json %s",
                           where, text, key, id[0] == '-' ? "none" : id);
    }
    return DF_OK;
}

/* Keep TEXT [LEN].  The template's reader takes a NUL for its end.  */
static df_status
keep_template(struct df_tokenizer_config *config, const char *text, size_t len,
              const char *where)
{
    if (memchr(text, '\0', len))
        return DF_FAIL(DF_FORMAT, "%s: the chat template has a NUL byte",
                       where);
    config->chat_template = strndup(text, len);
    if (!config->chat_template)
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory for the chat template",
                       where);
    return DF_OK;
}

/* "chat_template" is a string, or a list of {"name", "template"}.  */
static df_status
load_template(struct df_tokenizer_config *config, const json_t *obj,
              const char *where)
{
    const json_t *value = json_object_get(obj, "chat_template");
    const char *name, *text;
    size_t len;

    if (!value || json_is_null(value))
        return DF_OK;
    if (json_is_string(value))
        return keep_template(config, json_string_value(value),
                             json_string_length(value), where);
    DF_TRY(df_load_array(obj, "chat_template", &value, where));
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *one = json_array_get(value, i);

        DF_TRY(df_load_string(one, "name", &name, &len, where));
        DF_TRY(df_load_string(one, "template", &text, &len, where));
        if (strcmp(name, "default") == 0 && !config->chat_template)
            DF_TRY(keep_template(config, text, len, where));
    }
    return DF_OK;
}

static df_status
load_json(struct df_tokenizer_config *config, const char *path,
          const struct df_vocab *vocab)
{
    json_t *obj;
    df_status status = DF_OK;

    DF_TRY(df_json_load_if_exists(&obj, path));
    if (!obj)
        return DF_OK;
    if (!json_is_object(obj))
        status = DF_FAIL(DF_FORMAT, "%s: is %s, not an object", path,
                         df_json_type_name(obj));
    for (int i = 0; i < DF_ROLES && status == DF_OK; i++) {
        char key[16];

        snprintf(key, sizeof key, "%s_token", role_names[i]);
        status = load_role(&config->role[i], obj, key, vocab, path);
    }
    if (status == DF_OK)
        status = check_added(obj, vocab, path);
    if (status == DF_OK && !config->chat_template)
        status = load_template(config, obj, path);
    json_decref(obj);
    return status;
}

static df_status
load_jinja(struct df_tokenizer_config *config, const char *path)
{
    struct df_file file;
    df_status status;

    if (!df_file_exists(path))
        return DF_OK;
    DF_TRY(df_file_map(&file, path));
    status = keep_template(config, (const char *) file.data, file.size, path);
    df_file_unmap(&file);
    return status;
}

df_status
df_tokenizer_config_load(struct df_tokenizer_config *config, const char *dir,
                         const struct df_vocab *vocab)
{
    char *jinja = df_path_join(dir, "chat_template.jinja");
    char *json = df_path_join(dir, "tokenizer_config.json");
    df_status status;

    for (int i = 0; i < DF_ROLES; i++)
        config->role[i] = -1;
    if (!jinja || !json)
        status = DF_FAIL(DF_NO_MEMORY, "%s: no memory for a file name", dir);
    else
        status = load_jinja(config, jinja);
    if (status == DF_OK)
        status = load_json(config, json, vocab);
    free(jinja);
    free(json);
    return status;
}

#include <config.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_internal.h"
#include "text/records_internal.h"

/* The role that NAME is, or NULL.  The second column is for turns with
   "from".  */
static const char *
role_of(const char *name, bool sharegpt)
{
    static const struct {
        const char *name, *role;
        bool sharegpt;
    } roles[] = {
        {"system",    "system",    false},
        {"developer", "developer", false},
        {"user",      "user",      false},
        {"assistant", "assistant", false},
        {"tool",      "tool",      false},
        {"human",     "user",      true },
        {"gpt",       "assistant", true },
        {"chatgpt",   "assistant", true },
    };
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strcmp(roles[i].name, name) == 0
            && (sharegpt || !roles[i].sharegpt))
            return roles[i].role;
    return NULL;
}

/* The value of KEY, NULL when it is absent or null: tables that were written
   as JSON have all columns in each row.  */
static json_t *
present(const json_t *obj, const char *key)
{
    json_t *value = json_object_get(obj, key);

    return json_is_null(value) ? NULL : value;
}

static df_status
want_string(const json_t *value, const char *what, const char *where)
{
    if (json_is_string(value))
        return DF_OK;
    return DF_FAIL(DF_FORMAT, "%s: %s is %s, not a string", where, what,
                   df_json_type_name(value));
}

/* The text of one part of a message's content.  */
static df_status
part_text(const json_t **out, const json_t *part, size_t turn, size_t index,
          const char *where)
{
    const char *type = json_string_value(json_object_get(part, "type"));
    const json_t *text = json_object_get(part, "text");

    if (!json_is_object(part))
        return DF_FAIL(DF_FORMAT,
                       "%s: message %zu: part %zu is %s, not an object", where,
                       turn, index, df_json_type_name(part));
    if (!type || strcmp(type, "text") != 0)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: message %zu: part %zu is of type '%.60s'; only "
                       "text is supported",
                       where, turn, index, type ? type : "");
    if (!json_is_string(text))
        return DF_FAIL(DF_FORMAT,
                       "%s: message %zu: part %zu: text is %s, not a string",
                       where, turn, index, df_json_type_name(text));
    *out = text;
    return DF_OK;
}

/* The texts of PARTS behind each other, as a new string.  */
static df_status
join_parts(json_t **out, const json_t *parts, size_t turn, const char *where)
{
    size_t n = json_array_size(parts), len = 0;
    const json_t *text = NULL;

    for (size_t i = 0; i < n; i++) {
        DF_TRY(part_text(&text, json_array_get(parts, i), turn, i, where));
        len += json_string_length(text);
    }
    char *joined = malloc(len + 1), *p = joined;
    if (!joined)
        return DF_FAIL(DF_NO_MEMORY, "%s: message %zu: %zu bytes", where, turn,
                       len);
    for (size_t i = 0; i < n; i++) {
        text = json_object_get(json_array_get(parts, i), "text");
        memcpy(p, json_string_value(text), json_string_length(text));
        p += json_string_length(text);
    }
    *out = json_stringn_nocheck(joined, len);
    free(joined);
    return *out ? DF_OK
                : DF_FAIL(DF_NO_MEMORY, "%s: message %zu: %zu bytes", where,
                          turn, len);
}

/* The content of MESSAGE as a new string.  A call of tools may have none:
   that is "" to the template, as not all of them are ready for null.  */
static df_status
content_of(json_t **out, const json_t *message, const char *key, size_t turn,
           const char *where)
{
    json_t *content = present(message, key);

    if (json_is_array(content))
        return join_parts(out, content, turn, where);
    if (json_is_string(content)) {
        *out = json_incref(content);
        return DF_OK;
    }
    if (content || json_array_size(present(message, "tool_calls")) == 0)
        return DF_FAIL(DF_FORMAT,
                       "%s: message %zu: %s is %s, not a string or a list of "
                       "parts",
                       where, turn, key, df_json_type_name(content));
    *out = json_string("");
    return *out ? DF_OK
                : DF_FAIL(DF_NO_MEMORY, "%s: message %zu", where, turn);
}

/* MESSAGE with the role and content that templates know, as a new value.  */
static df_status
normalise(json_t **out, const json_t *message, size_t turn, const char *where)
{
    bool sharegpt = present(message, "from") != NULL;
    const char *role_key = sharegpt ? "from" : "role";
    const char *content_key = sharegpt ? "value" : "content";
    const char *name, *role;
    json_t *content;

    if (!json_is_object(message))
        return DF_FAIL(DF_FORMAT, "%s: message %zu is %s, not an object",
                       where, turn, df_json_type_name(message));
    name = json_string_value(json_object_get(message, role_key));
    if (!name)
        return DF_FAIL(DF_FORMAT, "%s: message %zu has no role", where, turn);
    role = role_of(name, sharegpt);
    if (!role)
        return DF_FAIL(DF_UNSUPPORTED, "%s: message %zu: unknown role '%.60s'",
                       where, turn, name);
    DF_TRY(content_of(&content, message, content_key, turn, where));
    *out = json_copy((json_t *) message);
    if (!*out || json_object_set_new(*out, "content", content)
        || json_object_set_new(*out, "role", json_string(role)))
        return DF_FAIL(DF_NO_MEMORY, "%s: message %zu", where, turn);
    if (sharegpt) {
        json_object_del(*out, "from");
        json_object_del(*out, "value");
    }
    return DF_OK;
}

static df_status
read_messages(struct df_record *rec, const json_t *turns, const char *key,
              const char *where)
{
    if (!json_is_array(turns))
        return DF_FAIL(DF_FORMAT, "%s: %s is %s, not an array", where, key,
                       df_json_type_name(turns));
    rec->messages = json_array();
    for (size_t i = 0; i < json_array_size(turns); i++) {
        json_t *message = NULL;
        df_status status =
            normalise(&message, json_array_get(turns, i), i, where);

        if (status != DF_OK) {
            json_decref(message);
            return status;
        }
        if (json_array_append_new(rec->messages, message))
            return DF_FAIL(DF_NO_MEMORY, "%s: message %zu", where, i);
    }
    return rec->messages ? DF_OK
                         : DF_FAIL(DF_NO_MEMORY, "%s: the messages", where);
}

/* Tools are an array, or a string that holds one: tables can't have values
   of many types in a column.  */
static df_status
read_tools(struct df_record *rec, const char *where)
{
    json_t *tools = present(rec->json, "tools");

    if (json_is_string(tools))
        DF_TRY(df_json_parse(&rec->tools, json_string_value(tools),
                             json_string_length(tools), where));
    else
        rec->tools = json_incref(tools);
    if (rec->tools && !json_is_array(rec->tools))
        return DF_FAIL(DF_FORMAT, "%s: tools is %s, not an array", where,
                       df_json_type_name(rec->tools));
    return DF_OK;
}

static df_status
read_prompt(struct df_record *rec, const char *where)
{
    DF_TRY(want_string(rec->prompt, "prompt", where));
    DF_TRY(want_string(rec->completion, "completion", where));
    rec->messages = json_pack(
        "[{ssss#}{ssss#}]", "role", "user", "content",
        json_string_value(rec->prompt), (int) json_string_length(rec->prompt),
        "role", "assistant", "content", json_string_value(rec->completion),
        (int) json_string_length(rec->completion));
    return rec->messages ? DF_OK
                         : DF_FAIL(DF_NO_MEMORY, "%s: the prompt", where);
}

df_status
df_record_init(struct df_record *rec, json_t *json, const char *where)
{
    json_t *messages = present(json, "messages");
    json_t *conversations = present(json, "conversations");

    *rec = (struct df_record){.json = json};
    rec->ids = present(json, "input_ids");
    rec->mask = present(json, "loss_mask");
    rec->prompt = present(json, "prompt");
    rec->completion = present(json, "completion");
    rec->text = present(json, "text");
    if (rec->ids && rec->mask) {
        rec->shape = DF_SHAPE_IDS;
        return DF_OK;
    }
    if (messages || conversations) {
        rec->shape = DF_SHAPE_CHAT;
        DF_TRY(read_tools(rec, where));
        return messages
                   ? read_messages(rec, messages, "messages", where)
                   : read_messages(rec, conversations, "conversations", where);
    }
    if (rec->prompt && rec->completion) {
        rec->shape = DF_SHAPE_PROMPT;
        return read_prompt(rec, where);
    }
    rec->shape = DF_SHAPE_TEXT;
    if (rec->text)
        return want_string(rec->text, "text", where);
    return DF_FAIL(DF_FORMAT,
                   "%s: none of messages, conversations, text, prompt with "
                   "completion, input_ids with loss_mask",
                   where);
}

/* The text of a record that has a prompt and nothing else; NULL if it is of
   another kind.  */
static const json_t *
lone_prompt(const json_t *json)
{
    static const char *const more[] = {"input_ids", "messages",
                                       "conversations", "completion", "text"};
    const json_t *turns = present(json, "turns"), *text;

    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (present(json, more[i]))
            return NULL;
    text = present(json, "prompt");
    if (!text)
        text = present(json, "question");
    return text || !turns || json_array_size(turns) == 0
               ? text
               : json_array_get(turns, 0);
}

df_status
df_record_init_prompt(struct df_record *rec, json_t *json, const char *where)
{
    const json_t *text = lone_prompt(json);

    if (!text)
        return df_record_init(rec, json, where);
    *rec = (struct df_record){
        .json = json, .shape = DF_SHAPE_PROMPT, .prompt = text};
    DF_TRY(want_string(text, "the prompt", where));
    rec->messages =
        json_pack("[{ssss#}]", "role", "user", "content",
                  json_string_value(text), (int) json_string_length(text));
    return rec->messages ? DF_OK
                         : DF_FAIL(DF_NO_MEMORY, "%s: the prompt", where);
}

void
df_record_clear(struct df_record *rec)
{
    json_decref(rec->messages);
    json_decref(rec->tools);
    json_decref(rec->json);
    *rec = (struct df_record){0};
}

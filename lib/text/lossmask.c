#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/lossmask_internal.h"
#include "text/template_internal.h"

enum {
    MAX_TURNS = 65535 /* the number of a part has 16 bits */
};

struct text {
    char *data;
    size_t len;
};

static bool
starts_with(struct text a, struct text b)
{
    return a.len >= b.len && memcmp(a.data, b.data, b.len) == 0;
}

static size_t
common_prefix(struct text a, struct text b)
{
    size_t n = 0;

    while (n < a.len && n < b.len && a.data[n] == b.data[n])
        n++;
    return n;
}

/* Render the first N messages.  What the template refuses or trips over is
   the conversation's fault: *WHY says so and DF_OK is returned.  */
static df_status
render(struct df_chat *chat, size_t n, bool prompt, struct text *out)
{
    const struct df_chat_def *def = &chat->def;
    json_t *some = json_array();
    df_status status = DF_OK;

    *out = (struct text){NULL, 0};
    for (size_t i = 0; i < n && some && status == DF_OK; i++)
        if (json_array_append(some, json_array_get(def->messages, i)))
            status = DF_NO_MEMORY;
    if (!some || status != DF_OK) {
        json_decref(some);
        return DF_FAIL(DF_NO_MEMORY, "%s: %zu messages", def->where, n);
    }
    status = df_template_render_json(def->tmpl, some, def->extra, prompt,
                                     &out->data, &out->len);
    json_decref(some);
    if (status == DF_OK)
        return DF_OK;
    snprintf(chat->detail, sizeof chat->detail, "%.255s",
             df_error_last()->message);
    if (status != DF_INVALID && status != DF_FORMAT)
        return DF_FAIL(status, "%s: %s", def->where, chat->detail);
    chat->reason = DF_DATA_TEMPLATE;
    return DF_OK;
}

/* Where turn number TURN begins in F, which doesn't begin with P: behind
   what both share, if that is at least the history.  */
static df_status
begin_after_history(struct df_chat *chat, size_t turn, struct text p,
                    struct text f, size_t *begin)
{
    struct text history;

    DF_TRY(render(chat, turn, false, &history));
    if (chat->reason != DF_DATA_USED)
        return DF_OK;
    *begin = common_prefix(p, f);
    if (!starts_with(p, history) || *begin < history.len) {
        chat->reason = DF_DATA_PROMPT;
        snprintf(chat->detail, sizeof chat->detail, "message %zu", turn);
    }
    free(history.data);
    return DF_OK;
}

/* Find the span of message number TURN in F, the rendering up to it.  */
static df_status
find_span(struct df_chat *chat, size_t turn, struct text f,
          struct df_span *span)
{
    df_status status = DF_OK;
    struct text p;

    DF_TRY(render(chat, turn, true, &p));
    if (chat->reason != DF_DATA_USED)
        return DF_OK;
    *span = (struct df_span){p.len, f.len};
    if (!starts_with(f, p))
        status = begin_after_history(chat, turn, p, f, &span->begin);
    free(p.data);
    return status;
}

/* Find the spans of all turns.  *ONE tells whether they fit into WHOLE.  */
static df_status
find_spans(struct df_chat *chat, struct text whole, bool *one)
{
    df_status status = DF_OK;

    *one = true;
    for (size_t i = 0; i < chat->turns && status == DF_OK; i++) {
        struct text f;

        DF_TRY(render(chat, chat->turn[i] + 1, false, &f));
        if (chat->reason != DF_DATA_USED)
            return DF_OK;
        *one = *one && starts_with(whole, f);
        status = find_span(chat, chat->turn[i], f, &chat->span[i]);
        free(f.data);
        if (chat->reason != DF_DATA_USED)
            break;
    }
    return status;
}

static bool
is_assistant(const json_t *message)
{
    const char *role = json_string_value(json_object_get(message, "role"));

    return role && strcmp(role, "assistant") == 0;
}

/* Whether the template would leave out tools without a word.  */
static bool
loses_tools(const struct df_chat_def *def)
{
    if (def->has_tools && !strstr(def->source, "tools"))
        return true;
    if (strstr(def->source, "tool_calls"))
        return false;
    for (size_t i = 0; i < json_array_size(def->messages); i++) {
        const json_t *message = json_array_get(def->messages, i);
        const json_t *calls = json_object_get(message, "tool_calls");

        if (calls && !json_is_null(calls)
            && !(json_is_array(calls) && json_array_size(calls) == 0))
            return true;
    }
    return false;
}

/* List the turns to supervise, or say why there is none.  */
static df_status
find_turns(struct df_chat *chat)
{
    const json_t *messages = chat->def.messages;
    size_t n = json_array_size(messages);

    chat->turn = calloc(n + 1, sizeof *chat->turn);
    chat->span = calloc(n + 1, sizeof *chat->span);
    if (!chat->turn || !chat->span)
        return DF_FAIL(DF_NO_MEMORY, "%s: %zu messages", chat->def.where, n);
    for (size_t i = 0; i < n; i++)
        if (is_assistant(json_array_get(messages, i)))
            chat->turn[chat->turns++] = i;
    if (chat->turns > MAX_TURNS)
        return DF_FAIL(DF_UNSUPPORTED, "%s: %zu assistant turns, more than %d",
                       chat->def.where, chat->turns, MAX_TURNS);
    if (n == 0)
        chat->reason = DF_DATA_EMPTY;
    else if (chat->turns == 0 && chat->def.prompt)
        chat->turn[chat->turns++] = n; /* the turn that is to come */
    else if (chat->turns == 0)
        chat->reason = DF_DATA_NO_ASSISTANT;
    else if (chat->turn[0] == 0)
        chat->reason = DF_DATA_STARTS_ASSISTANT;
    else if (loses_tools(&chat->def))
        chat->reason = DF_DATA_NO_TOOLS;
    else if (chat->def.last_turn_only) {
        chat->turn[0] = chat->turn[chat->turns - 1];
        chat->turns = 1;
    }
    return DF_OK;
}

/* The text becomes what comes before the turn, asking for it.  */
static df_status
render_prompt(struct df_chat *chat)
{
    struct text prompt;

    chat->turns = 0;
    chat->one = true;
    DF_TRY(render(chat, chat->turn[0], true, &prompt));
    chat->text = prompt.data;
    chat->len = prompt.len;
    chat->parts = chat->reason == DF_DATA_USED;
    return DF_OK;
}

df_status
df_chat_init(struct df_chat *chat, const struct df_chat_def *def)
{
    size_t n = json_array_size(def->messages);
    struct text whole;

    *chat = (struct df_chat){.def = *def};
    DF_TRY(find_turns(chat));
    if (chat->reason != DF_DATA_USED)
        return DF_OK;
    if (def->prompt)
        return render_prompt(chat);
    /* What follows the only turn is of no use to it.  */
    if (def->last_turn_only)
        n = chat->turn[0] + 1;
    DF_TRY(render(chat, n, false, &whole));
    chat->text = whole.data;
    chat->len = whole.len;
    if (chat->reason != DF_DATA_USED)
        return DF_OK;
    DF_TRY(find_spans(chat, whole, &chat->one));
    if (chat->reason == DF_DATA_USED)
        chat->parts = chat->one ? 1 : chat->turns;
    return DF_OK;
}

void
df_chat_clear(struct df_chat *chat)
{
    free(chat->turn);
    free(chat->span);
    free(chat->text);
    *chat = (struct df_chat){.reason = DF_DATA_USED};
}

/* The parts of a conversation are rendered one at a time: all at once they
   would need the square of its length.  */
df_status
df_chat_text(struct df_chat *chat, size_t part, const struct df_span **spans,
             size_t *n)
{
    struct text again;

    *spans = chat->one ? chat->span : &chat->span[part];
    *n = chat->one ? chat->turns : 1;
    if (chat->one)
        return DF_OK;
    DF_TRY(render(chat, chat->turn[part] + 1, false, &again));
    if (chat->reason != DF_DATA_USED)
        return DF_FAIL(DF_INVALID, "%s: %s", chat->def.where, chat->detail);
    free(chat->text);
    chat->text = again.data;
    chat->len = again.len;
    return DF_OK;
}

void
df_lossmask_set(uint8_t *mask, const struct df_ids *ids,
                const struct df_span *spans, size_t n)
{
    size_t at = 0;

    memset(mask, 0, ids->n);
    for (size_t i = 0; i < n; i++) {
        size_t from = df_ids_from_byte(ids, at, spans[i].begin);

        at = df_ids_from_byte(ids, from, spans[i].end);
        memset(mask + from, 1, at - from);
    }
}

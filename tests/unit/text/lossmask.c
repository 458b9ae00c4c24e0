#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap/tap.h"
#include "text/lossmask_internal.h"

#define ROLE_AND_TEXT "{{ '[' + m['role'] + ']' + m['content'] + '.' }}"
#define PROMPT        "{% if add_generation_prompt %}[assistant]{% endif %}"

static const char plain[] =
    "{% for m in messages %}" ROLE_AND_TEXT "{% endfor %}" PROMPT;
/* Only the last message keeps its thought.  */
static const char rewriting[] =
    "{% for m in messages %}{{ '[' + m['role'] + ']' }}"
    "{% if m['role'] == 'assistant' and loop.last %}<t>{% endif %}"
    "{{ m['content'] + '.' }}{% endfor %}" PROMPT;
/* The prompt goes on otherwise than a turn does.  */
static const char thoughtless[] =
    "{% for m in messages %}" ROLE_AND_TEXT "{% endfor %}"
    "{% if add_generation_prompt %}[assistant]<no>{% endif %}";
/* The prompt has nothing of a turn.  */
static const char foreign[] =
    "{% for m in messages %}" ROLE_AND_TEXT "{% endfor %}"
    "{% if add_generation_prompt %}?{% endif %}";
static const char promptless[] =
    "{% for m in messages %}" ROLE_AND_TEXT "{% endfor %}";
/* What comes first depends on what comes later.  */
static const char counting[] =
    "{{ messages|length }}{% for m in messages %}" ROLE_AND_TEXT
    "{% endfor %}" PROMPT;
static const char refusing[] =
    "{% for m in messages %}{% if m['role'] == 'system' %}"
    "{{ raise_exception('no system, please') }}{% endif %}" ROLE_AND_TEXT
    "{% endfor %}" PROMPT;
static const char with_tools[] =
    "{% if tools %}{{ tools|length }}{% endif %}{% for m in messages %}"
    "{{ '[' + m['role'] + ']' }}{% if m['content'] is string %}"
    "{{ m['content'] }}{% endif %}{% if m['tool_calls'] %}<call>{% endif %}."
    "{% endfor %}" PROMPT;

#define S    "{'role': 'system', 'content': 's'}"
#define U    "{'role': 'user', 'content': 'u'}"
#define A    "{'role': 'assistant', 'content': 'a'}"
#define B    "{'role': 'assistant', 'content': 'b'}"
#define TOOL "{'role': 'tool', 'content': 't'}"
#define CALL "{'role': 'assistant', 'content': null, 'tool_calls': [{}]}"

/* A template, messages, and the samples: their texts with the supervised
   spans in braces, each before a bar.  Or the reason why there is none.  */
/* clang-format off */
static const struct {
    const char *what, *source, *messages;
    bool tools, last;
    const char *wanted;
} cases[] = {
    {"one turn", plain, "[" U "," A "]", false, false,
     "[user]u.[assistant]{a.}|"},
    {"system", plain, "[" S "," U "," A "]", false, false,
     "[system]s.[user]u.[assistant]{a.}|"},
    {"two turns", plain, "[" U "," A "," U "," B "]", false, false,
     "[user]u.[assistant]{a.}[user]u.[assistant]{b.}|"},
    {"the last alone", plain, "[" U "," A "," U "," B "]", false, true,
     "[user]u.[assistant]a.[user]u.[assistant]{b.}|"},
    {"the user has the last word", plain, "[" U "," A "," U "]", false, false,
     "[user]u.[assistant]{a.}[user]u.|"},
    {"the last alone, cut behind", plain, "[" U "," A "," U "]", false, true,
     "[user]u.[assistant]{a.}|"},
    {"two user turns in a row", plain, "[" U "," U "," A "]", false, false,
     "[user]u.[user]u.[assistant]{a.}|"},
    {"two assistant turns in a row", plain, "[" U "," A "," B "]", false,
     false, "[user]u.[assistant]{a.}[assistant]{b.}|"},
    {"an assistant behind the system", plain, "[" S "," A "]", false, false,
     "[system]s.[assistant]{a.}|"},
    {"rewritten, one turn", rewriting, "[" U "," A "]", false, false,
     "[user]u.[assistant]{<t>a.}|"},
    {"rewritten, two turns", rewriting, "[" U "," A "," U "," B "]", false,
     false, "[user]u.[assistant]{<t>a.}|"
     "[user]u.[assistant]a.[user]u.[assistant]{<t>b.}|"},
    {"rewritten, the last alone", rewriting, "[" U "," A "," U "," B "]",
     false, true, "[user]u.[assistant]a.[user]u.[assistant]{<t>b.}|"},
    {"rewritten by a user turn", rewriting, "[" U "," A "," U "]", false,
     false, "[user]u.[assistant]{<t>a.}|"},
    {"the prompt goes on otherwise", thoughtless, "[" U "," A "]", false,
     false, "[user]u.[assistant]{a.}|"},
    {"the prompt is foreign", foreign, "[" U "," A "]", false, false,
     "[user]u.{[assistant]a.}|"},
    {"no prompt", promptless, "[" U "," A "]", false, false,
     "[user]u.{[assistant]a.}|"},
    {"tools", with_tools, "[" U "," CALL "," TOOL "," A "]", true, false,
     "1[user]u.[assistant]{<call>.}[tool]t.[assistant]{a.}|"},
    {"the history changes", counting, "[" U "," A "]", false, false,
     "a turn that doesn't continue the generation prompt"},
    {"an empty conversation", plain, "[]", false, false,
     "an empty conversation"},
    {"system only", plain, "[" S "]", false, false, "no assistant turn"},
    {"no assistant turn", plain, "[" S "," U "]", false, false,
     "no assistant turn"},
    {"it starts with the assistant", plain, "[" A "," U "," B "]", false,
     false, "an assistant turn at the start"},
    {"refused by the template", refusing, "[" S "," U "," A "]", false, false,
     "refused by the chat template"},
    {"null for a template of strings", plain, "[" U
     ",{'role': 'assistant', 'content': null}]", false, false,
     "refused by the chat template"},
    {"tools for a template without", plain, "[" U "," A "]", true, false,
     "tools that the chat template doesn't know"},
    {"tool calls for a template without", plain, "[" U "," CALL "," TOOL "," A
     "]", false, false, "tools that the chat template doesn't know"},
};
/* clang-format on */

static json_t *
json_of(const char *text)
{
    char *copy = strdup(text);

    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    json_t *json = json_loads(copy, 0, NULL);
    free(copy);
    return json;
}

/* Append CHAT's text with braces around its N spans.  */
static void
show(char *out, const struct df_chat *chat, const struct df_span *spans,
     size_t n)
{
    size_t s = 0;

    out += strlen(out);
    for (size_t i = 0; i <= chat->len; i++) {
        if (s < n && i == spans[s].end) {
            *out++ = '}';
            s++;
        }
        if (s < n && i == spans[s].begin)
            *out++ = '{';
        *out++ = i < chat->len ? chat->text[i] : '|';
    }
    *out = '\0';
}

static void
run_case(size_t c, char *seen)
{
    struct df_chat_def def = {
        .source = cases[c].source,
        .messages = json_of(cases[c].messages),
        .extra = json_of(cases[c].tools ? "{'tools': [{}]}" : "{}"),
        .has_tools = cases[c].tools,
        .last_turn_only = cases[c].last,
        .where = "f.jsonl:7",
    };
    struct df_chat chat = {.reason = DF_DATA_USED};
    struct df_template *tmpl;

    if (df_template_parse(&tmpl, def.source, strlen(def.source), "template")
        != DF_OK) {
        strcpy(seen, df_error_last()->message);
        return;
    }
    def.tmpl = tmpl;
    if (df_chat_init(&chat, &def) != DF_OK)
        strcpy(seen, df_error_last()->message);
    else if (chat.reason != DF_DATA_USED)
        strcpy(seen, df_data_reason_text(chat.reason));
    for (size_t part = 0; part < chat.parts; part++) {
        const struct df_span *spans;
        size_t n;

        if (df_chat_text(&chat, part, &spans, &n) == DF_OK)
            show(seen, &chat, spans, n);
        else
            strcpy(seen, df_error_last()->message);
    }
    df_chat_clear(&chat);
    df_template_free(tmpl);
    json_decref((json_t *) def.messages);
    json_decref((json_t *) def.extra);
}

static void
test_conversations(void)
{
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char seen[512] = "";

        run_case(c, seen);
        if (!ok(strcmp(cases[c].wanted, seen) == 0, "%s", cases[c].what))
            diag("wanted '%s', seen '%s'", cases[c].wanted, seen);
    }
}

/* Tokens of 3 bytes: 0-3, 3-6, 6-9, 9-12.  */
static void
test_tokens(void)
{
    static const struct {
        const char *what;
        struct df_span spans[2];
        const char *wanted;
    } borders[] = {
        {"borders of tokens",            {{3, 9}, {12, 12}},  "0110"},
        {"a token across the beginning", {{4, 9}, {12, 12}},  "0110"},
        {"its last byte",                {{5, 9}, {12, 12}},  "0110"},
        {"a token across the end",       {{3, 8}, {12, 12}},  "0100"},
        {"within one token",             {{4, 5}, {12, 12}},  "0000"},
        {"two spans",                    {{0, 3}, {9, 12}},   "1001"},
        {"spans that meet in a token",   {{0, 4}, {4, 9}},    "1110"},
        {"all",                          {{0, 12}, {12, 12}}, "1111"},
        {"an empty span",                {{6, 6}, {12, 12}},  "0000"},
    };
    int32_t data[4] = {0};
    uint32_t starts[4] = {0, 3, 6, 9}, ends[4] = {3, 6, 9, 12};
    struct df_ids ids = {data, starts, ends, 4, 4};

    for (size_t c = 0; c < sizeof borders / sizeof *borders; c++) {
        uint8_t mask[4] = {7, 7, 7, 7};
        char seen[5] = "";

        df_lossmask_set(mask, &ids, borders[c].spans, 2);
        for (int i = 0; i < 4; i++)
            seen[i] = (char) ('0' + mask[i]);
        if (!ok(strcmp(borders[c].wanted, seen) == 0, "%s", borders[c].what))
            diag("wanted %s, seen %s", borders[c].wanted, seen);
    }
}

int
main(void)
{
    plan(35);
    test_conversations();
    test_tokens();
    return 0;
}

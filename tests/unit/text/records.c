#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "tap/tap.h"
#include "text/records_internal.h"

/* Cases are written with ' for ".  */
static json_t *
json_of(const char *text)
{
    char *copy = strdup(text);
    json_error_t err;

    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    json_t *json = json_loads(copy, JSON_ALLOW_NUL, &err);
    if (!json)
        diag("%s: %s", copy, err.text);
    free(copy);
    return json;
}

/* Records that are taken: their shape and normalised messages.  */
static void
test_taken(void)
{
    /* clang-format off */
    static const struct {
        const char *what;
        enum df_shape shape;
        const char *record, *messages, *tools;
    } cases[] = {
        {"messages", DF_SHAPE_CHAT,
         "{'messages': [{'role': 'system', 'content': 's'},"
         " {'role': 'user', 'content': 'u', 'name': 'x'}]}",
         "[{'role': 'system', 'content': 's'},"
         " {'role': 'user', 'content': 'u', 'name': 'x'}]", NULL},
        {"no message", DF_SHAPE_CHAT, "{'messages': []}", "[]", NULL},
        {"ShareGPT", DF_SHAPE_CHAT,
         "{'conversations': [{'from': 'system', 'value': 's'},"
         " {'from': 'human', 'value': 'u'}, {'from': 'gpt', 'value': 'a'},"
         " {'from': 'tool', 'value': 't'}, {'from': 'chatgpt', 'value': ''}],"
         " 'id': 3}",
         "[{'role': 'system', 'content': 's'}, {'role': 'user', 'content':"
         " 'u'}, {'role': 'assistant', 'content': 'a'}, {'role': 'tool',"
         " 'content': 't'}, {'role': 'assistant', 'content': ''}]", NULL},
        {"conversations with role", DF_SHAPE_CHAT,
         "{'conversations': [{'role': 'user', 'content': 'u'}]}",
         "[{'role': 'user', 'content': 'u'}]", NULL},
        {"parts", DF_SHAPE_CHAT,
         "{'messages': [{'role': 'user', 'content': [{'type': 'text', 'text':"
         " 'a\\u0000b'}, {'type': 'text', 'text': 'c'}]}, {'role': 'user',"
         " 'content': []}]}",
         "[{'role': 'user', 'content': 'a\\u0000bc'}, {'role': 'user',"
         " 'content': ''}]", NULL},
        {"tool calls", DF_SHAPE_CHAT,
         "{'messages': [{'role': 'assistant', 'content': null, 'tool_calls':"
         " [{'function': {'name': 'f', 'arguments': {'x': 1}}}]}, {'role':"
         " 'tool', 'tool_call_id': '7', 'content': 'r'}], 'tools': [{}]}",
         "[{'role': 'assistant', 'content': '', 'tool_calls':"
         " [{'function': {'name': 'f', 'arguments': {'x': 1}}}]}, {'role':"
         " 'tool', 'tool_call_id': '7', 'content': 'r'}]", "[{}]"},
        {"tools in a string", DF_SHAPE_CHAT,
         "{'messages': [], 'tools': '[1]'}", "[]", "[1]"},
        {"null columns", DF_SHAPE_CHAT,
         "{'input_ids': null, 'loss_mask': null, 'tools': null, 'text': null,"
         " 'messages': null, 'conversations': [{'from': 'human', 'role': null,"
         " 'value': 'u'}]}", "[{'role': 'user', 'content': 'u'}]", NULL},
        {"prompt and completion", DF_SHAPE_PROMPT,
         "{'prompt': 'p', 'completion': 'c\\u0000'}",
         "[{'role': 'user', 'content': 'p'}, {'role': 'assistant', 'content':"
         " 'c\\u0000'}]", NULL},
        {"text", DF_SHAPE_TEXT, "{'text': 't', 'prompt': 'p'}", NULL, NULL},
        {"ids", DF_SHAPE_IDS,
         "{'input_ids': [1], 'loss_mask': [0], 'text': 't'}", NULL, NULL},
    };
    /* clang-format on */
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct df_record rec;
        json_t *messages =
            cases[c].messages ? json_of(cases[c].messages) : NULL;
        json_t *tools = cases[c].tools ? json_of(cases[c].tools) : NULL;
        df_status status =
            df_record_init(&rec, json_of(cases[c].record), "f.jsonl:7");

        if (!ok(status == DF_OK && rec.shape == cases[c].shape
                    && (messages == rec.messages
                        || json_equal(messages, rec.messages))
                    && (tools == rec.tools || json_equal(tools, rec.tools)),
                "%s", cases[c].what))
            diag("%s", status == DF_OK ? "the record differs"
                                       : df_error_last()->message);
        df_record_clear(&rec);
        json_decref(messages);
        json_decref(tools);
    }
}

/* Records that are refused, and the message.  */
static void
test_refused(void)
{
    /* clang-format off */
    static const struct {
        df_status status;
        const char *record, *message;
    } cases[] = {
        {DF_FORMAT, "{'foo': 1}",
         "none of messages, conversations, text, prompt with completion, "
         "input_ids with loss_mask"},
        {DF_FORMAT, "{'prompt': 'p'}", "none of messages"},
        {DF_FORMAT, "{'input_ids': [1]}", "none of messages"},
        {DF_FORMAT, "{'messages': 'x'}", "messages is a string, not an array"},
        {DF_FORMAT, "{'conversations': {}}",
         "conversations is an object, not an array"},
        {DF_FORMAT, "{'messages': ['x']}",
         "message 0 is a string, not an object"},
        {DF_FORMAT, "{'messages': [{'content': 'x'}]}",
         "message 0 has no role"},
        {DF_FORMAT, "{'messages': [{'role': 1, 'content': 'x'}]}",
         "message 0 has no role"},
        {DF_UNSUPPORTED, "{'messages': [{'role': 'wizard', 'content': 'x'}]}",
         "message 0: unknown role 'wizard'"},
        {DF_UNSUPPORTED, "{'messages': [{'role': 'gpt', 'content': 'x'}]}",
         "message 0: unknown role 'gpt'"},
        {DF_UNSUPPORTED,
         "{'conversations': [{'from': 'human', 'value': ''}, {'from': 'bing',"
         " 'value': 'x'}]}", "message 1: unknown role 'bing'"},
        {DF_FORMAT, "{'messages': [{'role': 'user'}]}",
         "message 0: content is nothing, not a string or a list of parts"},
        {DF_FORMAT, "{'messages': [{'role': 'assistant', 'content': null}]}",
         "message 0: content is nothing"},
        {DF_FORMAT,
         "{'messages': [{'role': 'assistant', 'content': null, 'tool_calls':"
         " []}]}", "message 0: content is nothing"},
        {DF_FORMAT, "{'messages': [{'role': 'user', 'content': 5}]}",
         "message 0: content is an integer"},
        {DF_FORMAT, "{'messages': [{'role': 'user', 'content': {}}]}",
         "message 0: content is an object"},
        {DF_UNSUPPORTED,
         "{'messages': [{'role': 'user', 'content': [{'type': 'text', 'text':"
         " 'a'}, {'type': 'image_url', 'image_url': {}}]}]}",
         "message 0: part 1 is of type 'image_url'; only text is supported"},
        {DF_FORMAT, "{'messages': [{'role': 'user', 'content': ['a']}]}",
         "message 0: part 0 is a string, not an object"},
        {DF_FORMAT,
         "{'messages': [{'role': 'user', 'content': [{'type': 'text'}]}]}",
         "message 0: part 0: text is nothing, not a string"},
        {DF_FORMAT, "{'messages': [], 'tools': {}}",
         "tools is an object, not an array"},
        {DF_FORMAT, "{'prompt': ['p'], 'completion': 'c'}",
         "prompt is an array, not a string"},
        {DF_FORMAT, "{'prompt': 'p', 'completion': 1}",
         "completion is an integer, not a string"},
        {DF_FORMAT, "{'text': 1}", "text is an integer, not a string"},
    };
    /* clang-format on */
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct df_record rec;
        df_status status =
            df_record_init(&rec, json_of(cases[c].record), "f.jsonl:7");
        const char *seen = df_error_last()->message;

        if (!ok(status == cases[c].status
                    && strncmp(seen, "f.jsonl:7: ", 11) == 0
                    && strncmp(seen + 11, cases[c].message,
                               strlen(cases[c].message))
                           == 0,
                "refused: %s", cases[c].message))
            diag("seen: %s", seen);
        df_record_clear(&rec);
    }
}

static void
test_ids(void)
{
    static const struct {
        const char *record, *message;
    } cases[] = {
        {"{'input_ids': [0, 99, 5], 'loss_mask': [0, 1, true]}",   ""},
        {"{'input_ids': [], 'loss_mask': []}",                     ""},
        {"{'input_ids': [1, 2], 'loss_mask': [1]}",
         "2 input_ids but 1 of loss_mask"                            },
        {"{'input_ids': [1, 100], 'loss_mask': [1, 1]}",
         "input_ids[1] is 100, not within 0 and 99"                  },
        {"{'input_ids': [-1], 'loss_mask': [1]}",
         "input_ids[0] is -1, not within 0 and 99"                   },
        {"{'input_ids': [1.0], 'loss_mask': [1]}",
         "input_ids[0] is a real number, not an integer"             },
        {"{'input_ids': [1], 'loss_mask': [2]}",
         "loss_mask[0] is 2, not 0 or 1"                             },
        {"{'input_ids': [1], 'loss_mask': [-100]}",
         "loss_mask[0] is -100, not 0 or 1"                          },
        {"{'input_ids': [1], 'loss_mask': [0.5]}",
         "loss_mask[0] is a real number, not 0 or 1"                 },
        {"{'input_ids': 'x', 'loss_mask': [1]}",
         "input_ids is a string, not an array"                       },
        {"{'input_ids': [1], 'loss_mask': 'x'}",
         "loss_mask is a string, not an array"                       },
        {"{'input_ids': [9223372036854775807], 'loss_mask': [1]}",
         "input_ids[0] is 9223372036854775807, not within 0 and 99"  },
    };
    int32_t ids[3] = {0};
    uint8_t mask[3] = {0};

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct df_record rec;
        const char *wanted = cases[c].message, *seen = "";

        if (df_record_init(&rec, json_of(cases[c].record), "f:7") != DF_OK
            || df_record_ids(&rec, 100, ids, mask, "f:7") != DF_OK)
            seen = df_error_last()->message + strlen("f:7: ");
        if (!ok(strcmp(wanted, seen) == 0, "ids: %s",
                *wanted ? wanted : cases[c].record))
            diag("seen: %s", seen);
        if (c == 0)
            ok(ids[0] == 0 && ids[1] == 99 && ids[2] == 5 && mask[0] == 0
                   && mask[1] == 1 && mask[2] == 1,
               "are copied");
        df_record_clear(&rec);
    }
}

int
main(void)
{
    plan(47);
    test_taken();
    test_refused();
    test_ids();
    return 0;
}

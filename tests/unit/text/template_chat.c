/* Whole conversations: templates in the ways of several model families, and
   Qwen3's own with tools and thinking.  The wanted texts are those of
   Python's jinja2.  */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_internal.h"
#include "dflash/template.h"
#include "tap/tap.h"

struct chat_case {
    const char *source; /* NULL: Qwen3's */
    const char *messages, *extra;
    bool prompt;
    const char *wanted; /* "!" and a message: refused */
};

/* clang-format off */
static const char headers[] =
    "{% set turns = messages %}{% for m in turns %}{% set text = "
    "'[' ~ m['role'] ~ ']\n"
    "' + m['content'] | trim + '</s>' %}{% if loop.index0 == 0 "
    "%}{% set text = bos_token + text %}{% endif %}{{ text }}{% "
    "endfor %}{% if add_generation_prompt %}{{ '[assistant]\n"
    "' }}{% endif %}";

static const char tools[] =
    "{{- bos_token }}\n"
    "{%- if not date is defined %}\n"
    "    {%- set date = \"today\" %}\n"
    "{%- endif %}\n"
    "{%- if messages[0].role == 'system' %}\n"
    "    {%- set system = messages[0].content|trim %}\n"
    "    {%- set messages = messages[1:] %}\n"
    "{%- else %}\n"
    "    {%- set system = \"\" %}\n"
    "{%- endif %}\n"
    "{{- \"[system \" + date + \"]\" + system }}\n"
    "{%- if tools is not none %}\n"
    "    {%- for t in tools %}\n"
    "        {{- t | tojson(indent=4) }}\n"
    "    {%- endfor %}\n"
    "{%- endif %}\n"
    "{%- for m in messages %}\n"
    "    {%- if 'tool_calls' in m %}\n"
    "        {%- if not m.tool_calls|length == 1 %}\n"
    "            {{- raise_exception(\"one call at a time\") }}\n"
    "        {%- endif %}\n"
    "        {%- set call = m.tool_calls[0].function %}\n"
    "        {{- '[call ' + call.name + ']' ~ call.arguments | "
    "tojson }}\n"
    "    {%- elif m.role == \"tool\" and m.content is not mapping "
    "%}\n"
    "        {{- '[result]' + m.content }}\n"
    "    {%- else %}\n"
    "        {{- '[' + m.role + ']' + m.content | trim }}\n"
    "    {%- endif %}\n"
    "{%- endfor %}\n";

static const char turns[] =
    "{{ bos_token }}{% for m in messages %}{% if (m['role'] == "
    "'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles "
    "must take turns') }}{% endif %}{% if m['role'] == 'user' %}{{ "
    "'[U]' + m['content'] }}{% else %}{{ m['content'] + "
    "eos_token}}{% endif %}{% endfor %}";

static const char parts[] =
    "{{ bos_token }}\n"
    "{%- set prefix = messages[0].content if messages[0].role == "
    "'system' else \"\" -%}\n"
    "{%- for m in (messages[1:] if prefix else messages) -%}\n"
    "    {%- set role = 'model' if m.role == 'assistant' else "
    "m.role -%}\n"
    "    {{ '[' + role + ']\n"
    "' + (prefix if loop.first else \"\") }}\n"
    "    {%- if m.content is string -%}\n"
    "        {{ m.content | trim }}\n"
    "    {%- elif m.content is iterable -%}\n"
    "        {%- for item in m.content -%}\n"
    "            {{ '<image>' if item.type == 'image' else "
    "item.text | trim }}\n"
    "        {%- endfor -%}\n"
    "    {%- endif -%}\n"
    "{%- endfor -%}\n";

static const char thinking[] =
    "{% set ns = namespace(tool=false, system='') %}{%- for m in "
    "messages if m.role == 'system' %}{% set ns.system = ns.system "
    "~ m.content %}{%- endfor %}{{ bos_token }}{{ ns.system }}{%- "
    "for m in messages %}{%- if m.role == 'user' %}{%- set ns.tool "
    "= false -%}{{ '<U>' + m.content }}{%- elif m.role == "
    "'assistant' and m.content is not none %}{% set text = "
    "m.content %}{% if '</think>' in text %}{% set text = "
    "text.split('</think>')[-1] %}{% endif %}{{ '<A>' + text + "
    "eos_token }}{%- endif %}{%- endfor -%}{% if "
    "add_generation_prompt and not ns.tool %}{{ '<A><think>' }}{% "
    "endif %}";

static const struct chat_case cases[] = {
    {headers,
     "[{\"role\": \"system\", \"content\": \" Be brief.\\n\"}, "
     "{\"role\": \"user\", \"content\": \" Hi é\\n\"}, {\"role\": "
     "\"assistant\", \"content\": \"<think>\\nx\\n</think>\\n\\nHo "
     "\"}]",
     "{\"bos_token\": \"<s>\", \"eos_token\": \"</s>\"}", true,
     "<s>[system]\n"
     "Be brief.</s>[user]\n"
     "Hi é</s>[assistant]\n"
     "<think>\n"
     "x\n"
     "</think>\n"
     "\n"
     "Ho</s>[assistant]\n"},
    {tools,
     "[{\"role\": \"system\", \"content\": \" Be brief.\\n\"}, "
     "{\"role\": \"user\", \"content\": \" Hi é\\n\"}, {\"role\": "
     "\"assistant\", \"content\": \"\", \"tool_calls\": [{\"type\": "
     "\"function\", \"function\": {\"name\": \"f\", \"arguments\": "
     "{\"b\": 1, \"a\": [\"é\", null, 2.5]}}}]}, {\"role\": "
     "\"tool\", \"content\": \"{\\\"r\\\": 1}\"}]",
     "{\"bos_token\": \"<s>\", \"eos_token\": \"</s>\", \"tools\": "
     "[{\"type\": \"function\", \"function\": {\"name\": \"f\", "
     "\"description\": \"é \\\"q\\\"\", \"parameters\": {\"type\": "
     "\"object\", \"properties\": {\"b\": {\"type\": "
     "\"integer\"}}}}}]}", true,
     "<s>[system today]Be brief.{\n"
     "    \"type\": \"function\",\n"
     "    \"function\": {\n"
     "        \"name\": \"f\",\n"
     "        \"description\": \"é \\\"q\\\"\",\n"
     "        \"parameters\": {\n"
     "            \"type\": \"object\",\n"
     "            \"properties\": {\n"
     "                \"b\": {\n"
     "                    \"type\": \"integer\"\n"
     "                }\n"
     "            }\n"
     "        }\n"
     "    }\n"
     "}[user]Hi é[call f]{\"b\": 1, \"a\": [\"é\", null, "
     "2.5]}[result]{\"r\": 1}"},
    {tools,
     "[{\"role\": \"user\", \"content\": \" Hi é\\n\"}]",
     "{\"bos_token\": \"<s>\", \"eos_token\": \"</s>\", \"date\": "
     "\"1 May\"}", false,
     "<s>[system 1 May][user]Hi é"},
    {turns,
     "[{\"role\": \"user\", \"content\": \" Hi é\\n\"}, {\"role\": "
     "\"assistant\", \"content\": \"<think>\\nx\\n</think>\\n\\nHo "
     "\"}, {\"role\": \"user\", \"content\": \" Hi é\\n\"}]",
     "{\"bos_token\": \"<s>\", \"eos_token\": \"</s>\"}", false,
     "<s>[U] Hi é\n"
     "<think>\n"
     "x\n"
     "</think>\n"
     "\n"
     "Ho </s>[U] Hi é\n"},
    {turns,
     "[{\"role\": \"user\", \"content\": \" Hi é\\n\"}, {\"role\": "
     "\"user\", \"content\": \" Hi é\\n\"}]",
     "{\"bos_token\": \"<s>\", \"eos_token\": \"</s>\"}", false,
     "!T:1: the template refuses: Roles must take turns"},
    {parts,
     "[{\"role\": \"system\", \"content\": \" Be brief.\\n\"}, "
     "{\"role\": \"user\", \"content\": [{\"type\": \"image\"}, "
     "{\"type\": \"text\", \"text\": \" T \"}]}, {\"role\": "
     "\"assistant\", \"content\": \"<think>\\nx\\n</think>\\n\\nHo "
     "\"}]",
     "{\"bos_token\": \"<s>\", \"eos_token\": \"</s>\"}", false,
     "<s>[user]\n"
     " Be brief.\n"
     "<image>T[model]\n"
     "<think>\n"
     "x\n"
     "</think>\n"
     "\n"
     "Ho"},
    {thinking,
     "[{\"role\": \"system\", \"content\": \" Be brief.\\n\"}, "
     "{\"role\": \"user\", \"content\": \" Hi é\\n\"}, {\"role\": "
     "\"assistant\", \"content\": \"<think>\\nx\\n</think>\\n\\nHo "
     "\"}, {\"role\": \"user\", \"content\": \" Hi é\\n\"}]",
     "{\"bos_token\": \"<s>\", \"eos_token\": \"</s>\"}", true,
     "<s> Be brief.\n"
     "<U> Hi é\n"
     "<A>\n"
     "\n"
     "Ho </s><U> Hi é\n"
     "<A><think>"},
    {NULL,
     "[{\"role\": \"system\", \"content\": \" Be brief.\\n\"}, "
     "{\"role\": \"user\", \"content\": \" Hi é\\n\"}, {\"role\": "
     "\"assistant\", \"content\": \"\", \"tool_calls\": [{\"type\": "
     "\"function\", \"function\": {\"name\": \"f\", \"arguments\": "
     "{\"b\": 1, \"a\": [\"é\", null, 2.5]}}}]}, {\"role\": "
     "\"tool\", \"content\": \"{\\\"r\\\": 1}\"}, {\"role\": "
     "\"assistant\", \"content\": \"<think>\\nx\\n</think>\\n\\nHo "
     "\"}]",
     "{\"tools\": [{\"type\": \"function\", \"function\": "
     "{\"name\": \"f\", \"description\": \"é \\\"q\\\"\", "
     "\"parameters\": {\"type\": \"object\", \"properties\": "
     "{\"b\": {\"type\": \"integer\"}}}}}]}", true,
     "<|im_start|>system\n"
     " Be brief.\n"
     "\n"
     "\n"
     "# Tools\n"
     "\n"
     "You may call one or more functions to assist with the user "
     "query.\n"
     "\n"
     "You are provided with function signatures within "
     "<tools></tools> XML tags:\n"
     "<tools>\n"
     "{\"type\": \"function\", \"function\": {\"name\": \"f\", "
     "\"description\": \"é \\\"q\\\"\", \"parameters\": {\"type\": "
     "\"object\", \"properties\": {\"b\": {\"type\": "
     "\"integer\"}}}}}\n"
     "</tools>\n"
     "\n"
     "For each function call, return a json object with function "
     "name and arguments within <tool_call></tool_call> XML tags:\n"
     "<tool_call>\n"
     "{\"name\": <function-name>, \"arguments\": "
     "<args-json-object>}\n"
     "</tool_call><|im_end|>\n"
     "<|im_start|>user\n"
     " Hi é\n"
     "<|im_end|>\n"
     "<|im_start|>assistant\n"
     "<tool_call>\n"
     "{\"name\": \"f\", \"arguments\": {\"b\": 1, \"a\": [\"é\", "
     "null, 2.5]}}\n"
     "</tool_call><|im_end|>\n"
     "<|im_start|>user\n"
     "<tool_response>\n"
     "{\"r\": 1}\n"
     "</tool_response><|im_end|>\n"
     "<|im_start|>assistant\n"
     "<think>\n"
     "x\n"
     "</think>\n"
     "\n"
     "Ho <|im_end|>\n"
     "<|im_start|>assistant\n"},
    {NULL,
     "[{\"role\": \"user\", \"content\": \" Hi é\\n\"}, {\"role\": "
     "\"assistant\", \"content\": \"<think>\\nx\\n</think>\\n\\nHo "
     "\"}, {\"role\": \"user\", \"content\": \" Hi é\\n\"}, "
     "{\"role\": \"assistant\", \"content\": \"Z\", "
     "\"reasoning_content\": \"why\"}]",
     NULL, false,
     "<|im_start|>user\n"
     " Hi é\n"
     "<|im_end|>\n"
     "<|im_start|>assistant\n"
     "Ho <|im_end|>\n"
     "<|im_start|>user\n"
     " Hi é\n"
     "<|im_end|>\n"
     "<|im_start|>assistant\n"
     "<think>\n"
     "why\n"
     "</think>\n"
     "\n"
     "Z<|im_end|>\n"},
    {NULL,
     "[{\"role\": \"user\", \"content\": \" Hi é\\n\"}, {\"role\": "
     "\"assistant\", \"content\": \"\", \"tool_calls\": [{\"type\": "
     "\"function\", \"function\": {\"name\": \"f\", \"arguments\": "
     "{\"b\": 1, \"a\": [\"é\", null, 2.5]}}}]}, {\"role\": "
     "\"tool\", \"content\": \"{\\\"r\\\": 1}\"}, {\"role\": "
     "\"tool\", \"content\": \"{\\\"r\\\": 1}\"}]",
     "{\"enable_thinking\": false}", true,
     "<|im_start|>user\n"
     " Hi é\n"
     "<|im_end|>\n"
     "<|im_start|>assistant\n"
     "<tool_call>\n"
     "{\"name\": \"f\", \"arguments\": {\"b\": 1, \"a\": [\"é\", "
     "null, 2.5]}}\n"
     "</tool_call><|im_end|>\n"
     "<|im_start|>user\n"
     "<tool_response>\n"
     "{\"r\": 1}\n"
     "</tool_response>\n"
     "<tool_response>\n"
     "{\"r\": 1}\n"
     "</tool_response><|im_end|>\n"
     "<|im_start|>assistant\n"
     "<think>\n"
     "\n"
     "</think>\n"
     "\n"},
    {NULL,
     "[{\"role\": \"user\", \"content\": \" Hi é\\n\"}, {\"role\": "
     "\"assistant\", \"content\": \"T\", \"tool_calls\": "
     "[{\"name\": \"f\", \"arguments\": {\"b\": 1, \"a\": [\"é\", "
     "null, 2.5]}}, {\"function\": {\"name\": \"g\", \"arguments\": "
     "\"{\\\"s\\\":1}\"}}]}, {\"role\": \"tool\", \"content\": "
     "\"{\\\"r\\\": 1}\"}, {\"role\": \"assistant\", \"content\": "
     "\"<think>\\nx\\n</think>\\n\\nHo \"}]",
     NULL, false,
     "<|im_start|>user\n"
     " Hi é\n"
     "<|im_end|>\n"
     "<|im_start|>assistant\n"
     "T\n"
     "<tool_call>\n"
     "{\"name\": \"f\", \"arguments\": {\"b\": 1, \"a\": [\"é\", "
     "null, 2.5]}}\n"
     "</tool_call>\n"
     "<tool_call>\n"
     "{\"name\": \"g\", \"arguments\": {\"s\":1}}\n"
     "</tool_call><|im_end|>\n"
     "<|im_start|>user\n"
     "<tool_response>\n"
     "{\"r\": 1}\n"
     "</tool_response><|im_end|>\n"
     "<|im_start|>assistant\n"
     "<think>\n"
     "x\n"
     "</think>\n"
     "\n"
     "Ho <|im_end|>\n"},
};
/* clang-format on */

/* Qwen3's template, to be freed; NULL if it isn't there.  */
static char *
load_qwen3(void)
{
    const char *shared = getenv("DFLASH_SHARED");
    char path[4096], *source = NULL;
    json_t *config = NULL;

    snprintf(path, sizeof path, "%s/tokenizers/qwen3/tokenizer_config.json",
             shared ? shared : "../shared");
    if (df_json_load_if_exists(&config, path) != DF_OK)
        diag("%s", df_error_last()->message);
    if (config)
        source = strdup(
            json_string_value(json_object_get(config, "chat_template")));
    json_decref(config);
    return source;
}

static void
check(const struct chat_case *row, const char *source, int number)
{
    struct df_template *tmpl = NULL;
    char *text = NULL;
    size_t len;
    df_status status = df_template_parse(&tmpl, source, strlen(source), "T");
    bool refused = row->wanted[0] == '!';

    if (status == DF_OK)
        status = df_template_render(tmpl, row->messages, row->extra,
                                    row->prompt, &text, &len);
    if (status != DF_OK)
        diag("%s", df_error_last()->message);
    if (refused)
        ok(status == DF_INVALID
               && strcmp(df_error_last()->message, row->wanted + 1) == 0,
           "conversation %d is refused in the template's words", number);
    else
        ok(status == DF_OK && strcmp(text, row->wanted) == 0,
           "conversation %d is rendered", number);
    free(text);
    df_template_free(tmpl);
}

int
main(void)
{
    int n = (int) (sizeof cases / sizeof *cases);
    char *qwen3 = load_qwen3();

    plan(n);
    for (int i = 0; i < n; i++) {
        if (cases[i].source || qwen3)
            check(&cases[i], cases[i].source ? cases[i].source : qwen3, i);
        else
            skip("conversation %d: no tokenizers/qwen3 in DFLASH_SHARED", i);
    }
    free(qwen3);
    return 0;
}

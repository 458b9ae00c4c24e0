#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/json_internal.h"
#include "text/template_ast_internal.h"
#include "text/template_internal.h"

df_status
df_template_parse(struct df_template **out, const char *source, size_t len,
                  const char *name)
{
    struct df_template *tmpl = calloc(1, sizeof *tmpl);
    struct df_tpl_token *tokens;
    df_status status = DF_OK;

    *out = NULL;
    if (!tmpl)
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory", name);
    tmpl->name = df_tpl_copy(&tmpl->arena, name, strlen(name));
    if (!tmpl->name)
        status = df_tpl_no_room(&tmpl->arena, name, 1);
    if (status == DF_OK)
        status = df_tpl_lex(&tmpl->arena, tmpl->name, source, len, &tokens);
    if (status == DF_OK)
        status = df_tpl_parse(tmpl, tokens);
    if (status != DF_OK) {
        df_template_free(tmpl);
        return status;
    }
    *out = tmpl;
    return DF_OK;
}

void
df_template_free(struct df_template *tmpl)
{
    if (!tmpl)
        return;
    df_tpl_arena_free(&tmpl->arena);
    free(tmpl);
}

static df_status
bind_json(struct df_tpl_run *run, const char *name, const json_t *json)
{
    struct df_tpl_value value = df_tpl_none();

    if (json)
        DF_TRY(df_tpl_from_json(run, json, &value));
    return df_tpl_bind(run, run->frame, name, value);
}

/* The variables a template sees.  Those of EXTRA come first, so that it
   can't replace the conversation.  */
static df_status
bind_variables(struct df_tpl_run *run, const json_t *messages,
               const json_t *extra, bool add_generation_prompt)
{
    const char *name;
    json_t *value;

    DF_TRY(df_tpl_enter(run, NULL));
    DF_TRY(bind_json(run, "tools", NULL));
    DF_TRY(bind_json(run, "documents", NULL));
    /* The macro takes no const object, but only reads it.  */
    json_object_foreach((json_t *) extra, name, value)
        DF_TRY(bind_json(run, name, value));
    DF_TRY(bind_json(run, "messages", messages));
    return df_tpl_bind(run, run->frame, "add_generation_prompt",
                       df_tpl_bool(add_generation_prompt));
}

df_status
df_template_render_json(const struct df_template *tmpl, const json_t *messages,
                        const json_t *extra, bool add_generation_prompt,
                        char **text, size_t *len)
{
    struct df_tpl_buf buf = {0};
    struct df_tpl_run run = {.name = tmpl->name, .out = &buf, .line = 1};
    df_status status;

    *text = NULL;
    status = bind_variables(&run, messages, extra, add_generation_prompt);
    if (status == DF_OK)
        status = df_tpl_exec(&run, tmpl->body);
    if (status == DF_OK) {
        *text = malloc(buf.len + 1);
        if (!*text)
            status = DF_FAIL(DF_NO_MEMORY, "%s: %zu bytes of text", tmpl->name,
                             buf.len);
    }
    if (status == DF_OK) {
        if (buf.len > 0)
            memcpy(*text, buf.data, buf.len);
        (*text)[buf.len] = '\0';
        *len = buf.len;
    }
    df_tpl_arena_free(&run.arena);
    return status;
}

df_status
df_template_render(const struct df_template *tmpl, const char *messages,
                   const char *extra, bool add_generation_prompt, char **text,
                   size_t *len)
{
    json_t *msgs = NULL, *vars = NULL;
    df_status status;

    *text = NULL;
    status = df_json_parse(&msgs, messages, strlen(messages), "messages");
    if (status == DF_OK && !json_is_array(msgs))
        status = DF_FAIL(DF_FORMAT, "messages: %s, not an array",
                         df_json_type_name(msgs));
    if (status == DF_OK && extra)
        status = df_json_parse(&vars, extra, strlen(extra), "variables");
    if (status == DF_OK && vars && !json_is_object(vars))
        status = DF_FAIL(DF_FORMAT, "variables: %s, not an object",
                         df_json_type_name(vars));
    if (status == DF_OK)
        status = df_template_render_json(tmpl, msgs, vars,
                                         add_generation_prompt, text, len);
    json_decref(msgs);
    json_decref(vars);
    return status;
}

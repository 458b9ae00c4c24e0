/* template_cursor.c - where the parser is, and what it makes.  */

#include <config.h>

#include <string.h>

#include "text/template_parse_internal.h"

df_status
df_tpl_node_new(struct df_tpl_parser *p, enum df_tpl_node_kind kind, int line,
                struct df_tpl_node **out)
{
    *out = df_tpl_alloc(p->arena, sizeof **out);
    if (!*out)
        return df_tpl_no_room(p->arena, p->name, line);
    (*out)->kind = kind;
    (*out)->line = line;
    return DF_OK;
}

bool
df_tpl_at_op(const struct df_tpl_parser *p, const char *text)
{
    return p->tok->kind == DF_TOK_OP && strcmp(p->tok->text, text) == 0;
}

bool
df_tpl_at_name(const struct df_tpl_parser *p, const char *text)
{
    return p->tok->kind == DF_TOK_NAME && strcmp(p->tok->text, text) == 0;
}

bool
df_tpl_skip_op(struct df_tpl_parser *p, const char *text)
{
    bool at = df_tpl_at_op(p, text);

    p->tok += at;
    return at;
}

bool
df_tpl_skip_name(struct df_tpl_parser *p, const char *text)
{
    bool at = df_tpl_at_name(p, text);

    p->tok += at;
    return at;
}

df_status
df_tpl_unexpected(const struct df_tpl_parser *p)
{
    switch (p->tok->kind) {
    case DF_TOK_END:
        return DF_TPL_SYNTAX(p, DF_FORMAT, "unexpected end of the template");
    case DF_TOK_BLOCK_END:
    case DF_TOK_PRINT_END:
        return DF_TPL_SYNTAX(p, DF_FORMAT, "unexpected end of the tag");
    case DF_TOK_STRING:
        return DF_TPL_SYNTAX(p, DF_FORMAT, "unexpected string");
    default:
        return DF_TPL_SYNTAX(p, DF_FORMAT, "unexpected '%s'", p->tok->text);
    }
}

df_status
df_tpl_expect_op(struct df_tpl_parser *p, const char *text)
{
    return df_tpl_skip_op(p, text) ? DF_OK : df_tpl_unexpected(p);
}

df_status
df_tpl_expect_name(struct df_tpl_parser *p, const char **text)
{
    if (p->tok->kind != DF_TOK_NAME)
        return df_tpl_unexpected(p);
    *text = (p->tok++)->text;
    return DF_OK;
}

df_status
df_tpl_deeper(struct df_tpl_parser *p)
{
    if (++p->depth > DF_TPL_MAX_NEST)
        return DF_TPL_SYNTAX(p, DF_UNSUPPORTED, "nested too deeply");
    return DF_OK;
}

/* template_parse.c - the parser of statements.  */

#include <config.h>

#include <string.h>

#include "text/template_func_internal.h"
#include "text/template_parse_internal.h"

/* After the end of a tag, statements up to the tag whose name is in ENDS,
   a list that NULL ends; *END is that name, and the current token is after
   it.  OPENED is for the message when there is none.  */
static df_status parse_body(struct df_tpl_parser *p, const char *const *ends,
                            const struct df_tpl_node *opened,
                            struct df_tpl_node **out, const char **end);

static df_status
end_tag(struct df_tpl_parser *p)
{
    if (p->tok->kind != DF_TOK_BLOCK_END)
        return df_tpl_unexpected(p);
    p->tok++;
    return DF_OK;
}

/* As parse_body, with one possible end, whose tag is skipped too.  */
static df_status
parse_to(struct df_tpl_parser *p, const char *name,
         const struct df_tpl_node *opened, struct df_tpl_node **out)
{
    const char *const ends[] = {name, NULL};
    const char *end;

    DF_TRY(end_tag(p));
    DF_TRY(parse_body(p, ends, opened, out, &end));
    return end_tag(p);
}

/* As parse_to, where no loop around can be left.  */
static df_status
parse_closed(struct df_tpl_parser *p, const char *name,
             const struct df_tpl_node *opened, struct df_tpl_node **out)
{
    int loops = p->loops;

    p->loops = 0;
    DF_TRY(parse_to(p, name, opened, out));
    p->loops = loops;
    return DF_OK;
}

static df_status
parse_if(struct df_tpl_parser *p, struct df_tpl_node *node)
{
    static const char *const ends[] = {"elif", "else", "endif", NULL};
    struct df_tpl_node **tail = &node->list, *branch, *test;
    const char *end = "if";

    node->kind = DF_NODE_IF;
    do {
        bool is_else = strcmp(end, "else") == 0;

        DF_TRY(df_tpl_node_new(p, DF_NODE_BRANCH, p->tok->line, &branch));
        if (!is_else) {
            DF_TRY(df_tpl_parse_tuple(p, false, &test));
            branch->a = test;
        }
        DF_TRY(end_tag(p));
        DF_TRY(parse_body(p, is_else ? ends + 2 : ends, node, &branch->list,
                          &end));
        *tail = branch;
        tail = &branch->next;
    } while (strcmp(end, "endif") != 0);
    return end_tag(p);
}

static df_status parse_target(struct df_tpl_parser *p, bool attr,
                              struct df_tpl_node **out);

/* A name, targets in parentheses or, with ATTR, a namespace's attribute.  */
static df_status
parse_one_target(struct df_tpl_parser *p, bool attr, struct df_tpl_node **out)
{
    struct df_tpl_node *node;

    if (df_tpl_skip_op(p, "(")) {
        DF_TRY(df_tpl_deeper(p));
        DF_TRY(parse_target(p, attr, out));
        p->depth--;
        return df_tpl_expect_op(p, ")");
    }
    DF_TRY(df_tpl_parse_primary(p, out));
    if ((*out)->kind != DF_NODE_NAME)
        return DF_TPL_SYNTAX(p, DF_FORMAT, "no name to assign to");
    if (!attr || !df_tpl_skip_op(p, "."))
        return DF_OK;
    DF_TRY(df_tpl_node_new(p, DF_NODE_ATTR, p->tok->line, &node));
    node->a = *out;
    *out = node;
    return df_tpl_expect_name(p, &node->text);
}

/* What is assigned to, one or several with commas.  */
static df_status
parse_target(struct df_tpl_parser *p, bool attr, struct df_tpl_node **out)
{
    struct df_tpl_node *node, **tail;

    DF_TRY(parse_one_target(p, attr, out));
    if (!df_tpl_at_op(p, ","))
        return DF_OK;
    DF_TRY(df_tpl_node_new(p, DF_NODE_TUPLE, p->tok->line, &node));
    node->list = *out;
    tail = &(*out)->next;
    while (df_tpl_skip_op(p, ",")) {
        if (df_tpl_at_name(p, "in") || df_tpl_at_op(p, "=")
            || df_tpl_at_op(p, ")"))
            break;
        DF_TRY(parse_one_target(p, attr, tail));
        tail = &(*tail)->next;
    }
    *out = node;
    return DF_OK;
}

static df_status
parse_for(struct df_tpl_parser *p, struct df_tpl_node *node)
{
    static const char *const ends[] = {"else", "endfor", NULL};
    struct df_tpl_node *target, *iter, *test;
    const char *end;

    node->kind = DF_NODE_FOR;
    DF_TRY(parse_target(p, false, &target));
    node->a = target;
    if (!df_tpl_skip_name(p, "in"))
        return df_tpl_unexpected(p);
    DF_TRY(df_tpl_parse_tuple(p, false, &iter));
    node->b = iter;
    if (df_tpl_skip_name(p, "if")) {
        DF_TRY(df_tpl_parse_expr(p, true, &test));
        node->c = test;
    }
    if (df_tpl_at_name(p, "recursive"))
        return DF_TPL_SYNTAX(p, DF_UNSUPPORTED, "recursive loop");
    DF_TRY(end_tag(p));
    p->loops++;
    DF_TRY(parse_body(p, ends, node, &node->list, &end));
    p->loops--;
    if (strcmp(end, "else") == 0)
        return parse_to(p, "endfor", node, &node->else_list);
    return end_tag(p);
}

static df_status
parse_set(struct df_tpl_parser *p, struct df_tpl_node *node)
{
    struct df_tpl_node *target, *value;

    DF_TRY(parse_target(p, true, &target));
    node->a = target;
    if (df_tpl_skip_op(p, "=")) {
        node->kind = DF_NODE_SET;
        DF_TRY(df_tpl_parse_tuple(p, true, &value));
        node->b = value;
        return end_tag(p);
    }
    node->kind = DF_NODE_SETBLOCK;
    if (df_tpl_at_op(p, "|")) {
        DF_TRY(df_tpl_node_new(p, DF_NODE_HOLE, p->tok->line, &value));
        DF_TRY(df_tpl_parse_filters(p, &value));
        node->b = value;
    }
    return parse_closed(p, "endset", node, &node->list);
}

/* After "macro": NAME(A, B=DEFAULT).  */
static df_status
parse_macro(struct df_tpl_parser *p, struct df_tpl_node *node)
{
    struct df_tpl_node **tail = &node->params, *value;
    struct df_tpl_met *met = df_tpl_alloc(p->arena, sizeof *met);

    if (!met)
        return df_tpl_no_room(p->arena, p->name, node->line);
    *met = (struct df_tpl_met){node, p->macros};
    p->macros = met;
    node->kind = DF_NODE_MACRO;
    DF_TRY(df_tpl_expect_name(p, &node->text));
    DF_TRY(df_tpl_expect_op(p, "("));
    while (!df_tpl_at_op(p, ")")) {
        DF_TRY(df_tpl_node_new(p, DF_NODE_NAME, p->tok->line, tail));
        DF_TRY(df_tpl_expect_name(p, &(*tail)->text));
        if (df_tpl_skip_op(p, "=")) {
            DF_TRY(df_tpl_parse_expr(p, true, &value));
            (*tail)->a = value;
        }
        tail = &(*tail)->next;
        if (!df_tpl_skip_op(p, ","))
            break;
    }
    DF_TRY(df_tpl_expect_op(p, ")"));
    return parse_closed(p, "endmacro", node, &node->list);
}

static df_status
parse_generation(struct df_tpl_parser *p, struct df_tpl_node *node)
{
    node->kind = DF_NODE_SCOPE;
    return parse_closed(p, "endgeneration", node, &node->list);
}

static df_status
parse_leave(struct df_tpl_parser *p, struct df_tpl_node *node)
{
    node->kind =
        strcmp(node->text, "break") == 0 ? DF_NODE_BREAK : DF_NODE_CONTINUE;
    if (p->loops == 0)
        return DF_FAIL(DF_FORMAT, "%s:%d: '%s' outside of a loop", p->name,
                       node->line, node->text);
    return end_tag(p);
}

/* The current token is the name of a tag that no body ends with.  */
static df_status
parse_tag(struct df_tpl_parser *p, struct df_tpl_node *node)
{
    static const struct {
        const char *name;
        df_status (*parse)(struct df_tpl_parser *, struct df_tpl_node *);
    } tags[] = {
        {"if",         parse_if        },
        {"for",        parse_for       },
        {"set",        parse_set       },
        {"macro",      parse_macro     },
        {"generation", parse_generation},
        {"break",      parse_leave     },
        {"continue",   parse_leave     },
    };

    node->text = p->tok->text;
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (df_tpl_skip_name(p, tags[i].name))
            return tags[i].parse(p, node);
    if (p->tok->kind != DF_TOK_NAME)
        return df_tpl_unexpected(p);
    if (strncmp(p->tok->text, "end", 3) == 0
        || strcmp(p->tok->text, "else") == 0
        || strcmp(p->tok->text, "elif") == 0)
        return df_tpl_unexpected(p);
    return DF_TPL_SYNTAX(p, DF_UNSUPPORTED, "unknown tag '%s'", p->tok->text);
}

/* After "{{".  The filter "safe" marks text for an escaping that is off:
   as the last one it changes nothing.  */
static df_status
parse_print(struct df_tpl_parser *p, struct df_tpl_node *node)
{
    struct df_tpl_node *value;

    DF_TRY(df_tpl_parse_tuple(p, true, &value));
    node->kind = DF_NODE_PRINT;
    node->a = value;
    while (node->a->kind == DF_NODE_FILTER && !node->a->func) {
        node->a = node->a->a;
        p->safe--;
    }
    if (p->tok->kind != DF_TOK_PRINT_END)
        return df_tpl_unexpected(p);
    p->tok++;
    return DF_OK;
}

/* One piece of text, print or block.  */
static df_status
parse_statement(struct df_tpl_parser *p, struct df_tpl_node *node)
{
    const struct df_tpl_token *tok = p->tok++;

    if (tok->kind == DF_TOK_DATA) {
        node->kind = DF_NODE_DATA;
        node->value = df_tpl_string(tok->text, tok->len);
        return DF_OK;
    }
    DF_TRY(df_tpl_deeper(p));
    if (tok->kind == DF_TOK_PRINT_BEGIN)
        DF_TRY(parse_print(p, node));
    else
        DF_TRY(parse_tag(p, node));
    p->depth--;
    if (p->safe != 0)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s:%d: filter 'safe' other than last in a print",
                       p->name, node->line);
    return DF_OK;
}

/* Is the current tag one of ENDS?  Then skip its name.  */
static bool
skip_end(struct df_tpl_parser *p, const char *const *ends, const char **end)
{
    if (p->tok->kind != DF_TOK_BLOCK_BEGIN)
        return false;
    p->tok++;
    for (; *ends; ends++) {
        *end = *ends;
        if (df_tpl_skip_name(p, *ends))
            return true;
    }
    p->tok--;
    return false;
}

static df_status
parse_body(struct df_tpl_parser *p, const char *const *ends,
           const struct df_tpl_node *opened, struct df_tpl_node **out,
           const char **end)
{
    while (!skip_end(p, ends, end)) {
        if (p->tok->kind == DF_TOK_END)
            return DF_FAIL(DF_FORMAT, "%s:%d: '%s' without its end", p->name,
                           opened->line, opened->text);
        DF_TRY(df_tpl_node_new(p, DF_NODE_DATA, p->tok->line, out));
        DF_TRY(parse_statement(p, *out));
        out = &(*out)->next;
    }
    return DF_OK;
}

/* Is every called name a function or a macro of the template?  */
static df_status
check_calls(const struct df_tpl_parser *p)
{
    for (const struct df_tpl_met *call = p->calls; call; call = call->next) {
        const struct df_tpl_met *macro = p->macros;

        if (df_tpl_global_find(call->node->text))
            continue;
        while (macro && strcmp(macro->node->text, call->node->text) != 0)
            macro = macro->next;
        if (!macro)
            return DF_FAIL(DF_UNSUPPORTED, "%s:%d: unknown function '%s'",
                           p->name, call->node->line, call->node->text);
    }
    return DF_OK;
}

df_status
df_tpl_parse(struct df_template *tmpl, const struct df_tpl_token *tokens)
{
    struct df_tpl_parser p = {
        .arena = &tmpl->arena, .name = tmpl->name, .tok = tokens};
    struct df_tpl_node *body = NULL, **tail = &body;

    while (p.tok->kind != DF_TOK_END) {
        DF_TRY(df_tpl_node_new(&p, DF_NODE_DATA, p.tok->line, tail));
        DF_TRY(parse_statement(&p, *tail));
        tail = &(*tail)->next;
    }
    tmpl->body = body;
    return check_calls(&p);
}

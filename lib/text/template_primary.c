/* template_primary.c - the parser of literals, names, calls and filters.  */

#include <config.h>

#include <string.h>

#include "text/template_func_internal.h"
#include "text/template_parse_internal.h"

static df_status
parse_strings(struct df_tpl_parser *p, struct df_tpl_node *node)
{
    const struct df_tpl_token *first = p->tok;
    size_t len = 0;
    char *text;

    for (; p->tok->kind == DF_TOK_STRING; p->tok++)
        len += p->tok->len;
    text = df_tpl_alloc(p->arena, len + 1);
    if (!text)
        return df_tpl_no_room(p->arena, p->name, first->line);
    node->value = df_tpl_string(text, len);
    for (; first < p->tok; first++) {
        memcpy(text, first->text, first->len);
        text += first->len;
    }
    return DF_OK;
}

/* Names that the reference knows and we don't: as variables they would
   silently be undefined.  */
static bool
is_refused_name(const char *name)
{
    static const char *const names[] = {"caller",  "cycler", "joiner",
                                        "lipsum",  "self",   "super",
                                        "varargs", "kwargs"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static df_status
parse_name(struct df_tpl_parser *p, struct df_tpl_node *node)
{
    const char *text = p->tok->text;

    node->value.kind = DF_VAL_BOOL;
    if (strcmp(text, "true") == 0 || strcmp(text, "True") == 0)
        node->value = df_tpl_bool(true);
    else if (strcmp(text, "false") == 0 || strcmp(text, "False") == 0)
        node->value = df_tpl_bool(false);
    else if (strcmp(text, "none") == 0 || strcmp(text, "None") == 0)
        node->value = df_tpl_none();
    else if (is_refused_name(text))
        return DF_TPL_SYNTAX(p, DF_UNSUPPORTED, "'%s' is not supported", text);
    else
        node->kind = DF_NODE_NAME;
    node->text = text;
    p->tok++;
    return DF_OK;
}

/* Expressions up to CLOSE with commas between, a last one allowed.  PAIRS:
   each is "key: value", two nodes.  */
static df_status
parse_items(struct df_tpl_parser *p, const char *close, bool pairs,
            struct df_tpl_node **list)
{
    while (!df_tpl_at_op(p, close)) {
        DF_TRY(df_tpl_parse_expr(p, true, list));
        list = &(*list)->next;
        if (pairs) {
            DF_TRY(df_tpl_expect_op(p, ":"));
            DF_TRY(df_tpl_parse_expr(p, true, list));
            list = &(*list)->next;
        }
        if (!df_tpl_skip_op(p, ","))
            break;
    }
    return df_tpl_expect_op(p, close);
}

static df_status
parse_parens(struct df_tpl_parser *p, struct df_tpl_node *empty,
             struct df_tpl_node **out)
{
    if (df_tpl_skip_op(p, ")")) {
        empty->kind = DF_NODE_TUPLE;
        return DF_OK;
    }
    DF_TRY(df_tpl_parse_tuple(p, true, out));
    return df_tpl_expect_op(p, ")");
}

df_status
df_tpl_parse_primary(struct df_tpl_parser *p, struct df_tpl_node **out)
{
    struct df_tpl_node *node;

    DF_TRY(df_tpl_node_new(p, DF_NODE_CONST, p->tok->line, &node));
    *out = node;
    switch (p->tok->kind) {
    case DF_TOK_NAME:
        return parse_name(p, node);
    case DF_TOK_STRING:
        return parse_strings(p, node);
    case DF_TOK_INT:
        node->value = df_tpl_int((p->tok++)->i);
        return DF_OK;
    case DF_TOK_FLOAT:
        node->value = df_tpl_float((p->tok++)->f);
        return DF_OK;
    default:
        break;
    }
    if (df_tpl_skip_op(p, "("))
        return parse_parens(p, node, out);
    if (df_tpl_skip_op(p, "[")) {
        node->kind = DF_NODE_LIST;
        return parse_items(p, "]", false, &node->list);
    }
    if (df_tpl_skip_op(p, "{")) {
        node->kind = DF_NODE_DICT;
        return parse_items(p, "}", true, &node->list);
    }
    return df_tpl_unexpected(p);
}

/* One bound of a slice, none if it is left out.  */
static df_status
parse_bound(struct df_tpl_parser *p, struct df_tpl_node **out)
{
    if (!df_tpl_at_op(p, ":") && !df_tpl_at_op(p, "]"))
        return df_tpl_parse_expr(p, true, out);
    DF_TRY(df_tpl_node_new(p, DF_NODE_CONST, p->tok->line, out));
    (*out)->value = df_tpl_none();
    return DF_OK;
}

/* After "A[".  */
static df_status
parse_subscript(struct df_tpl_parser *p, struct df_tpl_node *node)
{
    struct df_tpl_node *first;

    if (df_tpl_at_op(p, "]"))
        return df_tpl_unexpected(p);
    DF_TRY(parse_bound(p, &first));
    if (df_tpl_skip_op(p, "]")) {
        node->kind = DF_NODE_ITEM;
        node->b = first;
        return DF_OK;
    }
    node->kind = DF_NODE_SLICE;
    node->list = first;
    DF_TRY(df_tpl_expect_op(p, ":"));
    DF_TRY(parse_bound(p, &first->next));
    if (df_tpl_skip_op(p, ":"))
        DF_TRY(parse_bound(p, &first->next->next));
    else
        DF_TRY(df_tpl_node_new(p, DF_NODE_CONST, p->tok->line,
                               &first->next->next));
    if (first->next->next->value.kind == DF_VAL_ABSENT
        && first->next->next->kind == DF_NODE_CONST)
        first->next->next->value = df_tpl_none();
    return df_tpl_expect_op(p, "]");
}

/* After "A.".  */
static df_status
parse_attr(struct df_tpl_parser *p, struct df_tpl_node *node)
{
    struct df_tpl_node *key;

    if (p->tok->kind == DF_TOK_INT) {
        DF_TRY(df_tpl_node_new(p, DF_NODE_CONST, p->tok->line, &key));
        key->value = df_tpl_int((p->tok++)->i);
        node->kind = DF_NODE_ITEM;
        node->b = key;
        return DF_OK;
    }
    node->kind = DF_NODE_ATTR;
    DF_TRY(df_tpl_expect_name(p, &node->text));
    if (strncmp(node->text, "__", 2) == 0)
        return DF_FAIL(DF_UNSUPPORTED, "%s:%d: attribute '%s'", p->name,
                       node->line, node->text);
    return DF_OK;
}

/* After "(": arguments up to and with ")".  */
static df_status
parse_args(struct df_tpl_parser *p, struct df_tpl_node **list)
{
    bool keywords = false;

    while (!df_tpl_at_op(p, ")")) {
        struct df_tpl_node *arg, *value;

        if (df_tpl_at_op(p, "*") || df_tpl_at_op(p, "**"))
            return DF_TPL_SYNTAX(p, DF_UNSUPPORTED, "'%s' before an argument",
                                 p->tok->text);
        if (p->tok->kind == DF_TOK_NAME && p->tok[1].kind == DF_TOK_OP
            && strcmp(p->tok[1].text, "=") == 0) {
            DF_TRY(df_tpl_node_new(p, DF_NODE_KEYWORD, p->tok->line, &arg));
            arg->text = p->tok->text;
            p->tok += 2;
            DF_TRY(df_tpl_parse_expr(p, true, &value));
            arg->a = value;
            keywords = true;
        } else if (keywords) {
            return df_tpl_unexpected(p);
        } else {
            DF_TRY(df_tpl_parse_expr(p, true, &arg));
        }
        *list = arg;
        list = &arg->next;
        if (!df_tpl_skip_op(p, ","))
            break;
    }
    return df_tpl_expect_op(p, ")");
}

/* After "A(".  What is called is a name, which df_tpl_parse checks at its
   end, or a method.  */
static df_status
parse_call(struct df_tpl_parser *p, struct df_tpl_node *node)
{
    const struct df_tpl_node *callee = node->a;
    struct df_tpl_met *met;

    node->kind = DF_NODE_CALL;
    if (callee->kind == DF_NODE_ATTR) {
        if (!df_tpl_method_known(callee->text))
            return DF_FAIL(DF_UNSUPPORTED, "%s:%d: unknown method '%s'",
                           p->name, callee->line, callee->text);
    } else if (callee->kind == DF_NODE_NAME) {
        met = df_tpl_alloc(p->arena, sizeof *met);
        if (!met)
            return df_tpl_no_room(p->arena, p->name, node->line);
        *met = (struct df_tpl_met){callee, p->calls};
        p->calls = met;
    } else {
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s:%d: a call of what is no name and no method",
                       p->name, node->line);
    }
    return parse_args(p, &node->list);
}

df_status
df_tpl_parse_postfix(struct df_tpl_parser *p, struct df_tpl_node **node)
{
    for (;;) {
        bool attr = df_tpl_at_op(p, "."), item = df_tpl_at_op(p, "[");
        struct df_tpl_node *outer;

        if (!attr && !item && !df_tpl_at_op(p, "("))
            return DF_OK;
        DF_TRY(df_tpl_node_new(p, DF_NODE_ATTR, p->tok->line, &outer));
        outer->a = *node;
        p->tok++;
        if (attr)
            DF_TRY(parse_attr(p, outer));
        else if (item)
            DF_TRY(parse_subscript(p, outer));
        else
            DF_TRY(parse_call(p, outer));
        *node = outer;
    }
}

/* Do the arguments of NODE, a filter or test, fit its function?  */
static df_status
check_args(const struct df_tpl_parser *p, const struct df_tpl_node *node)
{
    struct df_tpl_run run = {.name = p->name, .line = node->line};
    struct df_tpl_call call = {.func = node->func};
    struct df_tpl_value pos[DF_TPL_MAX_PARAMS + 1];
    struct df_tpl_binding kw[DF_TPL_MAX_PARAMS + 1];

    for (size_t i = 0; i < sizeof pos / sizeof *pos; i++)
        pos[i] = df_tpl_none();
    call.pos = pos;
    call.kw = kw;
    for (const struct df_tpl_node *arg = node->list; arg; arg = arg->next) {
        if (arg->kind == DF_NODE_KEYWORD && call.n_kw <= DF_TPL_MAX_PARAMS)
            kw[call.n_kw++] =
                (struct df_tpl_binding){arg->text, df_tpl_none()};
        else if (call.n_pos <= DF_TPL_MAX_PARAMS)
            call.n_pos++;
    }
    return df_tpl_bind_args(&run, &call,
                            node->kind == DF_NODE_TEST ? "test" : "filter");
}

df_status
df_tpl_parse_filters(struct df_tpl_parser *p, struct df_tpl_node **node)
{
    while (df_tpl_skip_op(p, "|")) {
        struct df_tpl_node *outer;

        DF_TRY(df_tpl_node_new(p, DF_NODE_FILTER, p->tok->line, &outer));
        DF_TRY(df_tpl_expect_name(p, &outer->text));
        outer->a = *node;
        outer->func = df_tpl_filter_find(outer->text);
        if (!outer->func && strcmp(outer->text, "safe") == 0)
            p->safe++;
        else if (!outer->func)
            return DF_FAIL(DF_UNSUPPORTED, "%s:%d: unknown filter '%s'",
                           p->name, outer->line, outer->text);
        if (df_tpl_skip_op(p, "("))
            DF_TRY(parse_args(p, &outer->list));
        if (outer->func)
            DF_TRY(check_args(p, outer));
        *node = outer;
    }
    return DF_OK;
}

/* Does an argument without parentheses follow the name of a test?  */
static bool
at_bare_arg(const struct df_tpl_parser *p)
{
    if (p->tok->kind == DF_TOK_NAME)
        return !df_tpl_at_name(p, "else") && !df_tpl_at_name(p, "or")
               && !df_tpl_at_name(p, "and");
    return p->tok->kind == DF_TOK_STRING || p->tok->kind == DF_TOK_INT
           || p->tok->kind == DF_TOK_FLOAT || df_tpl_at_op(p, "[")
           || df_tpl_at_op(p, "{");
}

/* After "A is".  */
static df_status
parse_test(struct df_tpl_parser *p, struct df_tpl_node **node)
{
    struct df_tpl_node *test, *invert;
    bool negated = df_tpl_skip_name(p, "not");

    DF_TRY(df_tpl_node_new(p, DF_NODE_TEST, p->tok->line, &test));
    DF_TRY(df_tpl_expect_name(p, &test->text));
    test->a = *node;
    test->func = df_tpl_test_find(test->text);
    if (!test->func)
        return DF_FAIL(DF_UNSUPPORTED, "%s:%d: unknown test '%s'", p->name,
                       test->line, test->text);
    if (df_tpl_skip_op(p, "(")) {
        DF_TRY(parse_args(p, &test->list));
    } else if (df_tpl_at_name(p, "is")) {
        return df_tpl_unexpected(p); /* as the reference has it */
    } else if (at_bare_arg(p)) {
        DF_TRY(df_tpl_parse_primary(p, &test->list));
        DF_TRY(df_tpl_parse_postfix(p, &test->list));
    }
    DF_TRY(check_args(p, test));
    *node = test;
    if (!negated)
        return DF_OK;
    DF_TRY(df_tpl_node_new(p, DF_NODE_NOT, test->line, &invert));
    invert->a = test;
    *node = invert;
    return DF_OK;
}

df_status
df_tpl_parse_filters_and_tests(struct df_tpl_parser *p,
                               struct df_tpl_node **node)
{
    for (;;) {
        if (df_tpl_at_op(p, "|"))
            DF_TRY(df_tpl_parse_filters(p, node));
        else if (df_tpl_skip_name(p, "is"))
            DF_TRY(parse_test(p, node));
        else
            return DF_OK;
    }
}

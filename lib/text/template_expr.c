/* template_expr.c - the parser of expressions, loosest binding first.

       cond: or [if or [else cond]]     or: and {or and}
       and: not {and not}               not: not not | compare
       compare: sum {(== != < <= > >= in "not in") sum}
       sum: concat {(+ -) concat}       concat: product {~ product}
       product: power {(* / // %) power}
       power: unary {** unary}, from the left as the reference does
       unary: (- +) unary | primary {.name [item] (call)}
       each unary is followed by its filters and tests  */

#include <config.h>

#include <string.h>

#include "text/template_parse_internal.h"

struct binary_op {
    const char *text;
    enum df_tpl_op op;
};

/* The row of the current operator; NULL if it isn't in OPS.  */
static const struct binary_op *
find_op(const struct df_tpl_parser *p, const struct binary_op *ops)
{
    for (; ops->text; ops++)
        if (df_tpl_at_op(p, ops->text))
            return ops;
    return NULL;
}

typedef df_status parse_fn(struct df_tpl_parser *p, struct df_tpl_node **out);

/* PARSE {OPS PARSE}, from the left.  */
static df_status
parse_binary(struct df_tpl_parser *p, const struct binary_op *ops,
             parse_fn *parse, struct df_tpl_node **out)
{
    const struct binary_op *op;

    DF_TRY(parse(p, out));
    while ((op = find_op(p, ops))) {
        struct df_tpl_node *node, *right;
        int line = p->tok->line;

        p->tok++;
        DF_TRY(parse(p, &right));
        DF_TRY(df_tpl_node_new(p, DF_NODE_BINARY, line, &node));
        node->op = op->op;
        node->a = *out;
        node->b = right;
        *out = node;
    }
    return DF_OK;
}

static df_status
parse_operand(struct df_tpl_parser *p, struct df_tpl_node **out)
{
    if (!df_tpl_at_op(p, "-") && !df_tpl_at_op(p, "+")) {
        DF_TRY(df_tpl_parse_primary(p, out));
        return df_tpl_parse_postfix(p, out);
    }
    struct df_tpl_node *node;

    DF_TRY(df_tpl_deeper(p));
    DF_TRY(df_tpl_node_new(p, DF_NODE_UNARY, p->tok->line, &node));
    node->op = df_tpl_at_op(p, "-") ? DF_OP_SUB : DF_OP_ADD;
    p->tok++;
    DF_TRY(parse_operand(p, out));
    node->a = *out;
    *out = node;
    p->depth--;
    return DF_OK;
}

static df_status
parse_unary(struct df_tpl_parser *p, struct df_tpl_node **out)
{
    DF_TRY(parse_operand(p, out));
    return df_tpl_parse_filters_and_tests(p, out);
}

static df_status
parse_power(struct df_tpl_parser *p, struct df_tpl_node **out)
{
    static const struct binary_op ops[] = {
        {"**", DF_OP_POW},
        {NULL, 0        },
    };
    return parse_binary(p, ops, parse_unary, out);
}

static df_status
parse_product(struct df_tpl_parser *p, struct df_tpl_node **out)
{
    static const struct binary_op ops[] = {
        {"*",  DF_OP_MUL     },
        {"/",  DF_OP_DIV     },
        {"//", DF_OP_FLOORDIV},
        {"%",  DF_OP_MOD     },
        {NULL, 0             },
    };
    return parse_binary(p, ops, parse_power, out);
}

static df_status
parse_concat(struct df_tpl_parser *p, struct df_tpl_node **out)
{
    struct df_tpl_node *node, **tail;

    DF_TRY(parse_product(p, out));
    if (!df_tpl_at_op(p, "~"))
        return DF_OK;
    DF_TRY(df_tpl_node_new(p, DF_NODE_CONCAT, p->tok->line, &node));
    node->list = *out;
    tail = &(*out)->next;
    while (df_tpl_skip_op(p, "~")) {
        DF_TRY(parse_product(p, tail));
        tail = &(*tail)->next;
    }
    *out = node;
    return DF_OK;
}

static df_status
parse_sum(struct df_tpl_parser *p, struct df_tpl_node **out)
{
    static const struct binary_op ops[] = {
        {"+",  DF_OP_ADD},
        {"-",  DF_OP_SUB},
        {NULL, 0        },
    };
    return parse_binary(p, ops, parse_concat, out);
}

/* Skip a comparison operator; false if there is none.  */
static bool
skip_comparison(struct df_tpl_parser *p, enum df_tpl_op *op)
{
    static const struct binary_op ops[] = {
        {"==", DF_OP_EQ},
        {"!=", DF_OP_NE},
        {"<",  DF_OP_LT},
        {"<=", DF_OP_LE},
        {">",  DF_OP_GT},
        {">=", DF_OP_GE},
        {NULL, 0       },
    };
    const struct binary_op *row = find_op(p, ops);

    if (row) {
        p->tok++;
        *op = row->op;
        return true;
    }
    *op = DF_OP_IN;
    if (df_tpl_skip_name(p, "in"))
        return true;
    *op = DF_OP_NOT_IN;
    if (!df_tpl_at_name(p, "not"))
        return false;
    p->tok++;
    if (df_tpl_skip_name(p, "in"))
        return true;
    p->tok--;
    return false;
}

static df_status
parse_compare(struct df_tpl_parser *p, struct df_tpl_node **out)
{
    struct df_tpl_node *node, *operand, *first, **tail;
    int line = p->tok->line;
    enum df_tpl_op op;

    DF_TRY(parse_sum(p, &first));
    *out = first;
    if (!skip_comparison(p, &op))
        return DF_OK;
    DF_TRY(df_tpl_node_new(p, DF_NODE_COMPARE, line, &node));
    node->a = first;
    tail = &node->list;
    do {
        struct df_tpl_node *value;

        DF_TRY(df_tpl_node_new(p, DF_NODE_OPERAND, p->tok->line, &operand));
        DF_TRY(parse_sum(p, &value));
        operand->op = op;
        operand->a = value;
        *tail = operand;
        tail = &operand->next;
    } while (skip_comparison(p, &op));
    *out = node;
    return DF_OK;
}

static df_status
parse_not(struct df_tpl_parser *p, struct df_tpl_node **out)
{
    struct df_tpl_node *node;

    if (!df_tpl_at_name(p, "not"))
        return parse_compare(p, out);
    DF_TRY(df_tpl_deeper(p));
    DF_TRY(df_tpl_node_new(p, DF_NODE_NOT, p->tok->line, &node));
    p->tok++;
    DF_TRY(parse_not(p, out));
    node->a = *out;
    *out = node;
    p->depth--;
    return DF_OK;
}

/* PARSE {WORD PARSE}, as nodes of KIND.  */
static df_status
parse_logic(struct df_tpl_parser *p, const char *word,
            enum df_tpl_node_kind kind, parse_fn *parse,
            struct df_tpl_node **out)
{
    DF_TRY(parse(p, out));
    while (df_tpl_at_name(p, word)) {
        struct df_tpl_node *node, *right;

        DF_TRY(df_tpl_node_new(p, kind, p->tok->line, &node));
        p->tok++;
        DF_TRY(parse(p, &right));
        node->a = *out;
        node->b = right;
        *out = node;
    }
    return DF_OK;
}

static df_status
parse_and(struct df_tpl_parser *p, struct df_tpl_node **out)
{
    return parse_logic(p, "and", DF_NODE_AND, parse_not, out);
}

static df_status
parse_or(struct df_tpl_parser *p, struct df_tpl_node **out)
{
    return parse_logic(p, "or", DF_NODE_OR, parse_and, out);
}

/* "if B" and "else C", after A, which is *OUT.  */
static df_status
parse_conditions(struct df_tpl_parser *p, struct df_tpl_node **out)
{
    while (df_tpl_at_name(p, "if")) {
        struct df_tpl_node *node, *test, *other;

        DF_TRY(df_tpl_node_new(p, DF_NODE_COND, p->tok->line, &node));
        p->tok++;
        DF_TRY(parse_or(p, &test));
        node->a = *out;
        node->b = test;
        if (df_tpl_skip_name(p, "else")) {
            DF_TRY(df_tpl_parse_expr(p, true, &other));
            node->c = other;
        }
        *out = node;
    }
    return DF_OK;
}

df_status
df_tpl_parse_expr(struct df_tpl_parser *p, bool cond, struct df_tpl_node **out)
{
    DF_TRY(df_tpl_deeper(p));
    DF_TRY(parse_or(p, out));
    if (cond)
        DF_TRY(parse_conditions(p, out));
    p->depth--;
    return DF_OK;
}

/* Does a tuple end here, perhaps after a comma?  */
static bool
at_tuple_end(const struct df_tpl_parser *p)
{
    return p->tok->kind == DF_TOK_BLOCK_END || p->tok->kind == DF_TOK_PRINT_END
           || df_tpl_at_op(p, ")");
}

df_status
df_tpl_parse_tuple(struct df_tpl_parser *p, bool cond,
                   struct df_tpl_node **out)
{
    struct df_tpl_node *node, **tail;

    DF_TRY(df_tpl_parse_expr(p, cond, out));
    if (!df_tpl_at_op(p, ","))
        return DF_OK;
    DF_TRY(df_tpl_node_new(p, DF_NODE_TUPLE, p->tok->line, &node));
    node->list = *out;
    tail = &(*out)->next;
    while (df_tpl_skip_op(p, ",") && !at_tuple_end(p)) {
        DF_TRY(df_tpl_parse_expr(p, cond, tail));
        tail = &(*tail)->next;
    }
    *out = node;
    return DF_OK;
}

/* template_eval.c - the value of an expression.  */

#include <config.h>

#include <string.h>

#include "text/template_ast_internal.h"
#include "text/template_func_internal.h"

static df_status
eval_name(struct df_tpl_run *run, const struct df_tpl_node *node,
          struct df_tpl_value *out)
{
    const struct df_tpl_func *func;

    for (struct df_tpl_frame *f = run->frame; f; f = f->parent) {
        DF_TRY(df_tpl_work(run, 1 + f->n / 4));
        for (size_t i = 0; i < f->n; i++)
            if (strcmp(f->items[i].name, node->text) == 0) {
                *out = f->items[i].value;
                return DF_OK;
            }
    }
    func = df_tpl_global_find(node->text);
    if (func && !func->fn)
        return DF_TPL_FAIL(run, DF_UNSUPPORTED,
                           "function '%s' is not supported", node->text);
    *out =
        func ? (struct df_tpl_value){.kind = DF_VAL_FUNCTION}
             : df_tpl_undefined(DF_VAL_ABSENT, node->text, strlen(node->text));
    return DF_OK;
}

static df_status
eval_list(struct df_tpl_run *run, const struct df_tpl_node *node,
          struct df_tpl_value *out)
{
    struct df_tpl_value item;

    DF_TRY(df_tpl_seq_new(
        run, node->kind == DF_NODE_LIST ? DF_VAL_LIST : DF_VAL_TUPLE, out));
    for (const struct df_tpl_node *n = node->list; n; n = n->next) {
        DF_TRY(df_tpl_eval(run, n, &item));
        DF_TRY(df_tpl_push(run, out->seq, item));
    }
    return DF_OK;
}

static df_status
eval_dict(struct df_tpl_run *run, const struct df_tpl_node *node,
          struct df_tpl_value *out)
{
    struct df_tpl_value key, value;

    DF_TRY(df_tpl_dict_new(run, DF_VAL_DICT, out));
    for (const struct df_tpl_node *n = node->list; n; n = n->next->next) {
        DF_TRY(df_tpl_eval(run, n, &key));
        DF_TRY(df_tpl_eval(run, n->next, &value));
        run->line = n->line;
        DF_TRY(df_tpl_dict_set(run, out->dict, key, value));
    }
    return DF_OK;
}

static df_status
eval_attr(struct df_tpl_run *run, const struct df_tpl_node *node,
          struct df_tpl_value *out)
{
    struct df_tpl_value a;

    DF_TRY(df_tpl_eval(run, node->a, &a));
    run->line = node->line;
    return df_tpl_attr(run, a, node->text, out);
}

static df_status
eval_item(struct df_tpl_run *run, const struct df_tpl_node *node,
          struct df_tpl_value *out)
{
    struct df_tpl_value a, b;

    DF_TRY(df_tpl_eval(run, node->a, &a));
    DF_TRY(df_tpl_eval(run, node->b, &b));
    run->line = node->line;
    return df_tpl_item(run, a, b, out);
}

static df_status
eval_slice(struct df_tpl_run *run, const struct df_tpl_node *node,
           struct df_tpl_value *out)
{
    struct df_tpl_value a, bounds[3];
    const struct df_tpl_node *n = node->list;

    DF_TRY(df_tpl_eval(run, node->a, &a));
    for (int i = 0; i < 3; i++, n = n->next)
        DF_TRY(df_tpl_eval(run, n, &bounds[i]));
    run->line = node->line;
    return df_tpl_slice(run, a, bounds, out);
}

static df_status
eval_unary(struct df_tpl_run *run, const struct df_tpl_node *node,
           struct df_tpl_value *out)
{
    struct df_tpl_value a;

    DF_TRY(df_tpl_eval(run, node->a, &a));
    run->line = node->line;
    if (node->kind == DF_NODE_UNARY)
        return df_tpl_sign(run, node->op == DF_OP_SUB, a, out);
    *out = df_tpl_bool(!df_tpl_truth(a));
    return DF_OK;
}

static df_status
eval_binary(struct df_tpl_run *run, const struct df_tpl_node *node,
            struct df_tpl_value *out)
{
    struct df_tpl_value a, b;

    DF_TRY(df_tpl_eval(run, node->a, &a));
    DF_TRY(df_tpl_eval(run, node->b, &b));
    run->line = node->line;
    return df_tpl_arith(run, (int) node->op, a, b, out);
}

/* As in Python the result is one of the operands.  */
static df_status
eval_logic(struct df_tpl_run *run, const struct df_tpl_node *node,
           struct df_tpl_value *out)
{
    DF_TRY(df_tpl_eval(run, node->a, out));
    if (df_tpl_truth(*out) == (node->kind == DF_NODE_OR))
        return DF_OK;
    return df_tpl_eval(run, node->b, out);
}

static df_status
eval_concat(struct df_tpl_run *run, const struct df_tpl_node *node,
            struct df_tpl_value *out)
{
    struct df_tpl_buf buf = {0};
    struct df_tpl_value item;

    for (const struct df_tpl_node *n = node->list; n; n = n->next) {
        DF_TRY(df_tpl_eval(run, n, &item));
        run->line = node->line;
        DF_TRY(df_tpl_write_str(run, &buf, item));
    }
    *out = df_tpl_string(buf.data, buf.len);
    return DF_OK;
}

static df_status
compare(struct df_tpl_run *run, enum df_tpl_op op, struct df_tpl_value a,
        struct df_tpl_value b, bool *out)
{
    int order;

    switch (op) {
    case DF_OP_EQ:
        return df_tpl_equal(run, a, b, out);
    case DF_OP_NE:
        DF_TRY(df_tpl_equal(run, a, b, out));
        *out = !*out;
        return DF_OK;
    case DF_OP_IN:
        return df_tpl_contains(run, b, a, out);
    case DF_OP_NOT_IN:
        DF_TRY(df_tpl_contains(run, b, a, out));
        *out = !*out;
        return DF_OK;
    case DF_OP_LT:
        DF_TRY(df_tpl_order(run, a, b, "<", &order));
        *out = order < 0;
        return DF_OK;
    case DF_OP_LE:
        DF_TRY(df_tpl_order(run, a, b, "<=", &order));
        *out = order <= 0;
        return DF_OK;
    case DF_OP_GT:
        DF_TRY(df_tpl_order(run, a, b, ">", &order));
        *out = order > 0;
        return DF_OK;
    default:
        DF_TRY(df_tpl_order(run, a, b, ">=", &order));
        *out = order >= 0;
        return DF_OK;
    }
}

/* A < B < C is A < B and B < C.  */
static df_status
eval_compare(struct df_tpl_run *run, const struct df_tpl_node *node,
             struct df_tpl_value *out)
{
    struct df_tpl_value left, right;
    bool result = true;

    DF_TRY(df_tpl_eval(run, node->a, &left));
    for (const struct df_tpl_node *n = node->list; n && result; n = n->next) {
        DF_TRY(df_tpl_eval(run, n->a, &right));
        run->line = n->line;
        DF_TRY(compare(run, n->op, left, right, &result));
        left = right;
    }
    *out = df_tpl_bool(result);
    return DF_OK;
}

static df_status
eval_cond(struct df_tpl_run *run, const struct df_tpl_node *node,
          struct df_tpl_value *out)
{
    struct df_tpl_value test;

    DF_TRY(df_tpl_eval(run, node->b, &test));
    if (df_tpl_truth(test))
        return df_tpl_eval(run, node->a, out);
    if (node->c)
        return df_tpl_eval(run, node->c, out);
    *out = df_tpl_undefined(DF_VAL_ABSENT, "if without else", 15);
    return DF_OK;
}

static df_status
eval(struct df_tpl_run *run, const struct df_tpl_node *node,
     struct df_tpl_value *out)
{
    switch (node->kind) {
    case DF_NODE_CONST:
        *out = node->value;
        return DF_OK;
    case DF_NODE_HOLE:
        *out = run->hole;
        return DF_OK;
    case DF_NODE_NAME:
        return eval_name(run, node, out);
    case DF_NODE_LIST:
    case DF_NODE_TUPLE:
        return eval_list(run, node, out);
    case DF_NODE_DICT:
        return eval_dict(run, node, out);
    case DF_NODE_ATTR:
        return eval_attr(run, node, out);
    case DF_NODE_ITEM:
        return eval_item(run, node, out);
    case DF_NODE_SLICE:
        return eval_slice(run, node, out);
    case DF_NODE_CALL:
        return df_tpl_eval_call(run, node, out);
    case DF_NODE_FILTER:
    case DF_NODE_TEST:
        return df_tpl_eval_func(run, node, out);
    case DF_NODE_NOT:
    case DF_NODE_UNARY:
        return eval_unary(run, node, out);
    case DF_NODE_BINARY:
        return eval_binary(run, node, out);
    case DF_NODE_AND:
    case DF_NODE_OR:
        return eval_logic(run, node, out);
    case DF_NODE_CONCAT:
        return eval_concat(run, node, out);
    case DF_NODE_COMPARE:
        return eval_compare(run, node, out);
    default:
        return eval_cond(run, node, out);
    }
}

df_status
df_tpl_eval(struct df_tpl_run *run, const struct df_tpl_node *node,
            struct df_tpl_value *out)
{
    run->line = node->line;
    DF_TRY(df_tpl_work(run, 1));
    DF_TRY(df_tpl_nest(run));
    DF_TRY(eval(run, node, out));
    run->depth--;
    return DF_OK;
}

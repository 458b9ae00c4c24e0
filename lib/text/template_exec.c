/* template_exec.c - statements.  */

#include <config.h>

#include <string.h>

#include "text/template_ast_internal.h"

static df_status assign_tuple(struct df_tpl_run *run,
                              const struct df_tpl_node *target,
                              struct df_tpl_value value);

/* Set a name of the current scope, or what else TARGET is.  */
static df_status
assign(struct df_tpl_run *run, const struct df_tpl_node *target,
       struct df_tpl_value value)
{
    struct df_tpl_value owner;

    run->line = target->line;
    if (target->kind == DF_NODE_NAME)
        return df_tpl_bind(run, run->frame, target->text, value);
    if (target->kind == DF_NODE_TUPLE)
        return assign_tuple(run, target, value);
    DF_TRY(df_tpl_eval(run, target->a, &owner));
    if (owner.kind != DF_VAL_NAMESPACE)
        return DF_TPL_FAIL(run, DF_FORMAT,
                           "'%s' is set in a '%s', not in a namespace",
                           target->text, df_tpl_type(owner));
    return df_tpl_dict_set(run, owner.dict,
                           df_tpl_string(target->text, strlen(target->text)),
                           value);
}

static df_status
assign_tuple(struct df_tpl_run *run, const struct df_tpl_node *target,
             struct df_tpl_value value)
{
    const struct df_tpl_seq *seq;
    size_t n = 0;

    for (const struct df_tpl_node *t = target->list; t; t = t->next)
        n++;
    DF_TRY(df_tpl_iterate(run, value, &seq));
    if (seq->n != n)
        return DF_TPL_FAIL(run, DF_FORMAT, "%zu values for %zu names", seq->n,
                           n);
    n = 0;
    for (const struct df_tpl_node *t = target->list; t; t = t->next)
        DF_TRY(assign(run, t, seq->items[n++]));
    return DF_OK;
}

static df_status
exec_print(struct df_tpl_run *run, const struct df_tpl_node *node)
{
    struct df_tpl_value value;

    DF_TRY(df_tpl_eval(run, node->a, &value));
    run->line = node->line;
    return df_tpl_write_str(run, run->out, value);
}

static df_status
exec_if(struct df_tpl_run *run, const struct df_tpl_node *node)
{
    for (const struct df_tpl_node *b = node->list; b; b = b->next) {
        struct df_tpl_value test = df_tpl_bool(true);

        if (b->a)
            DF_TRY(df_tpl_eval(run, b->a, &test));
        if (df_tpl_truth(test))
            return df_tpl_exec(run, b->list);
    }
    return DF_OK;
}

/* The items of ALL for which NODE's condition holds.  */
static df_status
filter_items(struct df_tpl_run *run, const struct df_tpl_node *node,
             const struct df_tpl_seq *all, const struct df_tpl_seq **out)
{
    struct df_tpl_frame *outer = run->frame;
    struct df_tpl_value kept, test;

    DF_TRY(df_tpl_seq_new(run, DF_VAL_LIST, &kept));
    for (size_t i = 0; i < all->n; i++) {
        DF_TRY(df_tpl_enter(run, outer));
        DF_TRY(assign(run, node->a, all->items[i]));
        DF_TRY(df_tpl_eval(run, node->c, &test));
        if (df_tpl_truth(test))
            DF_TRY(df_tpl_push(run, kept.seq, all->items[i]));
    }
    run->frame = outer;
    *out = kept.seq;
    return DF_OK;
}

/* Each turn has a scope of its own, which macros may keep.  */
static df_status
exec_turn(struct df_tpl_run *run, const struct df_tpl_node *node,
          const struct df_tpl_seq *seq, size_t i)
{
    struct df_tpl_frame *outer = run->frame;
    struct df_tpl_value loop = {.kind = DF_VAL_LOOP};

    DF_TRY(df_tpl_enter(run, outer));
    DF_TRY(df_tpl_new(run, sizeof *loop.loop, &loop.loop));
    loop.loop->seq = seq;
    loop.loop->index0 = i;
    DF_TRY(df_tpl_bind(run, run->frame, "loop", loop));
    DF_TRY(assign(run, node->a, seq->items[i]));
    DF_TRY(df_tpl_exec(run, node->list));
    run->frame = outer;
    return DF_OK;
}

/* "else" is for loops of which no turn was run to its end: as in the
   reference, also where each was left by "break" or "continue".  */
static df_status
exec_for(struct df_tpl_run *run, const struct df_tpl_node *node)
{
    struct df_tpl_frame *outer = run->frame;
    struct df_tpl_value value;
    const struct df_tpl_seq *seq;
    bool ended = false;

    DF_TRY(df_tpl_eval(run, node->b, &value));
    run->line = node->line;
    DF_TRY(df_tpl_iterate(run, value, &seq));
    if (node->c)
        DF_TRY(filter_items(run, node, seq, &seq));
    for (size_t i = 0; i < seq->n && run->flow != DF_FLOW_BREAK; i++) {
        run->flow = DF_FLOW_ON;
        DF_TRY(exec_turn(run, node, seq, i));
        ended |= run->flow == DF_FLOW_ON;
    }
    run->flow = DF_FLOW_ON;
    if (ended)
        return DF_OK;
    DF_TRY(df_tpl_enter(run, outer));
    DF_TRY(df_tpl_exec(run, node->else_list));
    run->frame = outer;
    return DF_OK;
}

static df_status
exec_set(struct df_tpl_run *run, const struct df_tpl_node *node)
{
    struct df_tpl_value value;

    DF_TRY(df_tpl_eval(run, node->b, &value));
    return assign(run, node->a, value);
}

static df_status
exec_setblock(struct df_tpl_run *run, const struct df_tpl_node *node)
{
    struct df_tpl_frame *frame = run->frame;
    struct df_tpl_buf *outer = run->out, buf = {0};
    struct df_tpl_value value;

    run->out = &buf;
    DF_TRY(df_tpl_enter(run, frame));
    DF_TRY(df_tpl_exec(run, node->list));
    run->out = outer;
    run->frame = frame;
    value = df_tpl_string(buf.data, buf.len);
    if (node->b) {
        run->hole = value;
        DF_TRY(df_tpl_eval(run, node->b, &value));
    }
    return assign(run, node->a, value);
}

static df_status
exec_macro(struct df_tpl_run *run, const struct df_tpl_node *node)
{
    struct df_tpl_macro *macro;

    DF_TRY(df_tpl_new(run, sizeof *macro, &macro));
    macro->node = node;
    macro->frame = run->frame;
    return df_tpl_bind(
        run, run->frame, node->text,
        (struct df_tpl_value){.kind = DF_VAL_MACRO, .macro = macro});
}

static df_status
exec_scope(struct df_tpl_run *run, const struct df_tpl_node *node)
{
    struct df_tpl_frame *outer = run->frame;

    DF_TRY(df_tpl_enter(run, outer));
    DF_TRY(df_tpl_exec(run, node->list));
    run->frame = outer;
    return DF_OK;
}

static df_status
exec_one(struct df_tpl_run *run, const struct df_tpl_node *node)
{
    switch (node->kind) {
    case DF_NODE_DATA:
        return df_tpl_write(run, run->out, node->value.str, node->value.len);
    case DF_NODE_PRINT:
        return exec_print(run, node);
    case DF_NODE_IF:
        return exec_if(run, node);
    case DF_NODE_FOR:
        return exec_for(run, node);
    case DF_NODE_SET:
        return exec_set(run, node);
    case DF_NODE_SETBLOCK:
        return exec_setblock(run, node);
    case DF_NODE_MACRO:
        return exec_macro(run, node);
    case DF_NODE_BREAK:
        run->flow = DF_FLOW_BREAK;
        return DF_OK;
    case DF_NODE_CONTINUE:
        run->flow = DF_FLOW_CONTINUE;
        return DF_OK;
    default:
        return exec_scope(run, node);
    }
}

df_status
df_tpl_exec(struct df_tpl_run *run, const struct df_tpl_node *body)
{
    for (; body && run->flow == DF_FLOW_ON; body = body->next) {
        run->line = body->line;
        DF_TRY(df_tpl_work(run, 1));
        DF_TRY(df_tpl_nest(run));
        DF_TRY(exec_one(run, body));
        run->depth--;
    }
    return DF_OK;
}

/* template_call.c - calls of functions, methods, macros, filters, tests.  */

#include <config.h>

#include <string.h>

#include "text/template_ast_internal.h"
#include "text/template_func_internal.h"

/* Evaluate the arguments LIST into CALL.  */
static df_status
eval_args(struct df_tpl_run *run, const struct df_tpl_node *list,
          struct df_tpl_call *call)
{
    size_t n = 0;
    struct df_tpl_value *pos;
    struct df_tpl_binding *kw;

    for (const struct df_tpl_node *arg = list; arg; arg = arg->next)
        n++;
    if (n == 0)
        return DF_OK;
    DF_TRY(df_tpl_new(run, n * sizeof *pos, &pos));
    DF_TRY(df_tpl_new(run, n * sizeof *kw, &kw));
    call->pos = pos;
    call->kw = kw;
    for (const struct df_tpl_node *arg = list; arg; arg = arg->next) {
        if (arg->kind != DF_NODE_KEYWORD) {
            DF_TRY(df_tpl_eval(run, arg, &pos[call->n_pos++]));
            continue;
        }
        for (size_t i = 0; i < call->n_kw; i++)
            if (strcmp(kw[i].name, arg->text) == 0)
                return DF_TPL_FAIL(run, DF_FORMAT, "'%s' is given twice",
                                   arg->text);
        kw[call->n_kw].name = arg->text;
        DF_TRY(df_tpl_eval(run, arg->a, &kw[call->n_kw++].value));
    }
    return DF_OK;
}

/* The keyword argument NAME; NULL if it isn't given.  */
static const struct df_tpl_value *
find_keyword(const struct df_tpl_call *call, const char *name)
{
    for (size_t i = 0; i < call->n_kw; i++)
        if (strcmp(call->kw[i].name, name) == 0)
            return &call->kw[i].value;
    return NULL;
}

/* Bind CALL's arguments in the current frame, a new one, to MACRO's
   parameters.  A default is evaluated there, and sees those before it.  */
static df_status
bind_macro(struct df_tpl_run *run, const struct df_tpl_node *macro,
           const struct df_tpl_call *call)
{
    size_t i = 0, keywords = 0;

    for (const struct df_tpl_node *p = macro->params; p; p = p->next, i++) {
        const struct df_tpl_value *kw = find_keyword(call, p->text);
        struct df_tpl_value value =
            df_tpl_undefined(DF_VAL_ABSENT, p->text, strlen(p->text));

        keywords += kw != NULL;
        if (kw && i < call->n_pos)
            return DF_TPL_FAIL(run, DF_FORMAT, "'%s' is given twice", p->text);
        if (kw)
            value = *kw;
        else if (i < call->n_pos)
            value = call->pos[i];
        else if (p->a)
            DF_TRY(df_tpl_eval(run, p->a, &value));
        DF_TRY(df_tpl_bind(run, run->frame, p->text, value));
    }
    if (call->n_pos > i)
        return DF_TPL_FAIL(run, DF_FORMAT, "macro '%s': too many arguments",
                           macro->text);
    if (call->n_kw > keywords)
        return DF_TPL_FAIL(run, DF_FORMAT,
                           "macro '%s': a keyword that is no parameter",
                           macro->text);
    return DF_OK;
}

static df_status
call_macro(struct df_tpl_run *run, const struct df_tpl_macro *macro,
           const struct df_tpl_call *call, struct df_tpl_value *out)
{
    struct df_tpl_frame *frame = run->frame;
    struct df_tpl_buf *outer = run->out, buf = {0};
    int line = run->line;

    DF_TRY(df_tpl_enter(run, macro->frame));
    DF_TRY(bind_macro(run, macro->node, call));
    run->out = &buf;
    DF_TRY(df_tpl_exec(run, macro->node->list));
    run->out = outer;
    run->frame = frame;
    run->line = line;
    *out = df_tpl_string(buf.data, buf.len);
    return DF_OK;
}

/* Call CALLEE, the value of what NODE calls.  */
static df_status
call_value(struct df_tpl_run *run, const struct df_tpl_node *node,
           struct df_tpl_value callee, struct df_tpl_call *call,
           struct df_tpl_value *out)
{
    if (callee.kind == DF_VAL_MACRO)
        return call_macro(run, callee.macro, call, out);
    if (callee.kind == DF_VAL_FUNCTION) {
        call->func = df_tpl_global_find(node->a->text);
        return df_tpl_apply(run, call, "function", out);
    }
    if (callee.kind == DF_VAL_UNDEFINED)
        return df_tpl_use_undefined(run, callee);
    return DF_TPL_FAIL(run, DF_FORMAT, "'%s' is a '%s' and not called",
                       node->a->text, df_tpl_type(callee));
}

/* What is called is known before the arguments are evaluated.  */
df_status
df_tpl_eval_call(struct df_tpl_run *run, const struct df_tpl_node *node,
                 struct df_tpl_value *out)
{
    struct df_tpl_call call = {.func = NULL};
    struct df_tpl_value callee;

    if (node->a->kind == DF_NODE_ATTR) {
        DF_TRY(df_tpl_eval(run, node->a->a, &call.self));
        run->line = node->line;
        call.func = df_tpl_method_find(call.self.kind, node->a->text);
        if (!call.func)
            DF_TRY(df_tpl_attr(run, call.self, node->a->text, &callee));
    } else {
        DF_TRY(df_tpl_eval(run, node->a, &callee));
    }
    DF_TRY(eval_args(run, node->list, &call));
    run->line = node->line;
    if (call.func)
        return df_tpl_apply(run, &call, "method", out);
    return call_value(run, node, callee, &call, out);
}

df_status
df_tpl_eval_func(struct df_tpl_run *run, const struct df_tpl_node *node,
                 struct df_tpl_value *out)
{
    struct df_tpl_call call = {.func = node->func};

    DF_TRY(df_tpl_eval(run, node->a, &call.self));
    DF_TRY(eval_args(run, node->list, &call));
    run->line = node->line;
    return df_tpl_apply(run, &call,
                        node->kind == DF_NODE_TEST ? "test" : "filter", out);
}

/* template_func.c - arguments to parameters, and the tables' look-up.  */

#include <config.h>

#include <string.h>

#include "text/template_func_internal.h"

/* The parameter I of FUNC, of *LEN bytes; NULL if it has no so many.  */
static const char *
param(const struct df_tpl_func *func, size_t i, size_t *len)
{
    const char *p = func->params;

    for (; *p && i > 0; i--) {
        p += strcspn(p, " ");
        p += *p == ' ';
    }
    *len = strcspn(p, " ");
    return *len > 0 ? p : NULL;
}

static df_status
bind_keyword(struct df_tpl_run *run, struct df_tpl_call *call,
             const struct df_tpl_binding *kw, const char *what)
{
    const char *name;
    size_t len;

    for (size_t i = 0; (name = param(call->func, i, &len)); i++) {
        if (len != strlen(kw->name) || memcmp(name, kw->name, len) != 0)
            continue;
        if (*name == '_')
            break;
        if (call->arg[i].kind != DF_VAL_ABSENT)
            return DF_TPL_FAIL(run, DF_FORMAT, "%s '%s': '%s' is given twice",
                               what, call->func->name, kw->name);
        call->arg[i] = kw->value;
        return DF_OK;
    }
    return DF_TPL_FAIL(run, DF_FORMAT, "%s '%s' has no argument '%s'", what,
                       call->func->name, kw->name);
}

df_status
df_tpl_bind_args(struct df_tpl_run *run, struct df_tpl_call *call,
                 const char *what)
{
    const struct df_tpl_func *func = call->func;
    size_t len;

    if (!func->fn)
        return DF_TPL_FAIL(run, DF_UNSUPPORTED, "%s '%s' is not supported",
                           what, func->name);
    if (!func->params)
        return DF_OK;
    for (size_t i = 0; i < call->n_pos; i++) {
        if (!param(func, i, &len))
            return DF_TPL_FAIL(run, DF_FORMAT, "%s '%s': too many arguments",
                               what, func->name);
        call->arg[i] = call->pos[i];
    }
    for (size_t i = 0; i < call->n_kw; i++)
        DF_TRY(bind_keyword(run, call, &call->kw[i], what));
    for (int i = 0; i < func->required; i++)
        if (call->arg[i].kind == DF_VAL_ABSENT)
            return DF_TPL_FAIL(run, DF_FORMAT, "%s '%s': too few arguments",
                               what, func->name);
    return DF_OK;
}

df_status
df_tpl_apply(struct df_tpl_run *run, struct df_tpl_call *call,
             const char *what, struct df_tpl_value *out)
{
    DF_TRY(df_tpl_bind_args(run, call, what));
    return call->func->fn(run, call, out);
}

static df_status
bad_arg(struct df_tpl_run *run, const struct df_tpl_call *call, int i)
{
    return DF_TPL_FAIL(run, DF_FORMAT, "'%s': argument %d is a '%s'",
                       call->func->name, i + 1, df_tpl_type(call->arg[i]));
}

bool
df_tpl_arg_bool(const struct df_tpl_call *call, int i, bool fallback)
{
    return call->arg[i].kind == DF_VAL_ABSENT ? fallback
                                              : df_tpl_truth(call->arg[i]);
}

df_status
df_tpl_arg_int(struct df_tpl_run *run, const struct df_tpl_call *call, int i,
               int64_t fallback, int64_t *out)
{
    const struct df_tpl_value *arg = &call->arg[i];

    if (arg->kind == DF_VAL_ABSENT)
        *out = fallback;
    else if (arg->kind == DF_VAL_INT)
        *out = arg->i;
    else if (arg->kind == DF_VAL_BOOL)
        *out = arg->b;
    else
        return bad_arg(run, call, i);
    return DF_OK;
}

df_status
df_tpl_arg_str(struct df_tpl_run *run, const struct df_tpl_call *call, int i,
               struct df_tpl_value *out)
{
    if (call->arg[i].kind != DF_VAL_STRING)
        return bad_arg(run, call, i);
    *out = call->arg[i];
    return DF_OK;
}

const struct df_tpl_func *
df_tpl_func_find(const struct df_tpl_func *table, const char *name)
{
    for (; table->name; table++)
        if (strcmp(table->name, name) == 0)
            return table;
    return NULL;
}

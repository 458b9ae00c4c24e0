/* template_method.c - methods of lists and dicts, and functions by name.

   Methods that change their object are refused, as the reference's sandbox
   does.  */

#include <config.h>

#include <string.h>

#include "text/template_func_internal.h"

static df_status
method_get(struct df_tpl_run *run, struct df_tpl_call *call,
           struct df_tpl_value *out)
{
    *out = call->arg[1].kind == DF_VAL_ABSENT ? df_tpl_none() : call->arg[1];
    return df_tpl_dict_get(run, call->self.dict, call->arg[0], out);
}

static df_status
method_items(struct df_tpl_run *run, struct df_tpl_call *call,
             struct df_tpl_value *out)
{
    const struct df_tpl_dict *dict = call->self.dict;
    struct df_tpl_value pair;

    DF_TRY(df_tpl_seq_new(run, DF_VAL_VIEW, out));
    for (size_t i = 0; i < dict->n; i++) {
        DF_TRY(
            df_tpl_pair(run, dict->items[i].key, dict->items[i].value, &pair));
        DF_TRY(df_tpl_push(run, out->seq, pair));
    }
    return DF_OK;
}

static df_status
method_keys(struct df_tpl_run *run, struct df_tpl_call *call,
            struct df_tpl_value *out)
{
    const struct df_tpl_dict *dict = call->self.dict;

    DF_TRY(df_tpl_seq_new(run, DF_VAL_VIEW, out));
    for (size_t i = 0; i < dict->n; i++)
        DF_TRY(df_tpl_push(run, out->seq, dict->items[i].key));
    return DF_OK;
}

static df_status
method_values(struct df_tpl_run *run, struct df_tpl_call *call,
              struct df_tpl_value *out)
{
    const struct df_tpl_dict *dict = call->self.dict;

    DF_TRY(df_tpl_seq_new(run, DF_VAL_VIEW, out));
    for (size_t i = 0; i < dict->n; i++)
        DF_TRY(df_tpl_push(run, out->seq, dict->items[i].value));
    return DF_OK;
}

/* Of the loop: its arguments in turn.  */
static df_status
method_cycle(struct df_tpl_run *run, struct df_tpl_call *call,
             struct df_tpl_value *out)
{
    if (call->n_pos == 0 || call->n_kw > 0)
        return DF_TPL_FAIL(run, DF_FORMAT, "'cycle' needs values");
    *out = call->pos[call->self.loop->index0 % call->n_pos];
    return DF_OK;
}

static const struct df_tpl_func dict_methods[] = {
    {"clear",      NULL,          NULL,            0},
    {"copy",       NULL,          NULL,            0},
    {"fromkeys",   NULL,          NULL,            0},
    {"get",        method_get,    "_key _default", 1},
    {"items",      method_items,  "",              0},
    {"keys",       method_keys,   "",              0},
    {"pop",        NULL,          NULL,            0},
    {"popitem",    NULL,          NULL,            0},
    {"setdefault", NULL,          NULL,            0},
    {"update",     NULL,          NULL,            0},
    {"values",     method_values, "",              0},
    {NULL,         NULL,          NULL,            0},
};

/* Of tuples, too: they have the last two.  */
static const struct df_tpl_func list_methods[] = {
    {"append",  NULL, NULL, 0},
    {"clear",   NULL, NULL, 0},
    {"copy",    NULL, NULL, 0},
    {"extend",  NULL, NULL, 0},
    {"insert",  NULL, NULL, 0},
    {"pop",     NULL, NULL, 0},
    {"remove",  NULL, NULL, 0},
    {"reverse", NULL, NULL, 0},
    {"sort",    NULL, NULL, 0},
    {"count",   NULL, NULL, 0},
    {"index",   NULL, NULL, 0},
    {NULL,      NULL, NULL, 0},
};

static const struct df_tpl_func loop_methods[] = {
    {"changed", NULL,         NULL, 0},
    {"cycle",   method_cycle, NULL, 0},
    {"depth",   NULL,         NULL, 0},
    {"depth0",  NULL,         NULL, 0},
    {NULL,      NULL,         NULL, 0},
};

const struct df_tpl_func *
df_tpl_method_find(enum df_tpl_kind kind, const char *name)
{
    switch (kind) {
    case DF_VAL_STRING:
        return df_tpl_func_find(df_tpl_str_methods, name);
    case DF_VAL_LIST:
    case DF_VAL_TUPLE:
        return df_tpl_func_find(list_methods, name);
    case DF_VAL_DICT:
        return df_tpl_func_find(dict_methods, name);
    case DF_VAL_LOOP:
        return df_tpl_func_find(loop_methods, name);
    default:
        return NULL;
    }
}

bool
df_tpl_method_known(const char *name)
{
    static const struct df_tpl_func *const tables[] = {
        df_tpl_str_methods, dict_methods, loop_methods};

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const struct df_tpl_func *func = df_tpl_func_find(tables[i], name);

        if (func && func->fn)
            return true;
    }
    return false;
}

static df_status
global_range(struct df_tpl_run *run, struct df_tpl_call *call,
             struct df_tpl_value *out)
{
    int64_t start = 0, stop, step;

    DF_TRY(df_tpl_arg_int(run, call, 0, 0, &stop));
    if (call->arg[1].kind != DF_VAL_ABSENT) {
        start = stop;
        DF_TRY(df_tpl_arg_int(run, call, 1, 0, &stop));
    }
    DF_TRY(df_tpl_arg_int(run, call, 2, 1, &step));
    if (step == 0)
        return DF_TPL_FAIL(run, DF_FORMAT, "'range': step 0");
    DF_TRY(df_tpl_seq_new(run, DF_VAL_RANGE, out));
    while (step > 0 ? start < stop : start > stop) {
        if (out->seq->n == DF_TPL_MAX_RANGE)
            return DF_TPL_FAIL(run, DF_UNSUPPORTED,
                               "'range' of over %d values", DF_TPL_MAX_RANGE);
        DF_TRY(df_tpl_push(run, out->seq, df_tpl_int(start)));
        if (__builtin_add_overflow(start, step, &start))
            break;
    }
    return DF_OK;
}

/* A new dict or namespace from at most one dict and the keywords.  */
static df_status
make_dict(struct df_tpl_run *run, const struct df_tpl_call *call,
          enum df_tpl_kind kind, struct df_tpl_value *out)
{
    const struct df_tpl_value *from = call->pos;

    DF_TRY(df_tpl_dict_new(run, kind, out));
    if (call->n_pos > 1)
        return DF_TPL_FAIL(run, DF_FORMAT, "'%s': too many arguments",
                           call->func->name);
    if (call->n_pos == 1 && from->kind != DF_VAL_DICT)
        return DF_TPL_FAIL(run, DF_UNSUPPORTED, "'%s' from a '%s'",
                           call->func->name, df_tpl_type(*from));
    for (size_t i = 0; call->n_pos == 1 && i < from->dict->n; i++)
        DF_TRY(df_tpl_dict_set(run, out->dict, from->dict->items[i].key,
                               from->dict->items[i].value));
    for (size_t i = 0; i < call->n_kw; i++) {
        const struct df_tpl_binding *kw = &call->kw[i];

        DF_TRY(df_tpl_dict_set(run, out->dict,
                               df_tpl_string(kw->name, strlen(kw->name)),
                               kw->value));
    }
    return DF_OK;
}

static df_status
global_dict(struct df_tpl_run *run, struct df_tpl_call *call,
            struct df_tpl_value *out)
{
    return make_dict(run, call, DF_VAL_DICT, out);
}

static df_status
global_namespace(struct df_tpl_run *run, struct df_tpl_call *call,
                 struct df_tpl_value *out)
{
    return make_dict(run, call, DF_VAL_NAMESPACE, out);
}

/* One line, cut where a character ends.  */
static df_status
global_raise(struct df_tpl_run *run, struct df_tpl_call *call,
             struct df_tpl_value *out)
{
    struct df_tpl_value text;
    size_t len;
    char *line;

    DF_TRY(df_tpl_str(run, call->arg[0], &text));
    len = text.len < 300 ? text.len : 300;
    while (len > 0 && len < text.len
           && ((unsigned char) text.str[len] & 0xc0) == 0x80)
        len--;
    DF_TRY(df_tpl_new(run, len + 1, &line));
    memcpy(line, text.str, len);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char) line[i] < ' ')
            line[i] = ' ';
    *out = df_tpl_none();
    return DF_TPL_FAIL(run, DF_INVALID, "the template refuses: %s", line);
}

static const struct df_tpl_func globals[] = {
    {"dict",            global_dict,      NULL,                 0},
    {"namespace",       global_namespace, NULL,                 0},
    {"raise_exception", global_raise,     "message",            1},
    {"range",           global_range,     "_start _stop _step", 1},
 /* What it gives depends on the day.  */
    {"strftime_now",    NULL,             NULL,                 0},
    {NULL,              NULL,             NULL,                 0},
};

const struct df_tpl_func *
df_tpl_global_find(const char *name)
{
    return df_tpl_func_find(globals, name);
}

/* template_seqfilter.c - filters of many values.

   What the reference computes lazily we compute at once; only that it can
   be iterated a single time is kept (DF_VAL_GEN).  */

#include <config.h>

#include <string.h>

#include "text/template_func_internal.h"

/* The argument KW of CALL; absent if it isn't given.  */
static struct df_tpl_value
keyword(const struct df_tpl_call *call, const char *name)
{
    for (size_t i = 0; i < call->n_kw; i++)
        if (strcmp(call->kw[i].name, name) == 0)
            return call->kw[i].value;
    return (struct df_tpl_value){.kind = DF_VAL_ABSENT};
}

/* What is sorted or compared of ITEM: its ATTRIBUTE, if that is given, and
   text in lower case unless CASED.  */
static df_status
make_key(struct df_tpl_run *run, struct df_tpl_value item,
         struct df_tpl_value attribute, bool cased, struct df_tpl_value *out)
{
    *out = item;
    if (attribute.kind > DF_VAL_NONE)
        DF_TRY(df_tpl_path(run, item, attribute, out));
    if (!cased && out->kind == DF_VAL_STRING)
        return df_tpl_recase(run, *out, DF_CASE_LOWER, out);
    return DF_OK;
}

static df_status
filter_first(struct df_tpl_run *run, struct df_tpl_call *call,
             struct df_tpl_value *out)
{
    struct df_tpl_value v = call->self;
    const struct df_tpl_seq *seq;

    *out = df_tpl_undefined(DF_VAL_ABSENT, "first of nothing", 16);
    if (v.kind == DF_VAL_GEN) {
        if (v.seq->at < v.seq->n)
            *out = v.seq->items[v.seq->at++];
        return DF_OK;
    }
    DF_TRY(df_tpl_iterate(run, v, &seq));
    if (seq->n > 0)
        *out = seq->items[0];
    return DF_OK;
}

static df_status
filter_last(struct df_tpl_run *run, struct df_tpl_call *call,
            struct df_tpl_value *out)
{
    const struct df_tpl_seq *seq;

    if (call->self.kind == DF_VAL_GEN)
        return DF_TPL_FAIL(run, DF_FORMAT, "'last' of a generator");
    *out = df_tpl_undefined(DF_VAL_ABSENT, "last of nothing", 15);
    DF_TRY(df_tpl_iterate(run, call->self, &seq));
    if (seq->n > 0)
        *out = seq->items[seq->n - 1];
    return DF_OK;
}

/* A new list, or what KIND says, with the items of VALUE.  */
static df_status
copy(struct df_tpl_run *run, struct df_tpl_value value, enum df_tpl_kind kind,
     struct df_tpl_value *out)
{
    const struct df_tpl_seq *seq;

    DF_TRY(df_tpl_iterate(run, value, &seq));
    DF_TRY(df_tpl_seq_new(run, kind, out));
    for (size_t i = 0; i < seq->n; i++)
        DF_TRY(df_tpl_push(run, out->seq, seq->items[i]));
    return DF_OK;
}

static df_status
filter_list(struct df_tpl_run *run, struct df_tpl_call *call,
            struct df_tpl_value *out)
{
    return copy(run, call->self, DF_VAL_LIST, out);
}

static df_status
filter_items(struct df_tpl_run *run, struct df_tpl_call *call,
             struct df_tpl_value *out)
{
    const struct df_tpl_value v = call->self;
    struct df_tpl_value pair;

    DF_TRY(df_tpl_seq_new(run, DF_VAL_GEN, out));
    if (v.kind == DF_VAL_UNDEFINED)
        return DF_OK;
    if (v.kind != DF_VAL_DICT)
        return DF_TPL_FAIL(run, DF_FORMAT, "filter 'items' of a '%s'",
                           df_tpl_type(v));
    for (size_t i = 0; i < v.dict->n; i++) {
        DF_TRY(df_tpl_pair(run, v.dict->items[i].key, v.dict->items[i].value,
                           &pair));
        DF_TRY(df_tpl_push(run, out->seq, pair));
    }
    return DF_OK;
}

static df_status
filter_reverse(struct df_tpl_run *run, struct df_tpl_call *call,
               struct df_tpl_value *out)
{
    bool text = call->self.kind == DF_VAL_STRING;
    struct df_tpl_value seq;

    DF_TRY(copy(run, call->self,
                call->self.kind == DF_VAL_GEN ? DF_VAL_LIST : DF_VAL_GEN,
                &seq));
    for (size_t i = 0, n = seq.seq->n; i < n / 2; i++) {
        struct df_tpl_value swap = seq.seq->items[i];

        seq.seq->items[i] = seq.seq->items[n - 1 - i];
        seq.seq->items[n - 1 - i] = swap;
    }
    *out = seq;
    return text ? df_tpl_join(run, df_tpl_string("", 0), seq.seq, true, out)
                : DF_OK;
}

static df_status
filter_join(struct df_tpl_run *run, struct df_tpl_call *call,
            struct df_tpl_value *out)
{
    struct df_tpl_value sep = df_tpl_string("", 0), list;
    const struct df_tpl_seq *seq;

    if (call->arg[0].kind != DF_VAL_ABSENT)
        DF_TRY(df_tpl_str(run, call->arg[0], &sep));
    DF_TRY(df_tpl_iterate(run, call->self, &seq));
    DF_TRY(df_tpl_seq_new(run, DF_VAL_LIST, &list));
    for (size_t i = 0; i < seq->n; i++) {
        struct df_tpl_value item;

        DF_TRY(make_key(run, seq->items[i], call->arg[1], true, &item));
        DF_TRY(df_tpl_push(run, list.seq, item));
    }
    return df_tpl_join(run, sep, list.seq, true, out);
}

/* As in the reference, a key is a list of one: equal ones need no order.  */
static df_status
filter_sort(struct df_tpl_run *run, struct df_tpl_call *call,
            struct df_tpl_value *out)
{
    bool cased = df_tpl_arg_bool(call, 1, false);
    struct df_tpl_value keys, key, one;

    DF_TRY(copy(run, call->self, DF_VAL_LIST, out));
    DF_TRY(df_tpl_seq_new(run, DF_VAL_LIST, &keys));
    if (call->arg[2].kind == DF_VAL_STRING
        && memchr(call->arg[2].str, ',', call->arg[2].len))
        return DF_TPL_FAIL(run, DF_UNSUPPORTED,
                           "filter 'sort': several attributes");
    for (size_t i = 0; i < out->seq->n; i++) {
        DF_TRY(make_key(run, out->seq->items[i], call->arg[2], cased, &key));
        DF_TRY(df_tpl_seq_new(run, DF_VAL_LIST, &one));
        DF_TRY(df_tpl_push(run, one.seq, key));
        DF_TRY(df_tpl_push(run, keys.seq, one));
    }
    return df_tpl_sort(run, out->seq, keys.seq,
                       df_tpl_arg_bool(call, 0, false));
}

static df_status
filter_dictsort(struct df_tpl_run *run, struct df_tpl_call *call,
                struct df_tpl_value *out)
{
    const struct df_tpl_value v = call->self, none = df_tpl_none();
    bool cased = df_tpl_arg_bool(call, 0, false);
    bool by_value = df_tpl_is_text(call->arg[1], "value");
    struct df_tpl_value keys, key, pair;

    if (v.kind != DF_VAL_DICT)
        return DF_TPL_FAIL(run, DF_FORMAT, "filter 'dictsort' of a '%s'",
                           df_tpl_type(v));
    if (call->arg[1].kind != DF_VAL_ABSENT && !by_value
        && !df_tpl_is_text(call->arg[1], "key"))
        return DF_TPL_FAIL(run, DF_FORMAT,
                           "filter 'dictsort': by is not 'key' or 'value'");
    DF_TRY(df_tpl_seq_new(run, DF_VAL_LIST, out));
    DF_TRY(df_tpl_seq_new(run, DF_VAL_LIST, &keys));
    for (size_t i = 0; i < v.dict->n; i++) {
        const struct df_tpl_entry *entry = &v.dict->items[i];

        DF_TRY(df_tpl_pair(run, entry->key, entry->value, &pair));
        DF_TRY(df_tpl_push(run, out->seq, pair));
        DF_TRY(make_key(run, by_value ? entry->value : entry->key, none, cased,
                        &key));
        DF_TRY(df_tpl_push(run, keys.seq, key));
    }
    return df_tpl_sort(run, out->seq, keys.seq,
                       df_tpl_arg_bool(call, 2, false));
}

static df_status
filter_unique(struct df_tpl_run *run, struct df_tpl_call *call,
              struct df_tpl_value *out)
{
    bool cased = df_tpl_arg_bool(call, 0, false);
    const struct df_tpl_seq *seq;
    struct df_tpl_value seen;

    DF_TRY(df_tpl_iterate(run, call->self, &seq));
    DF_TRY(df_tpl_seq_new(run, DF_VAL_GEN, out));
    DF_TRY(df_tpl_dict_new(run, DF_VAL_DICT, &seen));
    for (size_t i = 0; i < seq->n; i++) {
        struct df_tpl_value key, old = {.kind = DF_VAL_ABSENT};

        DF_TRY(make_key(run, seq->items[i], call->arg[1], cased, &key));
        DF_TRY(df_tpl_dict_get(run, seen.dict, key, &old));
        if (old.kind != DF_VAL_ABSENT)
            continue;
        DF_TRY(df_tpl_dict_set(run, seen.dict, key, df_tpl_none()));
        DF_TRY(df_tpl_push(run, out->seq, seq->items[i]));
    }
    return DF_OK;
}

/* What map, select and others go through: nothing if VALUE is false, whether
   or not it can be iterated.  */
static df_status
iterate_if_true(struct df_tpl_run *run, struct df_tpl_value value,
                const struct df_tpl_seq **out)
{
    static const struct df_tpl_seq nothing;

    *out = &nothing;
    return df_tpl_truth(value) ? df_tpl_iterate(run, value, out) : DF_OK;
}

/* CALL's arguments from FROM on, the first of which names a function of
   FIND's table, as a call of that function.  */
static df_status
inner_call(struct df_tpl_run *run, const struct df_tpl_call *call, size_t from,
           const struct df_tpl_func *(*find)(const char *), const char *what,
           struct df_tpl_call *inner)
{
    const struct df_tpl_value name = call->pos[from];
    char text[40];

    if (name.kind != DF_VAL_STRING)
        return DF_TPL_FAIL(run, DF_FORMAT, "filter '%s': a '%s' as %s",
                           call->func->name, df_tpl_type(name), what);
    if (name.len < sizeof text) {
        memcpy(text, name.str, name.len);
        text[name.len] = '\0';
        inner->func = find(text);
    }
    if (!inner->func)
        return DF_TPL_FAIL(run, DF_UNSUPPORTED, "unknown %s '%.*s'", what,
                           name.len < 40 ? (int) name.len : 40, name.str);
    inner->pos = call->pos + from + 1;
    inner->n_pos = call->n_pos - from - 1;
    inner->kw = call->kw;
    inner->n_kw = call->n_kw;
    return DF_OK;
}

/* map(attribute=A, default=D) of ITEM.  */
static df_status
map_attribute(struct df_tpl_run *run, const struct df_tpl_call *call,
              struct df_tpl_value item, struct df_tpl_value *out)
{
    struct df_tpl_value fallback = keyword(call, "default");

    for (size_t i = 0; i < call->n_kw; i++)
        if (strcmp(call->kw[i].name, "attribute") != 0
            && strcmp(call->kw[i].name, "default") != 0)
            return DF_TPL_FAIL(run, DF_FORMAT,
                               "filter 'map' has no argument '%s'",
                               call->kw[i].name);
    DF_TRY(df_tpl_path(run, item, keyword(call, "attribute"), out));
    if (out->kind == DF_VAL_UNDEFINED && fallback.kind > DF_VAL_NONE)
        *out = fallback;
    return DF_OK;
}

static df_status
filter_map(struct df_tpl_run *run, struct df_tpl_call *call,
           struct df_tpl_value *out)
{
    struct df_tpl_call inner = {.func = NULL};
    const struct df_tpl_seq *seq;

    if (call->n_pos > 0)
        DF_TRY(inner_call(run, call, 0, df_tpl_filter_find, "filter", &inner));
    else if (keyword(call, "attribute").kind == DF_VAL_ABSENT)
        return DF_TPL_FAIL(run, DF_FORMAT, "filter 'map' needs a filter");
    DF_TRY(iterate_if_true(run, call->self, &seq));
    DF_TRY(df_tpl_seq_new(run, DF_VAL_GEN, out));
    for (size_t i = 0; i < seq->n; i++) {
        struct df_tpl_call one = inner;
        struct df_tpl_value item = seq->items[i];

        one.self = item;
        if (inner.func)
            DF_TRY(df_tpl_apply(run, &one, "filter", &item));
        else
            DF_TRY(map_attribute(run, call, seq->items[i], &item));
        DF_TRY(df_tpl_push(run, out->seq, item));
    }
    return DF_OK;
}

/* The items whose test, or truth if none is named, is WANTED.  ATTRIBUTE:
   the first argument says of which attribute.  */
static df_status
choose(struct df_tpl_run *run, struct df_tpl_call *call, bool attribute,
       bool wanted, struct df_tpl_value *out)
{
    struct df_tpl_call inner = {.func = NULL};
    const struct df_tpl_seq *seq;

    if (attribute && call->n_pos == 0)
        return DF_TPL_FAIL(run, DF_FORMAT, "filter '%s' needs an attribute",
                           call->func->name);
    if (call->n_pos > attribute)
        DF_TRY(inner_call(run, call, attribute, df_tpl_test_find, "test",
                          &inner));
    DF_TRY(iterate_if_true(run, call->self, &seq));
    DF_TRY(df_tpl_seq_new(run, DF_VAL_GEN, out));
    for (size_t i = 0; i < seq->n; i++) {
        struct df_tpl_call one = inner;
        struct df_tpl_value result = seq->items[i];

        if (attribute)
            DF_TRY(df_tpl_path(run, seq->items[i], call->pos[0], &result));
        one.self = result;
        if (inner.func)
            DF_TRY(df_tpl_apply(run, &one, "test", &result));
        if (df_tpl_truth(result) == wanted)
            DF_TRY(df_tpl_push(run, out->seq, seq->items[i]));
    }
    return DF_OK;
}

static df_status
filter_select(struct df_tpl_run *run, struct df_tpl_call *call,
              struct df_tpl_value *out)
{
    return choose(run, call, false, true, out);
}

static df_status
filter_reject(struct df_tpl_run *run, struct df_tpl_call *call,
              struct df_tpl_value *out)
{
    return choose(run, call, false, false, out);
}

static df_status
filter_selectattr(struct df_tpl_run *run, struct df_tpl_call *call,
                  struct df_tpl_value *out)
{
    return choose(run, call, true, true, out);
}

static df_status
filter_rejectattr(struct df_tpl_run *run, struct df_tpl_call *call,
                  struct df_tpl_value *out)
{
    return choose(run, call, true, false, out);
}

const struct df_tpl_func df_tpl_seq_filters[] = {
    {"dictsort",   filter_dictsort,   "case_sensitive by reverse",        0},
    {"first",      filter_first,      "",                                 0},
    {"items",      filter_items,      "",                                 0},
    {"join",       filter_join,       "d attribute",                      0},
    {"last",       filter_last,       "",                                 0},
    {"list",       filter_list,       "",                                 0},
    {"map",        filter_map,        NULL,                               0},
    {"reject",     filter_reject,     NULL,                               0},
    {"rejectattr", filter_rejectattr, NULL,                               0},
    {"reverse",    filter_reverse,    "",                                 0},
    {"select",     filter_select,     NULL,                               0},
    {"selectattr", filter_selectattr, NULL,                               0},
    {"sort",       filter_sort,       "reverse case_sensitive attribute", 0},
    {"unique",     filter_unique,     "case_sensitive attribute",         0},
    {NULL,         NULL,              NULL,                               0},
};

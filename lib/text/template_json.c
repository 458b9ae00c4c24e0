/* template_json.c - values from JSON, and to it: the filter "tojson".

   What it writes is Python's json.dumps with the reference's defaults:
   characters as they are, ", " and ": " as separators.  */

#include <config.h>

#include <stdio.h>
#include <string.h>

#include "text/template_ast_internal.h"
#include "text/template_func_internal.h"

static df_status
list_from_json(struct df_tpl_run *run, const json_t *json,
               struct df_tpl_value *out)
{
    struct df_tpl_value list, item;

    DF_TRY(df_tpl_seq_new(run, DF_VAL_LIST, &list));
    for (size_t i = 0; i < json_array_size(json); i++) {
        DF_TRY(df_tpl_from_json(run, json_array_get(json, i), &item));
        DF_TRY(df_tpl_push(run, list.seq, item));
    }
    *out = list;
    return DF_OK;
}

/* JSON's keys are distinct: they aren't compared, so that a large object
   takes no more time than it must.  */
static df_status
dict_from_json(struct df_tpl_run *run, const json_t *json,
               struct df_tpl_value *out)
{
    struct df_tpl_value dict;
    const char *key;
    json_t *value;
    size_t n = json_object_size(json);

    DF_TRY(df_tpl_dict_new(run, DF_VAL_DICT, &dict));
    if (n > 0)
        DF_TRY(
            df_tpl_new(run, n * sizeof *dict.dict->items, &dict.dict->items));
    dict.dict->cap = n;
    /* The macro takes no const object, but only reads it.  */
    json_object_foreach((json_t *) json, key, value)
    {
        struct df_tpl_entry *entry = &dict.dict->items[dict.dict->n++];

        entry->key = df_tpl_string(key, strlen(key));
        DF_TRY(df_tpl_from_json(run, value, &entry->value));
    }
    *out = dict;
    return DF_OK;
}

df_status
df_tpl_from_json(struct df_tpl_run *run, const json_t *json,
                 struct df_tpl_value *out)
{
    DF_TRY(df_tpl_nest(run));
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        DF_TRY(dict_from_json(run, json, out));
        break;
    case JSON_ARRAY:
        DF_TRY(list_from_json(run, json, out));
        break;
    case JSON_STRING:
        *out =
            df_tpl_string(json_string_value(json), json_string_length(json));
        break;
    case JSON_INTEGER:
        *out = df_tpl_int(json_integer_value(json));
        break;
    case JSON_REAL:
        *out = df_tpl_float(json_real_value(json));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        *out = df_tpl_bool(json_is_true(json));
        break;
    case JSON_NULL:
        *out = df_tpl_none();
        break;
    }
    run->depth--;
    return DF_OK;
}

struct dump {
    struct df_tpl_run *run;
    struct df_tpl_buf buf;
    bool pretty;
    struct df_tpl_value indent;       /* of one level, if PRETTY */
    struct df_tpl_value comma, colon; /* separators */
    bool sort_keys;
    int level;
};

static df_status
put(struct dump *d, const char *text, size_t len)
{
    return df_tpl_write(d->run, &d->buf, text, len);
}

static df_status
put_string(struct dump *d, struct df_tpl_value s)
{
    static const char plain[] = "\"\\\n\r\t\f\b";
    static const char names[] = "\"\\nrtfb";
    size_t start = 0;
    char escape[8];

    DF_TRY(put(d, "\"", 1));
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char) s.str[i];
        const char *at = c ? strchr(plain, c) : NULL;

        if (c >= ' ' && !at)
            continue;
        DF_TRY(put(d, s.str + start, i - start));
        start = i + 1;
        if (at)
            snprintf(escape, sizeof escape, "\\%c", names[at - plain]);
        else
            snprintf(escape, sizeof escape, "\\u%04x", c);
        DF_TRY(put(d, escape, strlen(escape)));
    }
    DF_TRY(put(d, s.str + start, s.len - start));
    return put(d, "\"", 1);
}

/* A new line at the current level, if lines are broken.  */
static df_status
put_line(struct dump *d)
{
    if (!d->pretty)
        return DF_OK;
    DF_TRY(put(d, "\n", 1));
    for (int i = 0; i < d->level; i++)
        DF_TRY(put(d, d->indent.str, d->indent.len));
    return DF_OK;
}

static df_status put_value(struct dump *d, struct df_tpl_value v);

static df_status
put_list(struct dump *d, const struct df_tpl_seq *seq)
{
    if (seq->n == 0)
        return put(d, "[]", 2);
    DF_TRY(put(d, "[", 1));
    d->level++;
    for (size_t i = 0; i < seq->n; i++) {
        if (i > 0)
            DF_TRY(put(d, d->comma.str, d->comma.len));
        DF_TRY(put_line(d));
        DF_TRY(put_value(d, seq->items[i]));
    }
    d->level--;
    DF_TRY(put_line(d));
    return put(d, "]", 1);
}

static df_status
put_entry(struct dump *d, const struct df_tpl_entry *entry)
{
    if (entry->key.kind != DF_VAL_STRING)
        return DF_TPL_FAIL(d->run, DF_UNSUPPORTED, "tojson of a '%s' as key",
                           df_tpl_type(entry->key));
    DF_TRY(put_line(d));
    DF_TRY(put_string(d, entry->key));
    DF_TRY(put(d, d->colon.str, d->colon.len));
    return put_value(d, entry->value);
}

/* DICT by its keys.  */
static df_status
sorted(struct dump *d, const struct df_tpl_dict *dict,
       struct df_tpl_dict **out)
{
    struct df_tpl_value keys;

    DF_TRY(df_tpl_seq_new(d->run, DF_VAL_LIST, &keys));
    for (size_t i = 0; i < dict->n; i++)
        DF_TRY(df_tpl_push(d->run, keys.seq, dict->items[i].key));
    DF_TRY(df_tpl_sort(d->run, keys.seq, keys.seq, false));
    DF_TRY(df_tpl_new(d->run, sizeof **out, out));
    DF_TRY(df_tpl_new(d->run, dict->n * sizeof *dict->items, &(*out)->items));
    (*out)->n = (*out)->cap = dict->n;
    for (size_t i = 0; i < dict->n; i++) {
        struct df_tpl_entry *entry = &(*out)->items[i];

        entry->key = keys.seq->items[i];
        DF_TRY(df_tpl_dict_get(d->run, dict, entry->key, &entry->value));
    }
    return DF_OK;
}

static df_status
put_dict(struct dump *d, const struct df_tpl_dict *dict)
{
    struct df_tpl_dict *by_key;

    if (dict->n == 0)
        return put(d, "{}", 2);
    if (d->sort_keys) {
        DF_TRY(sorted(d, dict, &by_key));
        dict = by_key;
    }
    DF_TRY(put(d, "{", 1));
    d->level++;
    for (size_t i = 0; i < dict->n; i++) {
        if (i > 0)
            DF_TRY(put(d, d->comma.str, d->comma.len));
        DF_TRY(put_entry(d, &dict->items[i]));
    }
    d->level--;
    DF_TRY(put_line(d));
    return put(d, "}", 1);
}

static df_status
put_other(struct dump *d, struct df_tpl_value v)
{
    switch (v.kind) {
    case DF_VAL_NONE:
        return put(d, "null", 4);
    case DF_VAL_BOOL:
        return v.b ? put(d, "true", 4) : put(d, "false", 5);
    case DF_VAL_INT:
    case DF_VAL_FLOAT:
        return df_tpl_write_str(d->run, &d->buf, v);
    case DF_VAL_STRING:
        return put_string(d, v);
    case DF_VAL_UNDEFINED:
        return df_tpl_use_undefined(d->run, v);
    default:
        return DF_TPL_FAIL(d->run, DF_FORMAT, "tojson of a '%s'",
                           df_tpl_type(v));
    }
}

static df_status
put_value(struct dump *d, struct df_tpl_value v)
{
    DF_TRY(df_tpl_nest(d->run));
    if (v.kind == DF_VAL_LIST || v.kind == DF_VAL_TUPLE)
        DF_TRY(put_list(d, v.seq));
    else if (v.kind == DF_VAL_DICT)
        DF_TRY(put_dict(d, v.dict));
    else
        DF_TRY(put_other(d, v));
    d->run->depth--;
    return DF_OK;
}

/* "indent" is none, a string, or how many blanks.  */
static df_status
read_indent(struct dump *d, struct df_tpl_value v)
{
    struct df_tpl_value n = df_tpl_int(0);

    d->pretty = v.kind != DF_VAL_ABSENT && v.kind != DF_VAL_NONE;
    d->indent = v;
    if (!d->pretty || v.kind == DF_VAL_STRING)
        return DF_OK;
    if (v.kind != DF_VAL_INT)
        return DF_TPL_FAIL(d->run, DF_FORMAT, "tojson: indent is a '%s'",
                           df_tpl_type(v));
    n.i = v.i;
    return df_tpl_arith(d->run, DF_OP_MUL, df_tpl_string(" ", 1), n,
                        &d->indent);
}

/* "separators" is none or the two of them.  */
static df_status
read_separators(struct dump *d, struct df_tpl_value v)
{
    d->comma = df_tpl_string(", ", d->pretty ? 1 : 2);
    d->colon = df_tpl_string(": ", 2);
    if (v.kind == DF_VAL_ABSENT || v.kind == DF_VAL_NONE)
        return DF_OK;
    if ((v.kind != DF_VAL_TUPLE && v.kind != DF_VAL_LIST) || v.seq->n != 2
        || v.seq->items[0].kind != DF_VAL_STRING
        || v.seq->items[1].kind != DF_VAL_STRING)
        return DF_TPL_FAIL(d->run, DF_FORMAT,
                           "tojson: separators are no two strings");
    d->comma = v.seq->items[0];
    d->colon = v.seq->items[1];
    return DF_OK;
}

df_status
df_tpl_filter_tojson(struct df_tpl_run *run, struct df_tpl_call *call,
                     struct df_tpl_value *out)
{
    struct dump d = {.run = run};

    if (df_tpl_arg_bool(call, 0, false))
        return DF_TPL_FAIL(run, DF_UNSUPPORTED, "tojson: ensure_ascii");
    DF_TRY(read_indent(&d, call->arg[1]));
    DF_TRY(read_separators(&d, call->arg[2]));
    d.sort_keys = df_tpl_arg_bool(call, 3, false);
    DF_TRY(put_value(&d, call->self));
    *out = df_tpl_string(d.buf.data, d.buf.len);
    return DF_OK;
}

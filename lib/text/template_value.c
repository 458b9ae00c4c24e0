/* template_value.c - what any value can do.  */

#include <config.h>

#include <string.h>
#include <unistr.h>

#include "text/template_func_internal.h"

struct df_tpl_value
df_tpl_none(void)
{
    return (struct df_tpl_value){.kind = DF_VAL_NONE};
}

struct df_tpl_value
df_tpl_bool(bool b)
{
    return (struct df_tpl_value){.kind = DF_VAL_BOOL, .b = b};
}

struct df_tpl_value
df_tpl_int(int64_t i)
{
    return (struct df_tpl_value){.kind = DF_VAL_INT, .i = i};
}

struct df_tpl_value
df_tpl_float(double f)
{
    return (struct df_tpl_value){.kind = DF_VAL_FLOAT, .f = f};
}

struct df_tpl_value
df_tpl_string(const char *str, size_t len)
{
    return (struct df_tpl_value){
        .kind = DF_VAL_STRING, .str = str ? str : "", .len = len};
}

struct df_tpl_value
df_tpl_undefined(enum df_tpl_kind owner, const char *name, size_t len)
{
    return (struct df_tpl_value){
        .kind = DF_VAL_UNDEFINED, .owner = owner, .str = name, .len = len};
}

static const char *
kind_name(enum df_tpl_kind kind)
{
    static const char *const names[] = {
        [DF_VAL_ABSENT] = "nothing",    [DF_VAL_UNDEFINED] = "Undefined",
        [DF_VAL_NONE] = "NoneType",     [DF_VAL_BOOL] = "bool",
        [DF_VAL_INT] = "int",           [DF_VAL_FLOAT] = "float",
        [DF_VAL_STRING] = "str",        [DF_VAL_LIST] = "list",
        [DF_VAL_TUPLE] = "tuple",       [DF_VAL_RANGE] = "range",
        [DF_VAL_VIEW] = "dict view",    [DF_VAL_GEN] = "generator",
        [DF_VAL_DICT] = "dict",         [DF_VAL_NAMESPACE] = "Namespace",
        [DF_VAL_LOOP] = "LoopContext",  [DF_VAL_MACRO] = "Macro",
        [DF_VAL_FUNCTION] = "function", [DF_VAL_METHOD] = "method",
    };
    return names[kind];
}

const char *
df_tpl_type(struct df_tpl_value value)
{
    return kind_name(value.kind);
}

bool
df_tpl_is_number(struct df_tpl_value value)
{
    return value.kind == DF_VAL_BOOL || value.kind == DF_VAL_INT
           || value.kind == DF_VAL_FLOAT;
}

bool
df_tpl_is_seq(struct df_tpl_value value)
{
    return value.kind >= DF_VAL_LIST && value.kind <= DF_VAL_GEN;
}

bool
df_tpl_is_text(struct df_tpl_value value, const char *text)
{
    return value.kind == DF_VAL_STRING && value.len == strlen(text)
           && memcmp(value.str, text, value.len) == 0;
}

df_status
df_tpl_use_undefined(struct df_tpl_run *run, struct df_tpl_value value)
{
    int len = value.len > 100 ? 100 : (int) value.len;

    if (value.owner == DF_VAL_ABSENT)
        return DF_TPL_FAIL(run, DF_FORMAT, "'%.*s' is undefined", len,
                           value.str);
    return DF_TPL_FAIL(run, DF_FORMAT, "'%s object' has no '%.*s'",
                       kind_name(value.owner), len, value.str);
}

bool
df_tpl_truth(struct df_tpl_value value)
{
    switch (value.kind) {
    case DF_VAL_ABSENT:
    case DF_VAL_UNDEFINED:
    case DF_VAL_NONE:
        return false;
    case DF_VAL_BOOL:
        return value.b;
    case DF_VAL_INT:
        return value.i != 0;
    case DF_VAL_FLOAT:
        return value.f != 0;
    case DF_VAL_STRING:
        return value.len > 0;
    case DF_VAL_LIST:
    case DF_VAL_TUPLE:
    case DF_VAL_RANGE:
    case DF_VAL_VIEW:
        return value.seq->n > 0;
    case DF_VAL_DICT:
        return value.dict->n > 0;
    case DF_VAL_LOOP: /* its length: a loop that runs has items */
    case DF_VAL_GEN:
    case DF_VAL_NAMESPACE:
    case DF_VAL_MACRO:
    case DF_VAL_FUNCTION:
    case DF_VAL_METHOD:
        return true;
    }
    return true;
}

/* Integers beyond 2^53 need more than a double.  */
static long double
number(struct df_tpl_value value)
{
    if (value.kind == DF_VAL_FLOAT)
        return value.f;
    return value.kind == DF_VAL_BOOL ? value.b : value.i;
}

static df_status
equal_seq(struct df_tpl_run *run, const struct df_tpl_seq *a,
          const struct df_tpl_seq *b, bool *out)
{
    *out = a->n == b->n;
    for (size_t i = 0; *out && i < a->n; i++)
        DF_TRY(df_tpl_equal(run, a->items[i], b->items[i], out));
    return DF_OK;
}

static df_status
equal_dict(struct df_tpl_run *run, const struct df_tpl_dict *a,
           const struct df_tpl_dict *b, bool *out)
{
    *out = a->n == b->n;
    for (size_t i = 0; *out && i < a->n; i++) {
        struct df_tpl_value other = {.kind = DF_VAL_ABSENT};

        DF_TRY(df_tpl_dict_get(run, b, a->items[i].key, &other));
        *out = other.kind != DF_VAL_ABSENT;
        if (*out)
            DF_TRY(df_tpl_equal(run, a->items[i].value, other, out));
    }
    return DF_OK;
}

/* Of values of the same kind.  */
static df_status
equal_same(struct df_tpl_run *run, struct df_tpl_value a,
           struct df_tpl_value b, bool *out)
{
    switch (a.kind) {
    case DF_VAL_STRING:
        *out = a.len == b.len && memcmp(a.str, b.str, a.len) == 0;
        return df_tpl_work(run, *out ? a.len / 16 : 0);
    case DF_VAL_LIST:
    case DF_VAL_TUPLE:
    case DF_VAL_RANGE:
        return equal_seq(run, a.seq, b.seq, out);
    case DF_VAL_DICT:
        return equal_dict(run, a.dict, b.dict, out);
    case DF_VAL_NONE:
    case DF_VAL_UNDEFINED:
        *out = true;
        return DF_OK;
    case DF_VAL_GEN:
    case DF_VAL_NAMESPACE:
    case DF_VAL_LOOP:
        *out = a.seq == b.seq;
        return DF_OK;
    default:
        return DF_TPL_FAIL(run, DF_UNSUPPORTED, "comparison of a %s",
                           df_tpl_type(a));
    }
}

df_status
df_tpl_equal(struct df_tpl_run *run, struct df_tpl_value a,
             struct df_tpl_value b, bool *out)
{
    *out = false;
    DF_TRY(df_tpl_work(run, 1));
    if (df_tpl_is_number(a) && df_tpl_is_number(b)) {
        *out = number(a) == number(b);
        return DF_OK;
    }
    if (a.kind != b.kind)
        return DF_OK;
    DF_TRY(df_tpl_nest(run));
    DF_TRY(equal_same(run, a, b, out));
    run->depth--;
    return DF_OK;
}

static df_status
order_seq(struct df_tpl_run *run, const struct df_tpl_seq *a,
          const struct df_tpl_seq *b, const char *sign, int *out)
{
    size_t i = 0;
    bool same = true;

    for (; i < a->n && i < b->n; i++) {
        DF_TRY(df_tpl_equal(run, a->items[i], b->items[i], &same));
        if (!same)
            return df_tpl_order(run, a->items[i], b->items[i], sign, out);
    }
    *out = (i < a->n) - (i < b->n);
    return DF_OK;
}

static int
order_text(struct df_tpl_value a, struct df_tpl_value b)
{
    /* The order of UTF-8 bytes is that of the characters.  */
    int order = memcmp(a.str, b.str, a.len < b.len ? a.len : b.len);

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

df_status
df_tpl_order(struct df_tpl_run *run, struct df_tpl_value a,
             struct df_tpl_value b, const char *sign, int *out)
{
    DF_TRY(df_tpl_work(run, 1));
    if (df_tpl_is_number(a) && df_tpl_is_number(b)) {
        *out = (number(a) > number(b)) - (number(a) < number(b));
        return DF_OK;
    }
    if (a.kind == DF_VAL_UNDEFINED)
        return df_tpl_use_undefined(run, a);
    if (b.kind == DF_VAL_UNDEFINED)
        return df_tpl_use_undefined(run, b);
    if (a.kind == b.kind && a.kind == DF_VAL_STRING) {
        *out = order_text(a, b);
        return df_tpl_work(run, (a.len < b.len ? a.len : b.len) / 16);
    }
    if (a.kind == b.kind
        && (a.kind == DF_VAL_LIST || a.kind == DF_VAL_TUPLE)) {
        DF_TRY(df_tpl_nest(run));
        DF_TRY(order_seq(run, a.seq, b.seq, sign, out));
        run->depth--;
        return DF_OK;
    }
    return DF_TPL_FAIL(run, DF_FORMAT, "'%s' between '%s' and '%s'", sign,
                       df_tpl_type(a), df_tpl_type(b));
}

/* Like Python's: a generator is used up to the item that was found.  */
static df_status
seq_contains(struct df_tpl_run *run, struct df_tpl_value value,
             struct df_tpl_value item, bool *out)
{
    struct df_tpl_seq *seq = value.seq;
    size_t i = seq->at;

    *out = false;
    while (i < seq->n && !*out)
        DF_TRY(df_tpl_equal(run, seq->items[i++], item, out));
    if (value.kind == DF_VAL_GEN)
        seq->at = i;
    return DF_OK;
}

df_status
df_tpl_contains(struct df_tpl_run *run, struct df_tpl_value value,
                struct df_tpl_value item, bool *out)
{
    struct df_tpl_value found = {.kind = DF_VAL_ABSENT};

    *out = false;
    if (df_tpl_is_seq(value))
        return seq_contains(run, value, item, out);
    switch (value.kind) {
    case DF_VAL_STRING:
        if (item.kind != DF_VAL_STRING)
            return DF_TPL_FAIL(run, DF_FORMAT,
                               "'in <str>' needs a str, not '%s'",
                               df_tpl_type(item));
        *out = df_tpl_find(value, item, 0) >= 0;
        return df_tpl_work(run, value.len / 16);
    case DF_VAL_DICT:
        DF_TRY(df_tpl_dict_get(run, value.dict, item, &found));
        *out = found.kind != DF_VAL_ABSENT;
        return DF_OK;
    case DF_VAL_UNDEFINED:
        return DF_OK;
    default:
        return DF_TPL_FAIL(run, DF_FORMAT, "'in' a '%s'", df_tpl_type(value));
    }
}

df_status
df_tpl_length(struct df_tpl_run *run, struct df_tpl_value value, size_t *out)
{
    *out = 0;
    switch (value.kind) {
    case DF_VAL_STRING:
        *out = u8_mbsnlen((const uint8_t *) value.str, value.len);
        return df_tpl_work(run, value.len / 16);
    case DF_VAL_LIST:
    case DF_VAL_TUPLE:
    case DF_VAL_RANGE:
    case DF_VAL_VIEW:
        *out = value.seq->n;
        return DF_OK;
    case DF_VAL_DICT:
        *out = value.dict->n;
        return DF_OK;
    case DF_VAL_LOOP:
        *out = value.loop->seq->n;
        return DF_OK;
    case DF_VAL_UNDEFINED:
        return DF_OK;
    default:
        return DF_TPL_FAIL(run, DF_FORMAT, "a '%s' has no length",
                           df_tpl_type(value));
    }
}

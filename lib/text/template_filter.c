/* template_filter.c - filters of one value; those of many are in
   template_seqfilter.c.  */

#include <config.h>

#include <math.h>
#include <string.h>

#include "text/template_ast_internal.h"
#include "text/template_func_internal.h"

static df_status
filter_abs(struct df_tpl_run *run, struct df_tpl_call *call,
           struct df_tpl_value *out)
{
    struct df_tpl_value v = call->self;
    bool minus = v.kind == DF_VAL_FLOAT ? signbit(v.f) != 0
                                        : v.kind == DF_VAL_INT && v.i < 0;

    return df_tpl_sign(run, minus, v, out);
}

static df_status
filter_default(struct df_tpl_run *run, struct df_tpl_call *call,
               struct df_tpl_value *out)
{
    bool missing = call->self.kind == DF_VAL_UNDEFINED;

    (void) run;
    if (df_tpl_arg_bool(call, 1, false))
        missing = !df_tpl_truth(call->self);
    *out = call->self;
    if (missing)
        *out = call->arg[0].kind == DF_VAL_ABSENT ? df_tpl_string("", 0)
                                                  : call->arg[0];
    return DF_OK;
}

static df_status
filter_length(struct df_tpl_run *run, struct df_tpl_call *call,
              struct df_tpl_value *out)
{
    size_t n;

    DF_TRY(df_tpl_length(run, call->self, &n));
    *out = df_tpl_int((int64_t) n);
    return DF_OK;
}

static df_status
filter_string(struct df_tpl_run *run, struct df_tpl_call *call,
              struct df_tpl_value *out)
{
    return df_tpl_str(run, call->self, out);
}

static df_status
recase(struct df_tpl_run *run, struct df_tpl_call *call, enum df_tpl_case to,
       struct df_tpl_value *out)
{
    struct df_tpl_value s;

    DF_TRY(df_tpl_str(run, call->self, &s));
    return df_tpl_recase(run, s, to, out);
}

static df_status
filter_upper(struct df_tpl_run *run, struct df_tpl_call *call,
             struct df_tpl_value *out)
{
    return recase(run, call, DF_CASE_UPPER, out);
}

static df_status
filter_lower(struct df_tpl_run *run, struct df_tpl_call *call,
             struct df_tpl_value *out)
{
    return recase(run, call, DF_CASE_LOWER, out);
}

static df_status
filter_capitalize(struct df_tpl_run *run, struct df_tpl_call *call,
                  struct df_tpl_value *out)
{
    return recase(run, call, DF_CASE_CAPITALIZE, out);
}

static df_status
filter_trim(struct df_tpl_run *run, struct df_tpl_call *call,
            struct df_tpl_value *out)
{
    struct df_tpl_value s;

    DF_TRY(df_tpl_str(run, call->self, &s));
    return df_tpl_strip(run, s, call->arg[0], true, true, out);
}

static df_status
filter_replace(struct df_tpl_run *run, struct df_tpl_call *call,
               struct df_tpl_value *out)
{
    struct df_tpl_value s, old, new;
    int64_t count = -1;

    DF_TRY(df_tpl_str(run, call->self, &s));
    DF_TRY(df_tpl_str(run, call->arg[0], &old));
    DF_TRY(df_tpl_str(run, call->arg[1], &new));
    if (call->arg[2].kind != DF_VAL_NONE)
        DF_TRY(df_tpl_arg_int(run, call, 2, -1, &count));
    return df_tpl_replace(run, s, old, new, count, out);
}

/* F without its fraction.  */
static df_status
truncated(struct df_tpl_run *run, double f, struct df_tpl_value *out)
{
    f = trunc(f);
    if (f >= 0x1p63 || f < -0x1p63)
        return DF_TPL_FAIL(run, DF_UNSUPPORTED, "an int beyond 64 bits");
    *out = df_tpl_int((int64_t) f);
    return DF_OK;
}

static df_status
filter_int(struct df_tpl_run *run, struct df_tpl_call *call,
           struct df_tpl_value *out)
{
    struct df_tpl_value v = call->self, f;
    int64_t base;

    DF_TRY(df_tpl_arg_int(run, call, 1, 10, &base));
    if (base != 10)
        return DF_TPL_FAIL(run, DF_UNSUPPORTED, "filter 'int': base %lld",
                           (long long) base);
    *out = v.kind == DF_VAL_BOOL ? df_tpl_int(v.b) : v;
    if (out->kind == DF_VAL_INT)
        return DF_OK;
    if (v.kind == DF_VAL_FLOAT)
        return truncated(run, v.f, out);
    *out = df_tpl_none();
    if (v.kind == DF_VAL_UNDEFINED)
        return df_tpl_use_undefined(run, v);
    if (v.kind == DF_VAL_STRING) {
        DF_TRY(df_tpl_read_int(run, v.str, v.len, out));
        if (out->kind == DF_VAL_INT)
            return DF_OK;
        DF_TRY(df_tpl_read_float(run, v.str, v.len, &f));
        if (f.kind == DF_VAL_FLOAT)
            return truncated(run, f.f, out);
    }
    *out = call->arg[0].kind == DF_VAL_ABSENT ? df_tpl_int(0) : call->arg[0];
    return DF_OK;
}

static df_status
filter_float(struct df_tpl_run *run, struct df_tpl_call *call,
             struct df_tpl_value *out)
{
    struct df_tpl_value v = call->self;

    *out = v;
    if (v.kind == DF_VAL_FLOAT)
        return DF_OK;
    if (v.kind == DF_VAL_INT || v.kind == DF_VAL_BOOL) {
        *out = df_tpl_float(v.kind == DF_VAL_INT ? (double) v.i : v.b);
        return DF_OK;
    }
    if (v.kind == DF_VAL_UNDEFINED)
        return df_tpl_use_undefined(run, v);
    *out = df_tpl_none();
    if (v.kind == DF_VAL_STRING)
        DF_TRY(df_tpl_read_float(run, v.str, v.len, out));
    if (out->kind == DF_VAL_NONE)
        *out = call->arg[0].kind == DF_VAL_ABSENT ? df_tpl_float(0)
                                                  : call->arg[0];
    return DF_OK;
}

/* LINES with INDENT before each that isn't empty, or all with BLANK; not
   before the first, unless FIRST.  */
static df_status
write_indented(struct df_tpl_run *run, const struct df_tpl_seq *lines,
               struct df_tpl_value indent, bool first, bool blank,
               struct df_tpl_value *out)
{
    struct df_tpl_buf buf = {0};

    for (size_t i = 0; i < lines->n; i++) {
        struct df_tpl_value line = lines->items[i];

        if (i > 0)
            DF_TRY(df_tpl_write(run, &buf, "\n", 1));
        if (i > 0 ? blank || line.len > 0 : first)
            DF_TRY(df_tpl_write(run, &buf, indent.str, indent.len));
        DF_TRY(df_tpl_write(run, &buf, line.str, line.len));
    }
    *out = df_tpl_string(buf.data, buf.len);
    return DF_OK;
}

static df_status
filter_indent(struct df_tpl_run *run, struct df_tpl_call *call,
              struct df_tpl_value *out)
{
    struct df_tpl_value s, lines, indent = call->arg[0];
    const struct df_tpl_value newline = df_tpl_string("\n", 1);
    int64_t width;

    if (call->self.kind != DF_VAL_STRING)
        return DF_TPL_FAIL(run, DF_FORMAT, "filter 'indent' of a '%s'",
                           df_tpl_type(call->self));
    if (indent.kind != DF_VAL_STRING) {
        DF_TRY(df_tpl_arg_int(run, call, 0, 4, &width));
        DF_TRY(df_tpl_arith(run, DF_OP_MUL, df_tpl_string(" ", 1),
                            df_tpl_int(width), &indent));
    }
    DF_TRY(df_tpl_arith(run, DF_OP_ADD, call->self, newline, &s));
    DF_TRY(df_tpl_split_lines(run, s, &lines));
    return write_indented(run, lines.seq, indent,
                          df_tpl_arg_bool(call, 1, false),
                          df_tpl_arg_bool(call, 2, false), out);
}

static const struct df_tpl_func filters[] = {
    {"abs",        filter_abs,           "",                      0},
    {"capitalize", filter_capitalize,    "",                      0},
    {"count",      filter_length,        "",                      0},
    {"d",          filter_default,       "default_value boolean", 0},
    {"default",    filter_default,       "default_value boolean", 0},
    {"float",      filter_float,         "default",               0},
    {"indent",     filter_indent,        "width first blank",     0},
    {"int",        filter_int,           "default base",          0},
    {"length",     filter_length,        "",                      0},
    {"lower",      filter_lower,         "",                      0},
    {"replace",    filter_replace,       "old new count",         2},
    {"string",     filter_string,        "",                      0},
    {"tojson",     df_tpl_filter_tojson,
     "ensure_ascii indent separators sort_keys",                  0},
    {"trim",       filter_trim,          "chars",                 0},
    {"upper",      filter_upper,         "",                      0},
    {NULL,         NULL,                 NULL,                    0},
};

const struct df_tpl_func *
df_tpl_filter_find(const char *name)
{
    const struct df_tpl_func *func = df_tpl_func_find(filters, name);

    return func ? func : df_tpl_func_find(df_tpl_seq_filters, name);
}

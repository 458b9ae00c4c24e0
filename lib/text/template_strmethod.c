/* template_strmethod.c - methods of strings.  */

#include <config.h>

#include <string.h>
#include <unistr.h>

#include "text/template_func_internal.h"

static df_status
method_upper(struct df_tpl_run *run, struct df_tpl_call *call,
             struct df_tpl_value *out)
{
    return df_tpl_recase(run, call->self, DF_CASE_UPPER, out);
}

static df_status
method_lower(struct df_tpl_run *run, struct df_tpl_call *call,
             struct df_tpl_value *out)
{
    return df_tpl_recase(run, call->self, DF_CASE_LOWER, out);
}

static df_status
method_capitalize(struct df_tpl_run *run, struct df_tpl_call *call,
                  struct df_tpl_value *out)
{
    return df_tpl_recase(run, call->self, DF_CASE_CAPITALIZE, out);
}

static df_status
method_strip(struct df_tpl_run *run, struct df_tpl_call *call,
             struct df_tpl_value *out)
{
    return df_tpl_strip(run, call->self, call->arg[0], true, true, out);
}

static df_status
method_lstrip(struct df_tpl_run *run, struct df_tpl_call *call,
              struct df_tpl_value *out)
{
    return df_tpl_strip(run, call->self, call->arg[0], true, false, out);
}

static df_status
method_rstrip(struct df_tpl_run *run, struct df_tpl_call *call,
              struct df_tpl_value *out)
{
    return df_tpl_strip(run, call->self, call->arg[0], false, true, out);
}

static bool
starts(struct df_tpl_value s, struct df_tpl_value with)
{
    return with.len <= s.len && memcmp(s.str, with.str, with.len) == 0;
}

static bool
ends(struct df_tpl_value s, struct df_tpl_value with)
{
    return with.len <= s.len
           && memcmp(s.str + s.len - with.len, with.str, with.len) == 0;
}

/* Does the string have the argument, or one of a tuple, where IS looks?  */
static df_status
has_affix(struct df_tpl_run *run, struct df_tpl_call *call,
          bool (*is)(struct df_tpl_value, struct df_tpl_value),
          struct df_tpl_value *out)
{
    const struct df_tpl_seq *all;
    struct df_tpl_value affix;

    *out = df_tpl_bool(false);
    if (call->arg[0].kind != DF_VAL_TUPLE) {
        DF_TRY(df_tpl_arg_str(run, call, 0, &affix));
        out->b = is(call->self, affix);
        return DF_OK;
    }
    all = call->arg[0].seq;
    for (size_t i = 0; i < all->n && !out->b; i++) {
        call->arg[0] = all->items[i];
        DF_TRY(df_tpl_arg_str(run, call, 0, &affix));
        out->b = is(call->self, affix);
    }
    return DF_OK;
}

static df_status
method_startswith(struct df_tpl_run *run, struct df_tpl_call *call,
                  struct df_tpl_value *out)
{
    return has_affix(run, call, starts, out);
}

static df_status
method_endswith(struct df_tpl_run *run, struct df_tpl_call *call,
                struct df_tpl_value *out)
{
    return has_affix(run, call, ends, out);
}

static df_status
method_removeprefix(struct df_tpl_run *run, struct df_tpl_call *call,
                    struct df_tpl_value *out)
{
    struct df_tpl_value affix;

    *out = call->self;
    DF_TRY(df_tpl_arg_str(run, call, 0, &affix));
    if (starts(*out, affix)) {
        out->str += affix.len;
        out->len -= affix.len;
    }
    return DF_OK;
}

static df_status
method_removesuffix(struct df_tpl_run *run, struct df_tpl_call *call,
                    struct df_tpl_value *out)
{
    struct df_tpl_value affix;

    *out = call->self;
    DF_TRY(df_tpl_arg_str(run, call, 0, &affix));
    if (ends(*out, affix))
        out->len -= affix.len;
    return DF_OK;
}

/* Split at white space, COUNT times at most unless it is negative.  */
static df_status
split_space(struct df_tpl_run *run, struct df_tpl_value s, int64_t count,
            struct df_tpl_seq *parts)
{
    const struct df_tpl_value none = df_tpl_none();

    for (;;) {
        size_t n = 0;

        DF_TRY(df_tpl_strip(run, s, none, true, false, &s));
        if (s.len == 0)
            return DF_OK;
        if (count == 0)
            return df_tpl_push(run, parts, s);
        while (n < s.len && df_tpl_space(s.str + n, s.len - n) == 0)
            n += (size_t) u8_mblen((const uint8_t *) s.str + n, s.len - n);
        DF_TRY(df_tpl_push(run, parts, df_tpl_string(s.str, n)));
        DF_TRY(df_tpl_work(run, n / 16));
        s.str += n;
        s.len -= n;
        count--;
    }
}

static df_status
split_at(struct df_tpl_run *run, struct df_tpl_value s,
         struct df_tpl_value sep, int64_t count, struct df_tpl_seq *parts)
{
    size_t from = 0;
    ptrdiff_t at;

    DF_TRY(df_tpl_work(run, s.len / 16));
    for (; count != 0 && (at = df_tpl_find(s, sep, from)) >= 0; count--) {
        DF_TRY(df_tpl_push(run, parts,
                           df_tpl_string(s.str + from, (size_t) at - from)));
        from = (size_t) at + sep.len;
    }
    return df_tpl_push(run, parts, df_tpl_string(s.str + from, s.len - from));
}

/* The separator, absent for white space, and how often to split.  */
static df_status
split_args(struct df_tpl_run *run, struct df_tpl_call *call,
           struct df_tpl_value *sep, int64_t *count)
{
    sep->kind = DF_VAL_ABSENT;
    DF_TRY(df_tpl_arg_int(run, call, 1, -1, count));
    if (call->arg[0].kind == DF_VAL_ABSENT || call->arg[0].kind == DF_VAL_NONE)
        return DF_OK;
    DF_TRY(df_tpl_arg_str(run, call, 0, sep));
    if (sep->len == 0)
        return DF_TPL_FAIL(run, DF_FORMAT, "'%s' at an empty string",
                           call->func->name);
    return DF_OK;
}

static df_status
method_split(struct df_tpl_run *run, struct df_tpl_call *call,
             struct df_tpl_value *out)
{
    struct df_tpl_value sep;
    int64_t count;

    DF_TRY(split_args(run, call, &sep, &count));
    DF_TRY(df_tpl_seq_new(run, DF_VAL_LIST, out));
    if (sep.kind == DF_VAL_ABSENT)
        return split_space(run, call->self, count, out->seq);
    return split_at(run, call->self, sep, count, out->seq);
}

/* Without a limit it is split from either end the same.  */
static df_status
method_rsplit(struct df_tpl_run *run, struct df_tpl_call *call,
              struct df_tpl_value *out)
{
    struct df_tpl_value sep, s = call->self, parts;
    int64_t count;
    ptrdiff_t at;

    DF_TRY(split_args(run, call, &sep, &count));
    if (count < 0)
        return method_split(run, call, out);
    if (sep.kind == DF_VAL_ABSENT)
        return DF_TPL_FAIL(run, DF_UNSUPPORTED,
                           "'rsplit' at white space with a limit");
    DF_TRY(df_tpl_seq_new(run, DF_VAL_LIST, &parts));
    DF_TRY(df_tpl_seq_new(run, DF_VAL_LIST, out));
    for (; count > 0; count--) {
        DF_TRY(df_tpl_rfind(run, s, sep, &at));
        if (at < 0)
            break;
        size_t from = (size_t) at + sep.len;

        DF_TRY(df_tpl_push(run, parts.seq,
                           df_tpl_string(s.str + from, s.len - from)));
        s.len = (size_t) at;
    }
    DF_TRY(df_tpl_push(run, out->seq, s));
    for (size_t i = parts.seq->n; i > 0; i--)
        DF_TRY(df_tpl_push(run, out->seq, parts.seq->items[i - 1]));
    return DF_OK;
}

static df_status
method_splitlines(struct df_tpl_run *run, struct df_tpl_call *call,
                  struct df_tpl_value *out)
{
    return df_tpl_split_lines(run, call->self, out);
}

static df_status
method_replace(struct df_tpl_run *run, struct df_tpl_call *call,
               struct df_tpl_value *out)
{
    struct df_tpl_value old, new;
    int64_t count;

    DF_TRY(df_tpl_arg_str(run, call, 0, &old));
    DF_TRY(df_tpl_arg_str(run, call, 1, &new));
    DF_TRY(df_tpl_arg_int(run, call, 2, -1, &count));
    return df_tpl_replace(run, call->self, old, new, count, out);
}

static df_status
method_join(struct df_tpl_run *run, struct df_tpl_call *call,
            struct df_tpl_value *out)
{
    const struct df_tpl_seq *items;

    DF_TRY(df_tpl_iterate(run, call->arg[0], &items));
    return df_tpl_join(run, call->self, items, false, out);
}

/* The characters before byte AT, or -1.  */
static struct df_tpl_value
position(struct df_tpl_value s, ptrdiff_t at)
{
    if (at < 0)
        return df_tpl_int(-1);
    return df_tpl_int(
        (int64_t) u8_mbsnlen((const uint8_t *) s.str, (size_t) at));
}

static df_status
method_find(struct df_tpl_run *run, struct df_tpl_call *call,
            struct df_tpl_value *out)
{
    struct df_tpl_value needle;

    DF_TRY(df_tpl_arg_str(run, call, 0, &needle));
    *out = position(call->self, df_tpl_find(call->self, needle, 0));
    return df_tpl_work(run, call->self.len / 16);
}

static df_status
method_rfind(struct df_tpl_run *run, struct df_tpl_call *call,
             struct df_tpl_value *out)
{
    struct df_tpl_value needle;
    ptrdiff_t at;

    DF_TRY(df_tpl_arg_str(run, call, 0, &needle));
    DF_TRY(df_tpl_rfind(run, call->self, needle, &at));
    *out = position(call->self, at);
    return df_tpl_work(run, call->self.len / 16);
}

static df_status
method_count(struct df_tpl_run *run, struct df_tpl_call *call,
             struct df_tpl_value *out)
{
    struct df_tpl_value needle, parts;

    DF_TRY(df_tpl_arg_str(run, call, 0, &needle));
    if (needle.len == 0) {
        *out = position(call->self, (ptrdiff_t) call->self.len);
        out->i++;
        return df_tpl_work(run, call->self.len / 16);
    }
    DF_TRY(df_tpl_seq_new(run, DF_VAL_LIST, &parts));
    DF_TRY(split_at(run, call->self, needle, -1, parts.seq));
    *out = df_tpl_int((int64_t) parts.seq->n - 1);
    return DF_OK;
}

const struct df_tpl_func df_tpl_str_methods[] = {
    {"capitalize",   method_capitalize,   "",                 0},
    {"casefold",     NULL,                NULL,               0},
    {"center",       NULL,                NULL,               0},
    {"count",        method_count,        "_sub",             1},
    {"encode",       NULL,                NULL,               0},
    {"endswith",     method_endswith,     "_suffix",          1},
    {"expandtabs",   NULL,                NULL,               0},
    {"find",         method_find,         "_sub",             1},
    {"format",       NULL,                NULL,               0},
    {"format_map",   NULL,                NULL,               0},
    {"index",        NULL,                NULL,               0},
    {"isalnum",      NULL,                NULL,               0},
    {"isalpha",      NULL,                NULL,               0},
    {"isascii",      NULL,                NULL,               0},
    {"isdecimal",    NULL,                NULL,               0},
    {"isdigit",      NULL,                NULL,               0},
    {"isidentifier", NULL,                NULL,               0},
    {"islower",      NULL,                NULL,               0},
    {"isnumeric",    NULL,                NULL,               0},
    {"isprintable",  NULL,                NULL,               0},
    {"isspace",      NULL,                NULL,               0},
    {"istitle",      NULL,                NULL,               0},
    {"isupper",      NULL,                NULL,               0},
    {"join",         method_join,         "_iterable",        1},
    {"ljust",        NULL,                NULL,               0},
    {"lower",        method_lower,        "",                 0},
    {"lstrip",       method_lstrip,       "_chars",           0},
    {"maketrans",    NULL,                NULL,               0},
    {"partition",    NULL,                NULL,               0},
    {"removeprefix", method_removeprefix, "_prefix",          1},
    {"removesuffix", method_removesuffix, "_suffix",          1},
    {"replace",      method_replace,      "_old _new _count", 2},
    {"rfind",        method_rfind,        "_sub",             1},
    {"rindex",       NULL,                NULL,               0},
    {"rjust",        NULL,                NULL,               0},
    {"rpartition",   NULL,                NULL,               0},
    {"rsplit",       method_rsplit,       "sep maxsplit",     0},
    {"rstrip",       method_rstrip,       "_chars",           0},
    {"split",        method_split,        "sep maxsplit",     0},
    {"splitlines",   method_splitlines,   "",                 0},
    {"startswith",   method_startswith,   "_prefix",          1},
    {"strip",        method_strip,        "_chars",           0},
    {"swapcase",     NULL,                NULL,               0},
    {"title",        NULL,                NULL,               0},
    {"translate",    NULL,                NULL,               0},
    {"upper",        method_upper,        "",                 0},
    {"zfill",        NULL,                NULL,               0},
    {NULL,           NULL,                NULL,               0},
};

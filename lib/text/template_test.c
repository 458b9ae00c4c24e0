/* template_test.c - what follows "is".  */

#include <config.h>

#include <string.h>

#include "text/template_func_internal.h"

/* A test that looks at the kind of its value alone.  */
#define KIND_TEST(name, condition)                         \
    static df_status test_##name(struct df_tpl_run *run,   \
                                 struct df_tpl_call *call, \
                                 struct df_tpl_value *out) \
    {                                                      \
        const struct df_tpl_value v = call->self;          \
                                                           \
        (void) run;                                        \
        *out = df_tpl_bool(condition);                     \
        return DF_OK;                                      \
    }

KIND_TEST(boolean, v.kind == DF_VAL_BOOL)
KIND_TEST(callable, v.kind >= DF_VAL_LOOP || v.kind == DF_VAL_UNDEFINED)
KIND_TEST(defined, v.kind != DF_VAL_UNDEFINED)
KIND_TEST(false, v.kind == DF_VAL_BOOL && !v.b)
KIND_TEST(float, v.kind == DF_VAL_FLOAT)
KIND_TEST(integer, v.kind == DF_VAL_INT)
KIND_TEST(iterable, df_tpl_is_seq(v) || v.kind == DF_VAL_STRING
                        || v.kind == DF_VAL_DICT || v.kind == DF_VAL_LOOP
                        || v.kind == DF_VAL_UNDEFINED)
KIND_TEST(mapping, v.kind == DF_VAL_DICT)
KIND_TEST(none, v.kind == DF_VAL_NONE)
KIND_TEST(number, df_tpl_is_number(v))
KIND_TEST(sequence, v.kind == DF_VAL_STRING || v.kind == DF_VAL_LIST
                        || v.kind == DF_VAL_TUPLE || v.kind == DF_VAL_RANGE
                        || v.kind == DF_VAL_DICT || v.kind == DF_VAL_UNDEFINED)
KIND_TEST(string, v.kind == DF_VAL_STRING)
KIND_TEST(true, v.kind == DF_VAL_BOOL && v.b)
KIND_TEST(undefined, v.kind == DF_VAL_UNDEFINED)

static df_status
test_eq(struct df_tpl_run *run, struct df_tpl_call *call,
        struct df_tpl_value *out)
{
    bool same;

    DF_TRY(df_tpl_equal(run, call->self, call->arg[0], &same));
    *out = df_tpl_bool(same);
    return DF_OK;
}

static df_status
test_ne(struct df_tpl_run *run, struct df_tpl_call *call,
        struct df_tpl_value *out)
{
    DF_TRY(test_eq(run, call, out));
    out->b = !out->b;
    return DF_OK;
}

static df_status
test_lt(struct df_tpl_run *run, struct df_tpl_call *call,
        struct df_tpl_value *out)
{
    int order;

    DF_TRY(df_tpl_order(run, call->self, call->arg[0], "<", &order));
    *out = df_tpl_bool(order < 0);
    return DF_OK;
}

static df_status
test_le(struct df_tpl_run *run, struct df_tpl_call *call,
        struct df_tpl_value *out)
{
    int order;

    DF_TRY(df_tpl_order(run, call->self, call->arg[0], "<=", &order));
    *out = df_tpl_bool(order <= 0);
    return DF_OK;
}

static df_status
test_gt(struct df_tpl_run *run, struct df_tpl_call *call,
        struct df_tpl_value *out)
{
    int order;

    DF_TRY(df_tpl_order(run, call->self, call->arg[0], ">", &order));
    *out = df_tpl_bool(order > 0);
    return DF_OK;
}

static df_status
test_ge(struct df_tpl_run *run, struct df_tpl_call *call,
        struct df_tpl_value *out)
{
    int order;

    DF_TRY(df_tpl_order(run, call->self, call->arg[0], ">=", &order));
    *out = df_tpl_bool(order >= 0);
    return DF_OK;
}

static df_status
test_in(struct df_tpl_run *run, struct df_tpl_call *call,
        struct df_tpl_value *out)
{
    bool found;

    DF_TRY(df_tpl_contains(run, call->arg[0], call->self, &found));
    *out = df_tpl_bool(found);
    return DF_OK;
}

/* SELF % DIVISOR == REST.  */
static df_status
remainder_is(struct df_tpl_run *run, struct df_tpl_value self, int64_t divisor,
             int64_t rest, struct df_tpl_value *out)
{
    if (self.kind == DF_VAL_UNDEFINED)
        return df_tpl_use_undefined(run, self);
    if (self.kind == DF_VAL_BOOL)
        self = df_tpl_int(self.b);
    if (self.kind != DF_VAL_INT)
        return DF_TPL_FAIL(run, DF_FORMAT, "remainder of a '%s'",
                           df_tpl_type(self));
    if (divisor == 0)
        return DF_TPL_FAIL(run, DF_FORMAT, "remainder by zero");
    /* The smallest integer by -1 overflows.  */
    int64_t seen = divisor == -1 ? 0 : self.i % divisor;

    *out = df_tpl_bool((seen < 0 ? -seen : seen) == rest);
    return DF_OK;
}

static df_status
test_divisibleby(struct df_tpl_run *run, struct df_tpl_call *call,
                 struct df_tpl_value *out)
{
    int64_t divisor;

    DF_TRY(df_tpl_arg_int(run, call, 0, 1, &divisor));
    return remainder_is(run, call->self, divisor, 0, out);
}

static df_status
test_even(struct df_tpl_run *run, struct df_tpl_call *call,
          struct df_tpl_value *out)
{
    return remainder_is(run, call->self, 2, 0, out);
}

static df_status
test_odd(struct df_tpl_run *run, struct df_tpl_call *call,
         struct df_tpl_value *out)
{
    return remainder_is(run, call->self, 2, 1, out);
}

/* Python's identity is a matter of chance but for none and booleans.  */
static df_status
test_sameas(struct df_tpl_run *run, struct df_tpl_call *call,
            struct df_tpl_value *out)
{
    const struct df_tpl_value a = call->self, b = call->arg[0];

    if (b.kind != DF_VAL_NONE && b.kind != DF_VAL_BOOL)
        return DF_TPL_FAIL(run, DF_UNSUPPORTED, "test 'sameas' with a '%s'",
                           df_tpl_type(b));
    *out =
        df_tpl_bool(a.kind == b.kind && (a.kind == DF_VAL_NONE || a.b == b.b));
    return DF_OK;
}

static const struct df_tpl_func tests[] = {
    {"!=",          test_ne,          "_other", 1},
    {"<",           test_lt,          "_other", 1},
    {"<=",          test_le,          "_other", 1},
    {"==",          test_eq,          "_other", 1},
    {">",           test_gt,          "_other", 1},
    {">=",          test_ge,          "_other", 1},
    {"boolean",     test_boolean,     "",       0},
    {"callable",    test_callable,    "",       0},
    {"defined",     test_defined,     "",       0},
    {"divisibleby", test_divisibleby, "num",    1},
    {"eq",          test_eq,          "_other", 1},
    {"equalto",     test_eq,          "_other", 1},
    {"even",        test_even,        "",       0},
    {"false",       test_false,       "",       0},
    {"float",       test_float,       "",       0},
    {"ge",          test_ge,          "_other", 1},
    {"greaterthan", test_gt,          "_other", 1},
    {"gt",          test_gt,          "_other", 1},
    {"in",          test_in,          "seq",    1},
    {"integer",     test_integer,     "",       0},
    {"iterable",    test_iterable,    "",       0},
    {"le",          test_le,          "_other", 1},
    {"lessthan",    test_lt,          "_other", 1},
    {"lt",          test_lt,          "_other", 1},
    {"mapping",     test_mapping,     "",       0},
    {"ne",          test_ne,          "_other", 1},
    {"none",        test_none,        "",       0},
    {"number",      test_number,      "",       0},
    {"odd",         test_odd,         "",       0},
    {"sameas",      test_sameas,      "other",  1},
    {"sequence",    test_sequence,    "",       0},
    {"string",      test_string,      "",       0},
    {"true",        test_true,        "",       0},
    {"undefined",   test_undefined,   "",       0},
    {NULL,          NULL,             NULL,     0},
};

const struct df_tpl_func *
df_tpl_test_find(const char *name)
{
    return df_tpl_func_find(tests, name);
}

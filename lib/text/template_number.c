/* template_number.c - arithmetic.

   Integers have 64 bits where Python's have as many as needed, and floats
   stay finite: what goes beyond is refused.  */

#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/template_ast_internal.h"

static const char *const op_names[] = {
    [DF_OP_ADD] = "+",  [DF_OP_SUB] = "-",       [DF_OP_MUL] = "*",
    [DF_OP_DIV] = "/",  [DF_OP_FLOORDIV] = "//", [DF_OP_MOD] = "%",
    [DF_OP_POW] = "**",
};

static df_status
overflow(struct df_tpl_run *run, int op)
{
    return DF_TPL_FAIL(run, DF_UNSUPPORTED, "'%s' goes beyond its range",
                       op_names[op]);
}

static df_status
zero_division(struct df_tpl_run *run, int op)
{
    return DF_TPL_FAIL(run, DF_FORMAT, "'%s' by zero", op_names[op]);
}

/* A to the power of N, at least 0.  */
static bool
power_overflows(int64_t a, int64_t n, int64_t *out)
{
    int64_t result = 1;

    if (a >= -1 && a <= 1)
        n = n == 0 ? 0 : 2 - n % 2;
    for (; n > 0; n--)
        if (__builtin_mul_overflow(result, a, &result))
            return true;
    *out = result;
    return false;
}

/* "%" has the sign of B, and "//" is a whole number that fits it.  */
static double
float_divide(int op, double a, double b)
{
    double rest = fmod(a, b), quotient = (a - rest) / b, whole;

    if (rest == 0)
        rest = copysign(0, b);
    else if ((rest < 0) != (b < 0)) {
        rest += b;
        quotient -= 1;
    }
    if (op == DF_OP_MOD)
        return rest;
    if (quotient == 0)
        return copysign(0, a / b);
    whole = floor(quotient);
    return quotient - whole > 0.5 ? whole + 1 : whole;
}

static df_status
float_arith(struct df_tpl_run *run, int op, double a, double b,
            struct df_tpl_value *out)
{
    double r = 0;

    if (b == 0 && (op == DF_OP_DIV || op == DF_OP_FLOORDIV || op == DF_OP_MOD))
        return zero_division(run, op);
    switch (op) {
    case DF_OP_ADD:
        r = a + b;
        break;
    case DF_OP_SUB:
        r = a - b;
        break;
    case DF_OP_MUL:
        r = a * b;
        break;
    case DF_OP_DIV:
        r = a / b;
        break;
    case DF_OP_POW:
        if (a == 0 && b < 0)
            return zero_division(run, op);
        r = pow(a, b);
        break;
    default:
        r = float_divide(op, a, b);
        break;
    }
    if (!isfinite(r))
        return overflow(run, op);
    *out = df_tpl_float(r);
    return DF_OK;
}

/* Is I too large for a double to hold it exactly?  */
static bool
is_large(int64_t i)
{
    return i > (1LL << 53) || i < -(1LL << 53);
}

/* "//" rounds down, and "%" has the sign of B.  */
static df_status
int_divide(struct df_tpl_run *run, int op, int64_t a, int64_t b,
           struct df_tpl_value *out)
{
    int64_t quotient, rest;

    if (b == 0)
        return zero_division(run, op);
    if (a == INT64_MIN && b == -1)
        return overflow(run, op);
    quotient = a / b;
    rest = a % b;
    if (rest != 0 && (rest < 0) != (b < 0)) {
        quotient--;
        rest += b;
    }
    *out = df_tpl_int(op == DF_OP_MOD ? rest : quotient);
    return DF_OK;
}

static df_status
int_arith(struct df_tpl_run *run, int op, int64_t a, int64_t b,
          struct df_tpl_value *out)
{
    int64_t r = 0;
    bool over = false;

    switch (op) {
    case DF_OP_ADD:
        over = __builtin_add_overflow(a, b, &r);
        break;
    case DF_OP_SUB:
        over = __builtin_sub_overflow(a, b, &r);
        break;
    case DF_OP_MUL:
        over = __builtin_mul_overflow(a, b, &r);
        break;
    case DF_OP_POW:
        if (b < 0)
            return float_arith(run, op, (double) a, (double) b, out);
        over = power_overflows(a, b, &r);
        break;
    case DF_OP_DIV:
        if (is_large(a) || is_large(b))
            return overflow(run, op);
        return float_arith(run, op, (double) a, (double) b, out);
    default:
        return int_divide(run, op, a, b, out);
    }
    if (over)
        return overflow(run, op);
    *out = df_tpl_int(r);
    return DF_OK;
}

static double
as_double(struct df_tpl_value v)
{
    return v.kind == DF_VAL_FLOAT ? v.f
           : v.kind == DF_VAL_INT ? (double) v.i
                                  : v.b;
}

static int64_t
as_int(struct df_tpl_value v)
{
    return v.kind == DF_VAL_INT ? v.i : v.b;
}

/* TEXT or a list, N times.  */
static df_status
repeat(struct df_tpl_run *run, struct df_tpl_value v, int64_t n,
       struct df_tpl_value *out)
{
    struct df_tpl_buf buf = {0};

    if (v.kind == DF_VAL_STRING) {
        for (int64_t i = 0; v.len > 0 && i < n; i++)
            DF_TRY(df_tpl_write(run, &buf, v.str, v.len));
        *out = df_tpl_string(buf.data, buf.len);
        return DF_OK;
    }
    DF_TRY(df_tpl_seq_new(run, v.kind, out));
    for (int64_t i = 0; v.seq->n > 0 && i < n; i++)
        for (size_t k = 0; k < v.seq->n; k++)
            DF_TRY(df_tpl_push(run, out->seq, v.seq->items[k]));
    return DF_OK;
}

static df_status
add_sequences(struct df_tpl_run *run, struct df_tpl_value a,
              struct df_tpl_value b, struct df_tpl_value *out)
{
    struct df_tpl_value sum;
    char *text;

    if (a.kind == DF_VAL_STRING) {
        if (a.len + b.len > DF_TPL_MAX_TEXT)
            return DF_TPL_FAIL(run, DF_UNSUPPORTED, "more than %d MiB of text",
                               DF_TPL_MAX_TEXT >> 20);
        DF_TRY(df_tpl_new(run, a.len + b.len, &text));
        if (a.len > 0)
            memcpy(text, a.str, a.len);
        if (b.len > 0)
            memcpy(text + a.len, b.str, b.len);
        *out = df_tpl_string(text, a.len + b.len);
        return DF_OK;
    }
    DF_TRY(df_tpl_seq_new(run, a.kind, &sum));
    for (size_t i = 0; i < a.seq->n; i++)
        DF_TRY(df_tpl_push(run, sum.seq, a.seq->items[i]));
    for (size_t i = 0; i < b.seq->n; i++)
        DF_TRY(df_tpl_push(run, sum.seq, b.seq->items[i]));
    *out = sum;
    return DF_OK;
}

/* A string, list or tuple.  */
static bool
can_repeat(struct df_tpl_value v)
{
    return v.kind == DF_VAL_STRING || v.kind == DF_VAL_LIST
           || v.kind == DF_VAL_TUPLE;
}

static bool
is_whole(struct df_tpl_value v)
{
    return v.kind == DF_VAL_INT || v.kind == DF_VAL_BOOL;
}

df_status
df_tpl_arith(struct df_tpl_run *run, int op, struct df_tpl_value a,
             struct df_tpl_value b, struct df_tpl_value *out)
{
    if (is_whole(a) && is_whole(b))
        return int_arith(run, op, as_int(a), as_int(b), out);
    if (df_tpl_is_number(a) && df_tpl_is_number(b))
        return float_arith(run, op, as_double(a), as_double(b), out);
    if (op == DF_OP_ADD && a.kind == b.kind && can_repeat(a))
        return add_sequences(run, a, b, out);
    if (op == DF_OP_MUL && can_repeat(a) && is_whole(b))
        return repeat(run, a, as_int(b), out);
    if (op == DF_OP_MUL && is_whole(a) && can_repeat(b))
        return repeat(run, b, as_int(a), out);
    if (op == DF_OP_MOD && a.kind == DF_VAL_STRING)
        return DF_TPL_FAIL(run, DF_UNSUPPORTED, "formatting with '%%'");
    if (a.kind == DF_VAL_UNDEFINED)
        return df_tpl_use_undefined(run, a);
    if (b.kind == DF_VAL_UNDEFINED)
        return df_tpl_use_undefined(run, b);
    return DF_TPL_FAIL(run, DF_FORMAT, "'%s' between '%s' and '%s'",
                       op_names[op], df_tpl_type(a), df_tpl_type(b));
}

df_status
df_tpl_sign(struct df_tpl_run *run, bool minus, struct df_tpl_value a,
            struct df_tpl_value *out)
{
    if (a.kind == DF_VAL_UNDEFINED)
        return df_tpl_use_undefined(run, a);
    if (a.kind == DF_VAL_FLOAT) {
        *out = df_tpl_float(minus ? -a.f : a.f);
        return DF_OK;
    }
    if (!is_whole(a))
        return DF_TPL_FAIL(run, DF_FORMAT, "'%c' before a '%s'",
                           minus ? '-' : '+', df_tpl_type(a));
    return int_arith(run, minus ? DF_OP_SUB : DF_OP_ADD, 0, as_int(a), out);
}

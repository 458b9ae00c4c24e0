/* template_token.c - the tokens in a tag.  */

#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text/template_func_internal.h"
#include "text/template_lex_internal.h"

df_status
df_tpl_lex_emit(struct df_tpl_lexer *lx, enum df_tpl_token_kind kind, int line,
                const char *text, size_t len)
{
    struct df_tpl_token *tok;

    if (lx->n == lx->cap) {
        size_t cap = lx->cap ? 2 * lx->cap : 256;
        struct df_tpl_token *tokens =
            df_tpl_alloc(lx->arena, cap * sizeof *tokens);

        if (!tokens)
            return df_tpl_no_room(lx->arena, lx->name, line);
        if (lx->n > 0)
            memcpy(tokens, lx->tokens, lx->n * sizeof *tokens);
        lx->tokens = tokens;
        lx->cap = cap;
    }
    tok = &lx->tokens[lx->n++];
    *tok = (struct df_tpl_token){.kind = kind, .line = line, .len = len};
    tok->text = df_tpl_copy(lx->arena, text, len);
    return tok->text ? DF_OK : df_tpl_no_room(lx->arena, lx->name, line);
}

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool
is_name(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || c == '_';
}

/* After the digits at P, which "_" may part.  */
static const char *
digits(const char *p, const char *end)
{
    while (p < end
           && (is_digit(*p) || (*p == '_' && p + 1 < end && is_digit(p[1]))))
        p++;
    return p;
}

/* After the fraction and the exponent at P, if there are any.  */
static const char *
fraction(const char *p, const char *end)
{
    if (p + 1 < end && *p == '.' && is_digit(p[1]))
        p = digits(p + 1, end);
    if (p + 1 < end && (*p == 'e' || *p == 'E')) {
        const char *q = p + 1 + (p[1] == '+' || p[1] == '-');

        if (q < end && is_digit(*q))
            p = digits(q, end);
    }
    return p;
}

/* A copy of the number's LEN bytes at TEXT, without "_".  */
static df_status
number_token(struct df_tpl_lexer *lx, enum df_tpl_token_kind kind, size_t len)
{
    struct df_tpl_token *tok;
    char *to;

    DF_TRY(df_tpl_lex_emit(lx, kind, lx->line, lx->p, len));
    tok = &lx->tokens[lx->n - 1];
    to = (char *) tok->text;
    for (const char *from = to; *from; from++)
        if (*from != '_')
            *to++ = *from;
    *to = '\0';
    tok->len = (size_t) (to - tok->text);
    lx->p += len;
    return DF_OK;
}

static df_status
lex_float(struct df_tpl_lexer *lx, size_t len)
{
    struct df_tpl_run run = {.name = lx->name, .line = lx->line};
    struct df_tpl_value value;
    struct df_tpl_token *tok;

    DF_TRY(number_token(lx, DF_TOK_FLOAT, len));
    tok = &lx->tokens[lx->n - 1];
    DF_TRY(df_tpl_read_float(&run, tok->text, tok->len, &value));
    tok->f = value.f;
    return DF_OK;
}

/* Decimal only: a 0 that other digits or letters follow is refused.  */
static df_status
lex_number(struct df_tpl_lexer *lx)
{
    const char *end = digits(lx->p, lx->end), *after = end;
    bool item = lx->p > lx->text && lx->p[-1] == '.'; /* as in x.0.1 */
    struct df_tpl_token *tok;

    if (!item)
        after = fraction(end, lx->end);
    if (after < lx->end && is_name(*after))
        return DF_FAIL(DF_FORMAT, "%s:%d: '%.*s' is no number", lx->name,
                       lx->line, (int) (after + 1 - lx->p), lx->p);
    if (after > end)
        return lex_float(lx, (size_t) (after - lx->p));
    if (*lx->p == '0' && strspn(lx->p, "0_") < (size_t) (end - lx->p))
        return DF_FAIL(DF_FORMAT, "%s:%d: '%.*s' has leading zeros", lx->name,
                       lx->line, (int) (end - lx->p), lx->p);
    DF_TRY(number_token(lx, DF_TOK_INT, (size_t) (end - lx->p)));
    tok = &lx->tokens[lx->n - 1];
    errno = 0;
    tok->i = strtoll(tok->text, NULL, 10);
    if (errno)
        return DF_FAIL(DF_UNSUPPORTED, "%s:%d: %s is beyond 64 bits", lx->name,
                       lx->line, tok->text);
    return DF_OK;
}

static df_status
lex_name(struct df_tpl_lexer *lx)
{
    const char *p = lx->p;
    size_t len;

    while (p < lx->end && is_name(*p))
        p++;
    len = (size_t) (p - lx->p);
    DF_TRY(df_tpl_lex_emit(lx, DF_TOK_NAME, lx->line, lx->p, len));
    lx->p = p;
    return DF_OK;
}

static df_status
unexpected_char(const struct df_tpl_lexer *lx)
{
    unsigned char c = (unsigned char) *lx->p;

    if (c < ' ' || c > '~')
        return DF_FAIL(DF_FORMAT, "%s:%d: unexpected byte 0x%02x in a tag",
                       lx->name, lx->line, c);
    return DF_FAIL(DF_FORMAT, "%s:%d: unexpected '%c'", lx->name, lx->line, c);
}

/* BALANCE, of *DEPTH brackets, says which ones are open.  */
static df_status
lex_bracket(struct df_tpl_lexer *lx, char *balance, int *depth)
{
    static const char open[] = "([{", close[] = ")]}";
    const char *at = strchr(open, *lx->p);

    if (at && *depth == DF_TPL_MAX_NEST)
        return DF_FAIL(DF_UNSUPPORTED, "%s:%d: nested too deeply", lx->name,
                       lx->line);
    if (at)
        balance[(*depth)++] = close[at - open];
    else if (*depth == 0 || balance[--*depth] != *lx->p)
        return unexpected_char(lx);
    lx->p++;
    return df_tpl_lex_emit(lx, DF_TOK_OP, lx->line, lx->p - 1, 1);
}

static df_status
lex_operator(struct df_tpl_lexer *lx)
{
    static const char *const ops[] = {
        "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*",
        "%",  "~",  ">",  "<",  "=",  ".",  ":", "|", ",", ";",
    };

    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (df_tpl_lex_skip(lx, ops[i]))
            return df_tpl_lex_emit(lx, DF_TOK_OP, lx->line, ops[i],
                                   strlen(ops[i]));
    return unexpected_char(lx);
}

df_status
df_tpl_lex_tag(struct df_tpl_lexer *lx, bool block)
{
    char balance[DF_TPL_MAX_NEST];
    int depth = 0, line = lx->line;

    DF_TRY(df_tpl_lex_emit(lx, block ? DF_TOK_BLOCK_BEGIN : DF_TOK_PRINT_BEGIN,
                           line, "", 0));
    for (;;) {
        df_tpl_lex_space(lx);
        if (lx->p == lx->end)
            return DF_FAIL(DF_FORMAT, "%s:%d: tag without its end", lx->name,
                           line);
        line = lx->line;
        if (depth == 0 && df_tpl_lex_close(lx, block ? "%}" : "}}", block))
            return df_tpl_lex_emit(
                lx, block ? DF_TOK_BLOCK_END : DF_TOK_PRINT_END, line, "", 0);
        if (is_digit(*lx->p))
            DF_TRY(lex_number(lx));
        else if (is_name(*lx->p))
            DF_TRY(lex_name(lx));
        else if (*lx->p == '"' || *lx->p == '\'')
            DF_TRY(df_tpl_lex_string(lx));
        else if (strchr("()[]{}", *lx->p) && *lx->p)
            DF_TRY(lex_bracket(lx, balance, &depth));
        else
            DF_TRY(lex_operator(lx));
    }
}

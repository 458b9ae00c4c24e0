/* template_literal.c - string literals and their escapes, as Python's.  */

#include <config.h>

#include <string.h>
#include <unistr.h>

#include "text/template_lex_internal.h"

/* The N hexadecimal digits at P; -1 if they aren't all there.  */
static int64_t
hex(const char *p, const char *end, int n)
{
    int64_t value = 0;

    for (; n > 0; n--, p++) {
        if (p >= end)
            return -1;
        if (*p >= '0' && *p <= '9')
            value = value * 16 + *p - '0';
        else if ((*p | 32) >= 'a' && (*p | 32) <= 'f')
            value = value * 16 + (*p | 32) - 'a' + 10;
        else
            return -1;
    }
    return value;
}

/* Put the character C at TO.  */
static df_status
put_char(const struct df_tpl_lexer *lx, int64_t c, char **to)
{
    int n =
        c < 0 || c > 0x10ffff ? -1 : u8_uctomb((uint8_t *) *to, (ucs4_t) c, 6);

    if (n < 0)
        return DF_FAIL(DF_FORMAT, "%s:%d: bad escape in a string", lx->name,
                       lx->line);
    *to += n;
    return DF_OK;
}

/* At the digits of "\101": up to three octal ones.  */
static df_status
octal(const struct df_tpl_lexer *lx, const char **from, char **to)
{
    int64_t c = 0;

    for (int i = 0; i < 3 && **from >= '0' && **from <= '7'; i++)
        c = c * 8 + *(*from)++ - '0';
    return put_char(lx, c, to);
}

/* At what follows a backslash.  END is the closing quote.  An escape that
   Python doesn't know stands for itself.  */
static df_status
escape(const struct df_tpl_lexer *lx, const char **from, const char *end,
       char **to)
{
    static const char names[] = "\\'\"abfnrtv";
    static const char chars[] = "\\'\"\a\b\f\n\r\t\v";
    char c = *(*from)++;
    const char *at = c ? strchr(names, c) : NULL;
    int n = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;

    if (c == '\n')
        return DF_OK;
    if (at) {
        *(*to)++ = chars[at - names];
        return DF_OK;
    }
    if (c >= '0' && c <= '7') {
        --*from;
        return octal(lx, from, to);
    }
    if (n > 0) {
        DF_TRY(put_char(lx, hex(*from, end, n), to));
        *from += n;
        return DF_OK;
    }
    /* What the reference makes of the latter is an accident.  */
    if (c == 'N' || (unsigned char) c >= 0x80)
        return DF_FAIL(DF_UNSUPPORTED, "%s:%d: escape '\\%s' in a string",
                       lx->name, lx->line, c == 'N' ? "N" : "...");
    *(*to)++ = '\\';
    *(*to)++ = c;
    return DF_OK;
}

df_status
df_tpl_lex_string(struct df_tpl_lexer *lx)
{
    const char *from = lx->p + 1, *end = from;
    struct df_tpl_token *tok;
    char *to;

    while (end < lx->end && *end != *lx->p)
        end += *end == '\\' ? 2 : 1;
    if (end >= lx->end)
        return DF_FAIL(DF_FORMAT, "%s:%d: string without its end", lx->name,
                       lx->line);
    DF_TRY(df_tpl_lex_emit(lx, DF_TOK_STRING, lx->line, from,
                           (size_t) (end - from)));
    tok = &lx->tokens[lx->n - 1];
    to = (char *) tok->text;
    /* No escape is shorter than what it stands for.  */
    while (from < end) {
        lx->line += *from == '\n';
        if (*from != '\\') {
            *to++ = *from++;
            continue;
        }
        from++;
        lx->line += *from == '\n';
        DF_TRY(escape(lx, &from, end, &to));
    }
    *to = '\0';
    tok->len = (size_t) (to - tok->text);
    lx->p = end + 1;
    return DF_OK;
}

/* template_lex.c - text outside of tags, and where tags begin and end.

   Whitespace control is the reference's: "-" at a tag strips all white
   space beside it; else, unless "+" forbids it, a block or comment takes
   the blanks before it on its line (lstrip_blocks) and the newline after it
   (trim_blocks).  What is in a tag is template_token.c's.  */

#include <config.h>

#include <string.h>
#include <unistr.h>

#include "text/template_func_internal.h"
#include "text/template_lex_internal.h"

/* SOURCE with every line ending made "\n" and a last one dropped.  */
static char *
normalize(struct df_tpl_arena *arena, const char *source, size_t *len)
{
    char *text = df_tpl_alloc(arena, *len + 1);
    size_t n = 0;

    if (!text)
        return NULL;
    for (size_t i = 0; i < *len; i++) {
        if (source[i] == '\r' && i + 1 < *len && source[i + 1] == '\n')
            continue;
        text[n++] = source[i] == '\r' ? '\n' : source[i];
    }
    if (n > 0 && text[n - 1] == '\n')
        n--;
    text[n] = '\0';
    *len = n;
    return text;
}

/* Skip white space, counting lines.  */
void
df_tpl_lex_space(struct df_tpl_lexer *lx)
{
    size_t n;

    while ((n = df_tpl_space(lx->p, (size_t) (lx->end - lx->p))) > 0) {
        lx->line += *lx->p == '\n';
        lx->p += n;
    }
}

bool
df_tpl_lex_skip(struct df_tpl_lexer *lx, const char *text)
{
    size_t n = strlen(text);

    if ((size_t) (lx->end - lx->p) < n || memcmp(lx->p, text, n) != 0)
        return false;
    lx->p += n;
    return true;
}

/* Skip the end "CLOSE" of a tag, its sign and the white space it takes.
   BLOCK: it may have a "+", and takes a newline.  */
bool
df_tpl_lex_close(struct df_tpl_lexer *lx, const char *close, bool block)
{
    const char *start = lx->p;

    if (df_tpl_lex_skip(lx, "-") && df_tpl_lex_skip(lx, close)) {
        df_tpl_lex_space(lx);
        return true;
    }
    lx->p = start;
    if (block && df_tpl_lex_skip(lx, "+") && df_tpl_lex_skip(lx, close))
        return true;
    lx->p = start;
    if (!df_tpl_lex_skip(lx, close))
        return false;
    if (block && df_tpl_lex_skip(lx, "\n"))
        lx->line++;
    return true;
}

/* Without white space at its end: length of the text from START to TAG.  */
static size_t
rstripped(const char *start, const char *tag)
{
    size_t len = (size_t) (tag - start), n;

    while ((n = df_tpl_space_before(start, len)) > 0)
        len -= n;
    return len;
}

/* Without the blanks of the last line, if there is nothing else on it.  */
static size_t
lstripped(const struct df_tpl_lexer *lx, const char *start, const char *tag)
{
    const char *bol = tag;
    size_t keep;

    while (bol > start && bol[-1] != '\n')
        bol--;
    if (bol == start && start > lx->text && start[-1] != '\n')
        return (size_t) (tag - start);
    keep = rstripped(bol, tag);
    return (size_t) ((keep == 0 ? bol : tag) - start);
}

/* Emit the text from START to TAG, of which the sign SIGN and, for a block
   or comment, lstrip_blocks take away.  */
static df_status
data(struct df_tpl_lexer *lx, const char *start, const char *tag, char sign,
     bool block)
{
    size_t len = (size_t) (tag - start);
    int line = lx->line;

    for (const char *p = start; p < tag; p++)
        lx->line += *p == '\n';
    if (sign == '-')
        len = rstripped(start, tag);
    else if (sign != '+' && block)
        len = lstripped(lx, start, tag);
    if (len == 0)
        return DF_OK;
    return df_tpl_lex_emit(lx, DF_TOK_DATA, line, start, len);
}

/* At "{%": is it "{% NAME %}"?  Then skip it.  RAW: the opening one, whose
   end takes no newline.  */
static bool
skip_raw_tag(struct df_tpl_lexer *lx, const char *name, bool raw)
{
    struct df_tpl_lexer start = *lx;

    lx->p += 2;
    if (lx->p < lx->end && (*lx->p == '-' || *lx->p == '+'))
        lx->p++;
    df_tpl_lex_space(lx);
    if (df_tpl_lex_skip(lx, name)) {
        df_tpl_lex_space(lx);
        if (df_tpl_lex_close(lx, "%}", !raw))
            return true;
    }
    *lx = start;
    return false;
}

/* After "{% raw %}": all up to "{% endraw %}" is data.  */
static df_status
raw(struct df_tpl_lexer *lx)
{
    const char *start = lx->p;
    int line = lx->line;
    struct df_tpl_lexer at = *lx;

    for (; at.p + 1 < lx->end; at.p++) {
        const char *tag = at.p;

        if (tag[0] == '{' && tag[1] == '%'
            && skip_raw_tag(&at, "endraw", false)) {
            DF_TRY(data(lx, start, tag, tag[2], true));
            lx->p = at.p;
            lx->line = at.line;
            return DF_OK;
        }
        at.line += *tag == '\n';
    }
    return DF_FAIL(DF_FORMAT, "%s:%d: raw block without its end", lx->name,
                   line);
}

/* After "{#".  */
static df_status
comment(struct df_tpl_lexer *lx)
{
    int line = lx->line;

    while (lx->p < lx->end) {
        if (df_tpl_lex_close(lx, "#}", true))
            return DF_OK;
        lx->line += *lx->p++ == '\n';
    }
    return DF_FAIL(DF_FORMAT, "%s:%d: comment without its end", lx->name,
                   line);
}

/* At a tag: "{{", "{%" or "{#".  */
static df_status
tag(struct df_tpl_lexer *lx)
{
    char kind = lx->p[1];

    if (kind == '%' && skip_raw_tag(lx, "raw", true))
        return raw(lx);
    lx->p += 2;
    if (lx->p < lx->end && (*lx->p == '-' || *lx->p == '+'))
        lx->p++;
    if (kind == '#')
        return comment(lx);
    return df_tpl_lex_tag(lx, kind == '%');
}

static df_status
lex_all(struct df_tpl_lexer *lx)
{
    while (lx->p < lx->end) {
        const char *start = lx->p, *p = start;

        while (p + 1 < lx->end
               && !(*p == '{' && strchr("{%#", p[1]) && p[1] != '\0'))
            p++;
        if (p + 1 >= lx->end) {
            lx->p = lx->end;
            return data(lx, start, lx->end, '+', false);
        }
        DF_TRY(data(lx, start, p, p[2], p[1] != '{'));
        lx->p = p;
        DF_TRY(tag(lx));
    }
    return DF_OK;
}

df_status
df_tpl_lex(struct df_tpl_arena *arena, const char *name, const char *source,
           size_t len, struct df_tpl_token **out)
{
    struct df_tpl_lexer lx = {.arena = arena, .name = name, .line = 1};

    if (u8_check((const uint8_t *) source, len))
        return DF_FAIL(DF_FORMAT, "%s: not UTF-8", name);
    lx.text = lx.p = normalize(arena, source, &len);
    if (!lx.text)
        return df_tpl_no_room(arena, name, 1);
    lx.end = lx.text + len;
    DF_TRY(lex_all(&lx));
    DF_TRY(df_tpl_lex_emit(&lx, DF_TOK_END, lx.line, "", 0));
    *out = lx.tokens;
    return DF_OK;
}

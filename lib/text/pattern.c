/* From the patterns of tokenizer.json, which are Oniguruma's in Ruby syntax,
   to PCRE2's.  The two languages look alike and differ in places: what \s
   and \w hold, \p{Han}, \v, \h, {n}+, multi-character case folding, sets in
   sets.  So the text is walked, what means the same is copied, what has
   another spelling is respelt, and everything else is refused.  */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/regex_internal.h"

/* Characters with the property White_Space.  PCRE2's \s has U+180E too.  */
#define SPACE                                                        \
    "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}" \
    "\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}"
#define NOT_SPACE                                                        \
    "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{84}\\x{86}-\\x{9f}"          \
    "\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}"            \
    "\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}" \
    "-\\x{10ffff}"

/* Oniguruma's \w holds these, but not within brackets.  */
#define LATIN_NUMBERS "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}"

enum {
    MAX_DEPTH = 64
};

struct walk {
    const char *begin, *at, *end;
    struct df_bytes *out;
    const char *where;
    int depth;
    bool caseless[MAX_DEPTH]; /* of each open group */
    char last;                /* the literal just before, or 0 */
};

/* What the end of the text reads as.  */
static char
peek(const struct walk *w, size_t ahead)
{
    return (size_t) (w->end - w->at) > ahead ? w->at[ahead] : '\0';
}

static df_status
refuse(const struct walk *w, const char *what)
{
    size_t at = (size_t) (w->at - w->begin);
    size_t len = (size_t) (w->end - w->begin);

    return DF_FAIL(DF_UNSUPPORTED,
                   "%s: pattern %.*s: %s (byte %zu) is not supported",
                   w->where, len > 200 ? 200 : (int) len, w->begin, what, at);
}

static bool
is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9');
}

/* Whether A and B together are the folded form of one character, such as
   ss of U+00DF: Oniguruma lets (?i) match that, PCRE2 doesn't.  */
static bool
folds_together(char a, char b)
{
    static const char *const pairs[] = {"ss", "ff", "fi", "fl", "st"};

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if ((a | 32) == pairs[i][0] && (b | 32) == pairs[i][1])
            return true;
    return false;
}

/* The property of \p{NAME}: general categories by their own names, all other
   names are scripts, which PCRE2 otherwise takes for script extensions.  */
static df_status
property(struct walk *w, const char *name, bool in_class, bool negated)
{
    static const char *const categories[] = {
        "L",  "Lu", "Ll", "Lt", "Lm", "Lo", "M",  "Mn", "Mc", "Me", "N", "Nd",
        "Nl", "No", "P",  "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S", "Sm",
        "Sc", "Sk", "So", "Z",  "Zs", "Zl", "Zp", "Cc", "Cf", "Co"};
    char text[48];
    bool category = false;

    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        category |= strcmp(name, categories[i]) == 0;
    if (!category && strlen(name) < 3)
        return refuse(w, "a property of this name");
    if (w->caseless[w->depth] && name[0] == 'L' && name[1])
        return refuse(w, "a property of letters under (?i)");
    snprintf(text, sizeof text, "%s\\p{%s%s}",
             in_class  ? ""
             : negated ? "[^"
                       : "[",
             category ? "" : "sc:", name);
    DF_TRY(df_bytes_puts(w->out, text));
    DF_TRY(df_pattern_newer(w->out, name));
    return in_class ? DF_OK : df_bytes_puts(w->out, "]");
}

/* W->at is behind \p or \P.  */
static df_status
braced_property(struct walk *w, bool negated, bool in_class)
{
    char name[32];
    const char *close = memchr(w->at, '}', (size_t) (w->end - w->at));

    if (peek(w, 0) != '{' || !close)
        return refuse(w, "\\p without braces");
    w->at++;
    if (peek(w, 0) == '^') {
        negated = !negated;
        w->at++;
    }
    size_t len = (size_t) (close - w->at);
    if (len == 0 || len >= sizeof name)
        return refuse(w, "a property of this name");
    memcpy(name, w->at, len);
    name[len] = '\0';
    for (size_t i = 0; i < len; i++)
        if (!is_word(name[i]) && name[i] != '_')
            return refuse(w, "a property of this name");
    if (negated && in_class)
        return refuse(w, "a negated property within brackets");
    w->at = close + 1;
    return property(w, name, in_class, negated);
}

/* \s and its like.  W->at is behind the letter.  */
static df_status
class_escape(struct walk *w, char c, bool in_class)
{
    struct df_bytes *out = w->out;
    bool negated = c == 'S' || c == 'D' || c == 'W';

    if (in_class && c == 'S')
        return df_bytes_puts(out, NOT_SPACE);
    if (in_class && negated)
        return refuse(w, "\\D or \\W within brackets");
    if (!in_class)
        DF_TRY(df_bytes_puts(out, negated ? "[^" : "["));
    if (c == 's' || c == 'S')
        DF_TRY(df_bytes_puts(out, SPACE));
    else {
        DF_TRY(df_bytes_puts(out, "\\p{Nd}"));
        DF_TRY(df_pattern_newer(out, "Nd"));
    }
    if (c == 'w' || c == 'W') {
        DF_TRY(df_bytes_puts(out, "\\p{Alphabetic}\\p{M}\\p{Pc}"));
        DF_TRY(df_pattern_newer(out, "L"));
        DF_TRY(df_pattern_newer(out, "M"));
        if (!in_class)
            DF_TRY(df_bytes_puts(out, LATIN_NUMBERS));
    }
    return in_class ? DF_OK : df_bytes_puts(out, "]");
}

/* \uHHHH, \xHH or \x{H...}: W->at is behind the letter.  */
static df_status
numbered(struct walk *w, char kind)
{
    char text[16], digits[9] = "";
    unsigned long code;
    size_t n = 0;
    bool braces = kind == 'x' && peek(w, 0) == '{';
    size_t most = braces ? 8 : kind == 'u' ? 4 : 2;

    if (braces)
        w->at++;
    while (n < most && strchr("0123456789abcdefABCDEF", peek(w, 0))
           && peek(w, 0))
        digits[n++] = *w->at++;
    if (n == 0 || (!braces && n < most) || (braces && peek(w, 0) != '}'))
        return refuse(w, "this number of a character");
    if (braces)
        w->at++;
    code = strtoul(digits, NULL, 16);
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)
        || (kind == 'x' && !braces && code > 0x7f))
        return refuse(w, "this number of a character");
    if (w->caseless[w->depth])
        return refuse(w, "a numbered character under (?i)");
    snprintf(text, sizeof text, "\\x{%lx}", code);
    return df_bytes_puts(w->out, text);
}

/* W->at is behind the backslash.  *IS_CLASS: it stands for many.  */
static df_status
escape(struct walk *w, bool in_class, bool *is_class)
{
    char c = peek(w, 0);
    char pair[3] = {'\\', c, '\0'};

    *is_class = c && strchr("sSdDwWpP", c);
    w->last = 0;
    if (!c)
        return refuse(w, "a backslash here");
    w->at++;
    if (c == 'p' || c == 'P')
        return braced_property(w, c == 'P', in_class);
    if (*is_class)
        return class_escape(w, c, in_class);
    if (c == 'u' || c == 'x')
        return numbered(w, c);
    if (c == 'v')
        return df_bytes_puts(w->out, "\\x{b}");
    if (strchr("rntfae", c) || (!in_class && strchr("AzZ", c)))
        return df_bytes_puts(w->out, pair);
    if (is_word(c) || (uint8_t) c >= 0x80) {
        w->at--;
        return refuse(w, "this escape");
    }
    return df_bytes_puts(w->out, c == ' ' ? " " : pair);
}

/* A hyphen in brackets is a range's between two characters, itself at the
   edge, and an error to Oniguruma beside \s and its like.  */
static df_status
hyphen(struct walk *w, bool first, bool after_class)
{
    bool before_class =
        peek(w, 1) == '\\' && peek(w, 2) && strchr("sSdDwWpP", peek(w, 2));

    if (first || peek(w, 1) == ']') {
        w->at++;
        return df_bytes_puts(w->out, "\\-");
    }
    if (after_class || before_class)
        return refuse(w, "a hyphen beside a class");
    w->at++;
    return df_bytes_puts(w->out, "-");
}

/* W->at is behind '['.  */
static df_status
brackets(struct walk *w)
{
    bool is_class = false;

    if (w->caseless[w->depth])
        return refuse(w, "brackets under (?i)");
    DF_TRY(df_bytes_puts(w->out, "["));
    if (peek(w, 0) == '^') {
        DF_TRY(df_bytes_puts(w->out, "^"));
        w->at++;
    }
    for (bool first = true; w->at < w->end; first = false) {
        char c = *w->at;

        if (c == ']' && !first) {
            w->at++;
            w->last = 0;
            return df_bytes_puts(w->out, "]");
        }
        if (c == ']' || c == '[')
            return refuse(w, "brackets within brackets");
        if (c == '&' && peek(w, 1) == '&')
            return refuse(w, "&& within brackets");
        if (c == '-') {
            DF_TRY(hyphen(w, first, is_class));
            is_class = false;
        } else if (c == '\\') {
            w->at++;
            DF_TRY(escape(w, true, &is_class));
        } else {
            DF_TRY(df_bytes_put(w->out, w->at++, 1));
            is_class = false;
        }
    }
    return refuse(w, "a bracket that is never closed");
}

/* W->at is behind '('.  A plain group captures, which nothing here uses.  */
static df_status
open_group(struct walk *w)
{
    static const char *const kinds[] = {"?:",  "?=",  "?!",  "?>",
                                        "?<=", "?<!", "?i:", "?-i:"};
    bool caseless = w->caseless[w->depth];

    if (w->depth + 1 == MAX_DEPTH)
        return refuse(w, "nesting so deep");
    w->last = 0;
    w->depth++;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t len = strlen(kinds[i]);

        if ((size_t) (w->end - w->at) < len || memcmp(w->at, kinds[i], len))
            continue;
        caseless = kinds[i][1] == 'i' || (caseless && kinds[i][1] != '-');
        w->caseless[w->depth] = caseless;
        w->at += len;
        DF_TRY(df_bytes_puts(w->out, "("));
        return df_bytes_puts(w->out, kinds[i]);
    }
    if (peek(w, 0) == '?' || peek(w, 0) == '*')
        return refuse(w, "this kind of group");
    w->caseless[w->depth] = caseless;
    return df_bytes_puts(w->out, "(?:");
}

/* W->at is at '{'.  {2}+ repeats a repetition in Ruby, and {2}? makes it
   optional; PCRE2 means something else by both.  */
static df_status
interval(struct walk *w)
{
    size_t n = 1, low, high = 0;
    bool comma;

    w->last = 0;
    for (low = n; peek(w, n) >= '0' && peek(w, n) <= '9';)
        n++;
    low = n - low;
    comma = peek(w, n) == ',';
    if (comma)
        for (high = ++n; peek(w, n) >= '0' && peek(w, n) <= '9';)
            n++;
    high = comma ? n - high : 0;
    if (peek(w, n) != '}' || (low == 0 && high == 0)) {
        w->at++;
        return df_bytes_puts(w->out, "\\{");
    }
    if (peek(w, n + 1) == '+' || (peek(w, n + 1) == '?' && !comma))
        return refuse(w, "+ or ? behind this repetition");
    if (low == 0) {
        DF_TRY(df_bytes_puts(w->out, "{0"));
        DF_TRY(df_bytes_put(w->out, w->at + 1, n));
    } else
        DF_TRY(df_bytes_put(w->out, w->at, n + 1));
    w->at += n + 1;
    return DF_OK;
}

static df_status
literal(struct walk *w)
{
    char c = *w->at;

    if (w->caseless[w->depth]
        && ((uint8_t) c >= 0x80 || (w->last && folds_together(w->last, c))))
        return refuse(w, "case folding of this");
    w->last = is_word(c) ? c : 0;
    w->at++;
    return df_bytes_put(w->out, &c, 1);
}

static df_status
step(struct walk *w)
{
    bool is_class;

    switch (*w->at) {
    case '\\':
        w->at++;
        return escape(w, false, &is_class);
    case '[':
        w->at++;
        return brackets(w);
    case '(':
        w->at++;
        return open_group(w);
    case ')':
        if (w->depth == 0)
            return refuse(w, "a closing parenthesis here");
        w->depth--;
        w->at++;
        w->last = 0;
        return df_bytes_puts(w->out, ")");
    case '{':
        return interval(w);
    case '}':
    case ']':
        w->last = 0;
        w->at++;
        return df_bytes_puts(w->out, w->at[-1] == '}' ? "\\}" : "\\]");
    default:
        return literal(w);
    }
}

df_status
df_pattern_translate(struct df_bytes *out, const char *pattern, size_t len,
                     const char *where)
{
    struct walk w = {.begin = pattern,
                     .at = pattern,
                     .end = pattern + len,
                     .out = out,
                     .where = where};

    while (w.at < w.end)
        DF_TRY(step(&w));
    return w.depth == 0 ? DF_OK : refuse(&w, "a group that is never closed");
}

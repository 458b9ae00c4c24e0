/* template_string.c - strings.  */

#include <config.h>

#include <string.h>
#include <stdlib.h>
#include <unicase.h>
#include <unistr.h>

#include "text/template_func_internal.h"

/* What Python's str.isspace takes: a little more than Unicode's
   White_Space.  */
static bool
is_space(ucs4_t c)
{
    return (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= ' ') || c == 0x85
           || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a)
           || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f
           || c == 0x3000;
}

size_t
df_tpl_space(const char *text, size_t len)
{
    ucs4_t c;
    int n;

    if (len == 0)
        return 0;
    n = u8_mbtouc(&c, (const uint8_t *) text, len);
    return is_space(c) ? (size_t) n : 0;
}

/* Bytes of the last character of TEXT, which isn't empty.  */
static size_t
last_char(const char *text, size_t len)
{
    size_t n = 1;

    while (n < len && ((unsigned char) text[len - n] & 0xc0) == 0x80)
        n++;
    return n;
}

size_t
df_tpl_space_before(const char *text, size_t len)
{
    size_t n;

    if (len == 0)
        return 0;
    n = last_char(text, len);
    return df_tpl_space(text + len - n, n) > 0 ? n : 0;
}

ptrdiff_t
df_tpl_find(struct df_tpl_value hay, struct df_tpl_value needle, size_t from)
{
    const char *p;

    if (needle.len == 0)
        return (ptrdiff_t) from;
    if (from >= hay.len)
        return -1;
    p = memmem(hay.str + from, hay.len - from, needle.str, needle.len);
    return p ? p - hay.str : -1;
}

df_status
df_tpl_rfind(struct df_tpl_run *run, struct df_tpl_value hay,
             struct df_tpl_value needle, ptrdiff_t *out)
{
    size_t len = hay.len < needle.len ? 0 : hay.len - needle.len + 1;

    *out = -1;
    if (needle.len == 0)
        *out = (ptrdiff_t) hay.len;
    while (*out < 0 && len > 0) {
        const char *p = memrchr(hay.str, needle.str[0], len);

        if (!p)
            break;
        /* Each candidate may cost a look at all of NEEDLE.  */
        DF_TRY(df_tpl_work(run, 1 + needle.len / 64));
        len = (size_t) (p - hay.str);
        if (memcmp(p, needle.str, needle.len) == 0)
            *out = p - hay.str;
    }
    return DF_OK;
}

/* Set *N to 0 unless the character of *N bytes at P is to be stripped.  */
static df_status
strippable(struct df_tpl_run *run, struct df_tpl_value chars, const char *p,
           size_t *n)
{
    bool strip;

    /* UTF-8: no character is found inside of another.  */
    if (chars.kind == DF_VAL_STRING)
        strip = df_tpl_find(chars, df_tpl_string(p, *n), 0) >= 0;
    else
        strip = df_tpl_space(p, *n) > 0;
    if (!strip)
        *n = 0;
    return df_tpl_work(run,
                       1 + (chars.kind == DF_VAL_STRING ? chars.len / 64 : 0));
}

df_status
df_tpl_strip(struct df_tpl_run *run, struct df_tpl_value s,
             struct df_tpl_value chars, bool left, bool right,
             struct df_tpl_value *out)
{
    size_t n = 1;

    if (chars.kind > DF_VAL_NONE && chars.kind != DF_VAL_STRING)
        return DF_TPL_FAIL(run, DF_FORMAT, "characters to strip: a '%s'",
                           df_tpl_type(chars));
    while (left && s.len > 0 && n > 0) {
        n = (size_t) u8_mblen((const uint8_t *) s.str, s.len);
        DF_TRY(strippable(run, chars, s.str, &n));
        s.str += n;
        s.len -= n;
    }
    n = 1;
    while (right && s.len > 0 && n > 0) {
        n = last_char(s.str, s.len);
        DF_TRY(strippable(run, chars, s.str + s.len - n, &n));
        s.len -= n;
    }
    *out = s;
    return DF_OK;
}

/* NEW goes before each character and at the end.  */
static df_status
replace_empty(struct df_tpl_run *run, struct df_tpl_value s,
              struct df_tpl_value new, int64_t count, struct df_tpl_buf *buf)
{
    size_t i = 0;

    for (; i < s.len && count != 0; count--) {
        size_t n = (size_t) u8_mblen((const uint8_t *) s.str + i, s.len - i);

        DF_TRY(df_tpl_write(run, buf, new.str, new.len));
        DF_TRY(df_tpl_write(run, buf, s.str + i, n));
        DF_TRY(df_tpl_work(run, 1));
        i += n;
    }
    if (count != 0)
        return df_tpl_write(run, buf, new.str, new.len);
    return df_tpl_write(run, buf, s.str + i, s.len - i);
}

df_status
df_tpl_replace(struct df_tpl_run *run, struct df_tpl_value s,
               struct df_tpl_value old, struct df_tpl_value new, int64_t count,
               struct df_tpl_value *out)
{
    struct df_tpl_buf buf = {0};
    size_t from = 0;
    ptrdiff_t at;

    if (old.len == 0) {
        DF_TRY(replace_empty(run, s, new, count, &buf));
        *out = df_tpl_string(buf.data, buf.len);
        return DF_OK;
    }
    DF_TRY(df_tpl_work(run, s.len / 16));
    while (count != 0 && (at = df_tpl_find(s, old, from)) >= 0) {
        DF_TRY(df_tpl_write(run, &buf, s.str + from, (size_t) at - from));
        DF_TRY(df_tpl_write(run, &buf, new.str, new.len));
        DF_TRY(df_tpl_work(run, 1));
        from = (size_t) at + old.len;
        count--;
    }
    DF_TRY(df_tpl_write(run, &buf, s.str + from, s.len - from));
    *out = df_tpl_string(buf.data, buf.len);
    return DF_OK;
}

/* Only ASCII: Python's rule for the first letter and the library's differ
   elsewhere.  */
static df_status
capitalize(struct df_tpl_run *run, struct df_tpl_value s,
           struct df_tpl_value *out)
{
    char *to;

    DF_TRY(df_tpl_new(run, s.len + 1, &to));
    for (size_t i = 0; i < s.len; i++) {
        char c = s.str[i];

        if ((unsigned char) c >= 0x80)
            return DF_TPL_FAIL(run, DF_UNSUPPORTED,
                               "capitalize of more than ASCII");
        if (i == 0)
            to[i] = (char) (c >= 'a' && c <= 'z' ? c - 32 : c);
        else
            to[i] = (char) (c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    *out = df_tpl_string(to, s.len);
    return DF_OK;
}

df_status
df_tpl_recase(struct df_tpl_run *run, struct df_tpl_value s,
              enum df_tpl_case to, struct df_tpl_value *out)
{
    const uint8_t *text = (const uint8_t *) s.str;
    uint8_t *result;
    size_t len = 0;
    char *copy;

    if (to == DF_CASE_CAPITALIZE)
        return capitalize(run, s, out);
    *out = s;
    if (s.len == 0)
        return DF_OK;
    result = to == DF_CASE_UPPER
                 ? u8_toupper(text, s.len, "", NULL, NULL, &len)
                 : u8_tolower(text, s.len, "", NULL, NULL, &len);
    if (!result)
        return DF_TPL_FAIL(run, DF_NO_MEMORY, "no memory");
    copy = df_tpl_copy(&run->arena, (const char *) result, len);
    free(result);
    if (!copy)
        return df_tpl_no_room(&run->arena, run->name, run->line);
    *out = df_tpl_string(copy, len);
    return df_tpl_work(run, len / 4);
}

/* Bytes of the line end at TEXT; 0 if there is none.  */
static size_t
line_end(const char *text, size_t len)
{
    ucs4_t c;
    int n = u8_mbtouc(&c, (const uint8_t *) text, len);

    if (c == '\r' && len > 1 && text[1] == '\n')
        return 2;
    return (c >= '\n' && c <= '\r') || (c >= 0x1c && c <= 0x1e) || c == 0x85
                   || c == 0x2028 || c == 0x2029
               ? (size_t) n
               : 0;
}

df_status
df_tpl_split_lines(struct df_tpl_run *run, struct df_tpl_value s,
                   struct df_tpl_value *out)
{
    size_t start = 0, i = 0;

    DF_TRY(df_tpl_seq_new(run, DF_VAL_LIST, out));
    DF_TRY(df_tpl_work(run, s.len / 4));
    while (i < s.len) {
        size_t n = line_end(s.str + i, s.len - i);

        if (n > 0) {
            DF_TRY(df_tpl_push(run, out->seq,
                               df_tpl_string(s.str + start, i - start)));
            start = i + n;
        }
        i += n > 0 ? n : 1;
    }
    if (start < s.len)
        return df_tpl_push(run, out->seq,
                           df_tpl_string(s.str + start, s.len - start));
    return DF_OK;
}

df_status
df_tpl_join(struct df_tpl_run *run, struct df_tpl_value sep,
            const struct df_tpl_seq *items, bool any, struct df_tpl_value *out)
{
    struct df_tpl_buf buf = {0};

    for (size_t i = 0; i < items->n; i++) {
        if (i > 0)
            DF_TRY(df_tpl_write(run, &buf, sep.str, sep.len));
        if (!any && items->items[i].kind != DF_VAL_STRING)
            return DF_TPL_FAIL(run, DF_FORMAT, "join of a '%s'",
                               df_tpl_type(items->items[i]));
        DF_TRY(df_tpl_write_str(run, &buf, items->items[i]));
    }
    *out = df_tpl_string(buf.data, buf.len);
    return DF_OK;
}

/* template_numtext.c - numbers from and to text, as Python spells them.  */

#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_internal.h"
#include "text/template_func_internal.h"

enum {
    TEXT_MAX = 400 /* of a number; a longer one is refused */
};

/* Copy TEXT without the white space around it and the "_" between digits;
   false if a "_" is elsewhere.  */
static bool
tidy(const char *text, size_t len, char to[TEXT_MAX])
{
    size_t n;

    while ((n = df_tpl_space(text, len)) > 0) {
        text += n;
        len -= n;
    }
    while ((n = df_tpl_space_before(text, len)) > 0)
        len -= n;
    for (size_t i = 0; i < len; i++) {
        if (text[i] != '_')
            *to++ = text[i];
        else if (i == 0 || i + 1 == len || text[i - 1] < '0'
                 || text[i - 1] > '9' || text[i + 1] < '0'
                 || text[i + 1] > '9')
            return false;
    }
    *to = '\0';
    return true;
}

static df_status
too_long(struct df_tpl_run *run)
{
    return DF_TPL_FAIL(run, DF_UNSUPPORTED, "a number of over %d bytes",
                       TEXT_MAX - 1);
}

/* Any byte that isn't ASCII may be a digit that Python takes.  */
static bool
is_ascii(const char *text)
{
    for (; *text; text++)
        if ((unsigned char) *text >= 0x80)
            return false;
    return true;
}

df_status
df_tpl_read_int(struct df_tpl_run *run, const char *text, size_t len,
                struct df_tpl_value *out)
{
    char buf[TEXT_MAX];
    const char *digits;
    int64_t n = 0;

    *out = df_tpl_none();
    if (len >= TEXT_MAX)
        return too_long(run);
    if (!tidy(text, len, buf))
        return DF_OK;
    if (!is_ascii(buf))
        return DF_TPL_FAIL(run, DF_UNSUPPORTED, "a number not in ASCII");
    digits = buf + (*buf == '-' || *buf == '+');
    if (!*digits || digits[strspn(digits, "0123456789")])
        return DF_OK;
    for (; *digits; digits++)
        if (__builtin_mul_overflow(n, 10, &n)
            || __builtin_sub_overflow(n, *digits - '0', &n))
            return DF_TPL_FAIL(run, DF_UNSUPPORTED, "%.40s is beyond 64 bits",
                               buf);
    if (*buf != '-' && n == INT64_MIN)
        return DF_TPL_FAIL(run, DF_UNSUPPORTED, "%.40s is beyond 64 bits",
                           buf);
    *out = df_tpl_int(*buf == '-' ? n : -n);
    return DF_OK;
}

/* Spell what TEXT, without its sign, says as JSON does: digits on both
   sides of the point, no zeros before.  False if it is no number.  */
static bool
to_json_number(const char *text, char to[TEXT_MAX + 8])
{
    size_t before, after = 0;

    while (*text == '0' && text[1] >= '0' && text[1] <= '9')
        text++;
    before = strspn(text, "0123456789");
    if (before == 0)
        *to++ = '0';
    memcpy(to, text, before);
    to += before;
    text += before;
    if (*text == '.') {
        after = strspn(++text, "0123456789");
        *to++ = '.';
        *to++ = '0'; /* replaced if there are digits */
        if (after > 0)
            memcpy(--to, text, after);
        to += after;
        text += after;
    }
    if (before + after == 0)
        return false;
    if (*text == 'e' || *text == 'E') {
        size_t sign = text[1] == '+' || text[1] == '-';

        if (!text[1 + sign]
            || text[1 + sign + strspn(text + 1 + sign, "0123456789")])
            return false;
    } else if (*text) {
        return false;
    }
    strcpy(to, text);
    return true;
}

df_status
df_tpl_read_float(struct df_tpl_run *run, const char *text, size_t len,
                  struct df_tpl_value *out)
{
    char buf[TEXT_MAX], spelled[TEXT_MAX + 8];
    bool minus;
    json_t *json;

    *out = df_tpl_none();
    if (len >= TEXT_MAX)
        return too_long(run);
    if (!tidy(text, len, buf))
        return DF_OK;
    minus = *buf == '-';
    text = buf + (minus || *buf == '+');
    if (!is_ascii(buf) || strpbrk(text, "nN"))
        return DF_TPL_FAIL(run, DF_UNSUPPORTED, "'%.40s' as a float", buf);
    if (!to_json_number(text, spelled))
        return DF_OK;
    /* strtod depends on the locale, jansson doesn't.  */
    json =
        json_loads(spelled, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
    if (!json)
        return DF_TPL_FAIL(run, DF_UNSUPPORTED, "'%.40s' as a float", buf);
    *out =
        df_tpl_float(minus ? -json_real_value(json) : json_real_value(json));
    json_decref(json);
    return DF_OK;
}

/* The shortest digits that read back as F, which is finite and not
   negative, and the place of the point from their left.  */
static int
shortest(double f, char digits[DF_TPL_FLOAT_SIZE], int *point)
{
    char text[DF_TPL_FLOAT_SIZE];
    int n = 0;

    for (int precision = 0; precision < 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, f);
        if (strtod(text, NULL) == f)
            break;
    }
    /* The locale's point is skipped, whatever it is.  */
    for (const char *p = text; *p != 'e'; p++)
        if (*p >= '0' && *p <= '9')
            digits[n++] = *p;
    *point = atoi(strchr(text, 'e') + 1) + 1;
    return n;
}

void
df_tpl_float_text(double f, char buf[DF_TPL_FLOAT_SIZE])
{
    char digits[DF_TPL_FLOAT_SIZE], *to = buf;
    int point, n = shortest(fabs(f), digits, &point);

    if (signbit(f))
        *to++ = '-';
    if (point > 16 || point < -3) {
        *to++ = digits[0];
        if (n > 1)
            to += snprintf(to, 20, ".%.*s", n - 1, digits + 1);
        snprintf(to, 13, "e%c%02d", point > 0 ? '+' : '-', abs(point - 1));
        return;
    }
    if (point <= 0)
        to += snprintf(to, 8, "0.%.*s", -point, "000");
    for (int i = 0; i < n || i < point; i++) {
        if (i == point && point > 0)
            *to++ = '.';
        *to++ = i < n ? digits[i] : '0';
    }
    strcpy(to, point >= n ? ".0" : "");
}

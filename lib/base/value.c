#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dflash/value.h"

/* TEXT as a message may carry it: on one line, and not too long.  */
struct shown {
    char text[72];
};

static struct shown
show(const char *text)
{
    struct shown s;
    size_t n = 0;

    for (; *text && n < sizeof s.text - 4; text++) {
        unsigned char c = (unsigned char) *text;

        s.text[n++] = (c < 0x20 || c == 0x7f) ? '?' : (char) c;
    }
    strcpy(s.text + n, *text ? "..." : "");
    return s;
}

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *
skip_digits(const char *p)
{
    while (is_digit(*p))
        p++;
    return p;
}

/* Accumulate the digits of TEXT, which has a sign and digits only.  False
   if an int64_t cannot hold them.  */
static bool
read_digits(const char *text, int64_t *out)
{
    bool negative = *text == '-';
    int64_t n = 0;

    for (const char *p = text + negative; *p; p++) {
        int64_t digit = negative ? '0' - *p : *p - '0';

        if (__builtin_mul_overflow(n, (int64_t) 10, &n)
            || __builtin_add_overflow(n, digit, &n))
            return false;
    }
    *out = n;
    return true;
}

df_status
df_value_int(const char *text, int64_t min, int64_t max, int64_t *out)
{
    const char *digits = text + (*text == '-');
    int64_t n;

    if (!is_digit(*digits) || *skip_digits(digits))
        return DF_FAIL(DF_INVALID, "'%s' is not a whole number",
                       show(text).text);
    if (!read_digits(text, &n))
        n = *text == '-' ? INT64_MIN : INT64_MAX;
    else if (n >= min && n <= max) {
        *out = n;
        return DF_OK;
    }
    if (min > INT64_MIN && max < INT64_MAX)
        return DF_FAIL(DF_INVALID, "%s is not within %" PRId64 " and %" PRId64,
                       show(text).text, min, max);
    if (n < min || *text == '-')
        return DF_FAIL(DF_INVALID, "%s is not at least %" PRId64,
                       show(text).text, min);
    return DF_FAIL(DF_INVALID, "%s is not at most %" PRId64, show(text).text,
                   max);
}

/* "-1.5e-3": a sign, digits with at most one point, perhaps an exponent.
   What strtod takes besides (blanks, "inf", "0x1p3") is not of this form.  */
static bool
is_decimal(const char *text)
{
    const char *start = text + (*text == '-');
    const char *p = skip_digits(start);
    bool any = p > start;

    if (*p == '.') {
        start = p + 1;
        p = skip_digits(start);
        any = any || p > start;
    }
    if (any && (*p == 'e' || *p == 'E')) {
        start = p + 1 + (p[1] == '-' || p[1] == '+');
        p = skip_digits(start);
        any = p > start;
    }
    return any && *p == '\0';
}

/* strtod with a decimal point whatever the locale.  errno tells of overflow
   and underflow.  */
static df_status
convert(const char *text, double *out)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t) 0);
    int range;

    if (c == (locale_t) 0)
        return DF_FAIL_ERRNO(DF_NO_MEMORY, "the C locale: %s",
                             strerror(errno));
    errno = 0;
    *out = strtod_l(text, NULL, c);
    range = errno;
    freelocale(c);
    errno = range;
    return DF_OK;
}

static df_status
real_outside(const char *text, const struct df_real_range *r)
{
    char min[DF_VALUE_TEXT_MAX], max[DF_VALUE_TEXT_MAX];
    const char *least = r->above_min ? "above" : "at least";
    const char *most = r->below_max ? "below" : "at most";
    struct shown s = show(text);

    if (!isfinite(r->min) && !isfinite(r->max))
        return DF_FAIL(DF_INVALID, "%s is too large", s.text);
    if (!isfinite(r->max))
        return DF_FAIL(DF_INVALID, "%s is not %s %s", s.text, least,
                       df_value_real_text(min, r->min));
    if (!isfinite(r->min))
        return DF_FAIL(DF_INVALID, "%s is not %s %s", s.text, most,
                       df_value_real_text(max, r->max));
    df_value_real_text(min, r->min);
    df_value_real_text(max, r->max);
    if (!r->above_min && !r->below_max)
        return DF_FAIL(DF_INVALID, "%s is not within %s and %s", s.text, min,
                       max);
    return DF_FAIL(DF_INVALID, "%s is not %s %s and %s %s", s.text, least, min,
                   most, max);
}

df_status
df_value_real(const char *text, const struct df_real_range *range, double *out)
{
    double d;

    if (!is_decimal(text))
        return DF_FAIL(DF_INVALID, "'%s' is not a decimal number",
                       show(text).text);
    DF_TRY(convert(text, &d));
    if (errno == ERANGE && d == 0)
        return DF_FAIL(DF_INVALID, "%s is too small to be told from 0",
                       show(text).text);
    if (isinf(d) && range->max == INFINITY && d > 0)
        return DF_FAIL(DF_INVALID, "%s is too large", show(text).text);
    if (isinf(d) || d < range->min || d > range->max
        || (range->above_min && d == range->min)
        || (range->below_max && d == range->max))
        return real_outside(text, range);
    *out = d;
    return DF_OK;
}

df_status
df_value_bool(const char *text, bool *out)
{
    static const char *const words[] = {"true", "false", "yes", "no",
                                        "on",   "off",   "1",   "0"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0) {
            *out = i % 2 == 0;
            return DF_OK;
        }
    return DF_FAIL(DF_INVALID, "'%s' is neither true nor false",
                   show(text).text);
}

df_status
df_value_choice(const char *text, const char *const *choices, int *out)
{
    char list[256] = "";
    size_t n = 0;

    for (int i = 0; choices[i]; i++) {
        if (strcmp(text, choices[i]) == 0) {
            *out = i;
            return DF_OK;
        }
        if (n < sizeof list)
            n += (size_t) snprintf(list + n, sizeof list - n, "%s%s",
                                   i ? ", " : "", choices[i]);
    }
    return DF_FAIL(DF_INVALID, "'%s' is not one of %s", show(text).text, list);
}

/* The writer takes the first that divides.  */
static const struct unit {
    const char *suffix;
    uint64_t bytes;
} units[] = {
    {"TiB", (uint64_t) 1 << 40},
    {"GiB", (uint64_t) 1 << 30},
    {"MiB", (uint64_t) 1 << 20},
    {"KiB", (uint64_t) 1 << 10},
    {"",    1                 },
    {"T",   (uint64_t) 1 << 40},
    {"G",   (uint64_t) 1 << 30},
    {"M",   (uint64_t) 1 << 20},
    {"K",   (uint64_t) 1 << 10},
    {"TB",  1000000000000     },
    {"GB",  1000000000        },
    {"MB",  1000000           },
    {"kB",  1000              },
};

static const struct unit *
find_unit(const char *suffix)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(suffix, units[i].suffix) == 0)
            return &units[i];
    return NULL;
}

df_status
df_value_size(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
    char low[DF_VALUE_TEXT_MAX], high[DF_VALUE_TEXT_MAX];
    const char *suffix = skip_digits(text);
    const struct unit *unit = find_unit(suffix);
    bool fits = true;
    uint64_t n = 0;

    if (suffix == text || !unit)
        return DF_FAIL(DF_INVALID, "'%s' is not a size such as 4096 or 64KiB",
                       show(text).text);
    for (const char *p = text; fits && p < suffix; p++)
        fits = !__builtin_mul_overflow(n, (uint64_t) 10, &n)
               && !__builtin_add_overflow(n, (uint64_t) (*p - '0'), &n);
    fits = fits && !__builtin_mul_overflow(n, unit->bytes, &n);
    if (fits && n >= min && n <= max) {
        *out = n;
        return DF_OK;
    }
    df_value_size_text(low, min);
    df_value_size_text(high, max);
    if (max < UINT64_MAX)
        return DF_FAIL(DF_INVALID, "%s is not within %s and %s",
                       show(text).text, low, high);
    if (fits)
        return DF_FAIL(DF_INVALID, "%s is not at least %s", show(text).text,
                       low);
    return DF_FAIL(DF_INVALID, "%s is too large", show(text).text);
}

/* Read the words of COPY, which this cuts at its commas, into NUMBERS.  */
static df_status
read_items(char *copy, int64_t min, int64_t max, int64_t *numbers,
           size_t *count)
{
    *count = 0;
    for (char *item; (item = strsep(&copy, ",")) != NULL;)
        DF_TRY(df_value_int(item, min, max, &numbers[(*count)++]));
    return DF_OK;
}

df_status
df_value_int_list(const char *text, int64_t min, int64_t max, int64_t **out,
                  size_t *count)
{
    char *copy = strdup(text);
    size_t n = 1;
    int64_t *numbers = NULL;
    df_status status;

    for (const char *p = text; *p; p++)
        n += *p == ',';
    numbers = calloc(n, sizeof *numbers);
    if (!copy || !numbers)
        status = DF_FAIL(DF_NO_MEMORY, "a list of %zu numbers", n);
    else
        status = read_items(copy, min, max, numbers, &n);
    free(copy);
    if (status != DF_OK) {
        free(numbers);
        return status;
    }
    *out = numbers;
    *count = n;
    return DF_OK;
}

const char *
df_value_real_text(char *buf, double value)
{
    double back;

    for (int digits = 1; digits <= 17; digits++) {
        char *point;

        snprintf(buf, DF_VALUE_TEXT_MAX, "%.*g", digits, value);
        /* The locale's point may be any text; the number has none else.  */
        point = buf + strspn(buf, "-+0123456789e");
        if (*point) {
            size_t len = strcspn(point, "-+0123456789e");

            *point = '.';
            memmove(point + 1, point + len, strlen(point + len) + 1);
        }
        if (convert(buf, &back) == DF_OK && back == value)
            break;
    }
    return buf;
}

const char *
df_value_size_text(char *buf, uint64_t value)
{
    const struct unit *u = units;

    while (value % u->bytes || (value == 0 && *u->suffix))
        u++;
    snprintf(buf, DF_VALUE_TEXT_MAX, "%" PRIu64 "%s", value / u->bytes,
             u->suffix);
    return buf;
}

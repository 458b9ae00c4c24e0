#include <config.h>

#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dflash/value.h"
#include "tap/tap.h"

static int
is_text(const char *wanted, const char *seen, const char *label)
{
    int same = strcmp(wanted, seen) == 0;

    if (!same)
        diag("wanted: %s; seen: %s", wanted, seen);
    return ok(same, "%s", label);
}

/* STATUS and the message of the last failure are as wanted: MESSAGE, or
   success if it is NULL.  */
static int
outcome_is(const char *message, df_status status, const char *what,
           const char *text)
{
    const char *seen = status == DF_OK ? "success" : df_error_last()->message;
    char label[128];

    snprintf(label, sizeof label, "%s \"%.80s\" %s", what, text,
             message ? "is refused by name" : "is taken");
    if (status != DF_OK && status != DF_INVALID)
        seen = df_status_text(status);
    return is_text(message ? message : "success", seen, label);
}

#define HUGE_TEXT "99999999999999999999"
#define MIN_TEXT  "-9223372036854775808"
#define MAX_TEXT  "9223372036854775807"
#define UNDER     "-9223372036854775809"
#define OVER      "9223372036854775808"
#define X17       "xxxxxxxxxxxxxxxxx"
#define X68       X17 X17 X17 X17
#define LEAST     INT64_MIN
#define MOST      INT64_MAX

/* The same with the message "'TEXT' is WHAT".  */
static void
refused(df_status status, const char *text, const char *what)
{
    char message[128];

    snprintf(message, sizeof message, "'%s' is %s", text, what);
    outcome_is(message, status, "text", text);
}

static const struct {
    const char *text;
    int64_t min, max, value;
} ints[] = {
    {"0",                    0,     9,    0    },
    {"64",                   1,     64,   64   },
    {"-5",                   -9,    9,    -5   },
    {"007",                  0,     9,    7    },
    {"9223372036854775807",  0,     MOST, MOST },
    {"-9223372036854775808", LEAST, MOST, LEAST},
};

static const struct {
    const char *text;
    int64_t min, max;
    const char *message;
} far_ints[] = {
    {"-1",          1,     64,   "-1 is not within 1 and 64"          },
    {"65",          1,     64,   "65 is not within 1 and 64"          },
    {"3000000000",  0,     99,   "3000000000 is not within 0 and 99"  },
    {HUGE_TEXT,     0,     99,   HUGE_TEXT " is not within 0 and 99"  },
    {HUGE_TEXT,     0,     MOST, HUGE_TEXT " is not at most " MAX_TEXT},
    {OVER,          LEAST, MOST, OVER " is not at most " MAX_TEXT     },
    {UNDER,         LEAST, MOST, UNDER " is not at least " MIN_TEXT   },
    {"-" HUGE_TEXT, -1,    MOST, "-" HUGE_TEXT " is not at least -1"  },
    {"0",           1,     MOST, "0 is not at least 1"                },
    {"1",           LEAST, 0,    "1 is not at most 0"                 },
};

/* What is no whole number, whatever the range.  */
static const char *const no_ints[] = {
    "",     " ",   "-",     "abc",      "7x",   "30s",  "50bad",
    "0x10", "7 ",  " 7",    "+5",       "--5",  "true", "false",
    "1e9",  "1.0", "1,000", "\xd9\xa3", "-0x1", "1_000"};

static void
check_ints(void)
{
    int64_t n;

    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) {
        n = 12345;
        outcome_is(NULL,
                   df_value_int(ints[i].text, ints[i].min, ints[i].max, &n),
                   "whole number", ints[i].text);
        is_long(ints[i].value, n, "  and the result is right");
    }
    n = 12345;
    for (size_t i = 0; i < sizeof far_ints / sizeof *far_ints; i++)
        outcome_is(far_ints[i].message,
                   df_value_int(far_ints[i].text, far_ints[i].min,
                                far_ints[i].max, &n),
                   "whole number", far_ints[i].text);
    is_long(12345, n, "the result is left alone");
}

static void
check_no_ints(void)
{
    int64_t n = 12345;

    for (size_t i = 0; i < sizeof no_ints / sizeof *no_ints; i++)
        refused(df_value_int(no_ints[i], INT64_MIN, INT64_MAX, &n), no_ints[i],
                "not a whole number");
    is_long(12345, n, "the result is left alone");
    outcome_is("'7?' is not a whole number", df_value_int("7\n", 0, 9, &n),
               "a message stays one line:", "7");
    outcome_is("'" X68 "...' is not a whole number",
               df_value_int(X68 "xxxx", 0, 9, &n),
               "a message stays short:", X68);
}

#define INF INFINITY
static const struct df_real_range any = {-INF, INF, false, false};

static const struct {
    const char *text;
    double value;
} reals[] = {
    {"0",                      0                      },
    {"0.5",                    0.5                    },
    {".5",                     0.5                    },
    {"5.",                     5                      },
    {"6e-4",                   6e-4                   },
    {"6E-4",                   6e-4                   },
    {"-2.5e+3",                -2500                  },
    {"1e9",                    1e9                    },
    {"1.7976931348623157e308", DBL_MAX                },
    {"5e-324",                 4.9406564584124654e-324},
    {"0e999",                  0                      },
};

static const char *const no_reals[] = {
    "",      " ",     ".",         "-",     "e5",   ".e5",  "1e",  "1e-",
    "1e-4x", "0.1.2", "0,5",       " 1",    "1 ",   "+1",   "nan", "NaN",
    "-nan",  "inf",   "-Infinity", "0x1p3", "0x10", "true", "1f",  "1e5.0"};

static const struct {
    const char *text;
    struct df_real_range range;
    const char *message;
} far_reals[] = {
    {"0",      {0, 1, 1, 0},      "0 is not above 0 and at most 1"       },
    {"1.01",   {0, 1, 1, 0},      "1.01 is not above 0 and at most 1"    },
    {"1e999",  {0, 1, 1, 0},      "1e999 is not above 0 and at most 1"   },
    {"1",      {0, 1, 0, 1},      "1 is not at least 0 and below 1"      },
    {"2",      {0, 1.5, 0, 0},    "2 is not within 0 and 1.5"            },
    {"-.1",    {0, INF, 0, 0},    "-.1 is not at least 0"                },
    {"1e999",  {0, INF, 0, 0},    "1e999 is too large"                   },
    {"-1e999", {-INF, INF, 0, 0}, "-1e999 is too large"                  },
    {"3",      {-INF, 3, 0, 1},   "3 is not below 3"                     },
    {"1e-999", {0, 1, 0, 0},      "1e-999 is too small to be told from 0"},
};

static void
check_reals(void)
{
    double d = 0;

    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        ok(df_value_real(reals[i].text, &any, &d) == DF_OK
               && d == reals[i].value,
           "real number \"%s\" is read right", reals[i].text);
    d = 12345;
    for (size_t i = 0; i < sizeof no_reals / sizeof *no_reals; i++)
        refused(df_value_real(no_reals[i], &any, &d), no_reals[i],
                "not a decimal number");
    for (size_t i = 0; i < sizeof far_reals / sizeof *far_reals; i++)
        outcome_is(far_reals[i].message,
                   df_value_real(far_reals[i].text, &far_reals[i].range, &d),
                   "real number", far_reals[i].text);
    ok(d == 12345, "the result is left alone");
}

static const char *const places[] = {"host", "peer", "local", NULL};

static void
check_words(void)
{
    static const char *const good[] = {"true", "false", "yes", "no",
                                       "on",   "off",   "1",   "0"};
    static const char *const bad[] = {"",   " ",   "TRUE",  "2",    "-1",
                                      "01", "tru", "truee", "yes ", "y"};
    int choice = -1;

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        bool b = i % 2;

        ok(df_value_bool(good[i], &b) == DF_OK && b == (i % 2 == 0),
           "\"%s\" is %s", good[i], i % 2 ? "false" : "true");
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bool b = false;

        refused(df_value_bool(bad[i], &b), bad[i], "neither true nor false");
    }
    outcome_is(NULL, df_value_choice("local", places, &choice), "choice",
               "local");
    is_long(2, choice, "  and the result is its index");
    refused(df_value_choice("hos", places, &choice), "hos",
            "not one of host, peer, local");
    refused(df_value_choice("", places, &choice), "",
            "not one of host, peer, local");
}

static const struct {
    const char *text;
    uint64_t value;
} sizes[] = {
    {"0",                    0                 },
    {"4096",                 4096              },
    {"64KiB",                65536             },
    {"2MiB",                 2097152           },
    {"3GiB",                 (uint64_t) 3 << 30},
    {"1TiB",                 (uint64_t) 1 << 40},
    {"5kB",                  5000              },
    {"5MB",                  5000000           },
    {"5TB",                  5000000000000     },
    {"18446744073709551615", UINT64_MAX        },
};

static const struct {
    const char *text;
    uint64_t min, max;
    const char *message;
} far_sizes[] = {
    {"1KiB",        4096, 1 << 30,    "1KiB is not within 4KiB and 1GiB"   },
    {"2G",          4096, 1 << 30,    "2G is not within 4KiB and 1GiB"     },
    {HUGE_TEXT,     0,    1 << 30,    HUGE_TEXT " is not within 0 and 1GiB"},
    {"0",           1,    UINT64_MAX, "0 is not at least 1"                },
    {"16777216TiB", 0,    UINT64_MAX, "16777216TiB is too large"           },
    {HUGE_TEXT,     0,    UINT64_MAX, HUGE_TEXT " is too large"            },
};

static const char *const no_sizes[] = {"",      " ",    "KiB",  "1.5GiB",
                                       "5 KiB", "5kib", "5q",   "5 ",
                                       "-1",    "+1",   "0x10", "5KiBB"};

static void
check_sizes(void)
{
    uint64_t n = 12345;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        ok(df_value_size(sizes[i].text, 0, UINT64_MAX, &n) == DF_OK
               && n == sizes[i].value,
           "size \"%s\" is read right", sizes[i].text);
    n = 12345;
    for (size_t i = 0; i < sizeof far_sizes / sizeof *far_sizes; i++)
        outcome_is(far_sizes[i].message,
                   df_value_size(far_sizes[i].text, far_sizes[i].min,
                                 far_sizes[i].max, &n),
                   "size", far_sizes[i].text);
    for (size_t i = 0; i < sizeof no_sizes / sizeof *no_sizes; i++)
        refused(df_value_size(no_sizes[i], 0, UINT64_MAX, &n), no_sizes[i],
                "not a size such as 4096 or 64KiB");
    ok(n == 12345, "the result is left alone");
}

static const struct {
    const char *text;
    const char *message;
    const char *numbers; /* what the list reads as */
} lists[] = {
    {"1,9,17", NULL,                          "1 9 17"},
    {"0",      NULL,                          "0"     },
    {"",       "'' is not a whole number",    NULL    },
    {",",      "'' is not a whole number",    NULL    },
    {"1,",     "'' is not a whole number",    NULL    },
    {",1",     "'' is not a whole number",    NULL    },
    {"1,,2",   "'' is not a whole number",    NULL    },
    {"1, 2",   "' 2' is not a whole number",  NULL    },
    {"1;2",    "'1;2' is not a whole number", NULL    },
    {"1,2x",   "'2x' is not a whole number",  NULL    },
    {"1,-1",   "-1 is not within 0 and 63",   NULL    },
    {"1,64",   "64 is not within 0 and 63",   NULL    },
};

static void
check_lists(void)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        int64_t *numbers = NULL;
        size_t count = 99, len = 0;
        char seen[64] = "";
        df_status s =
            df_value_int_list(lists[i].text, 0, 63, &numbers, &count);

        outcome_is(lists[i].message, s, "list", lists[i].text);
        if (s != DF_OK) {
            ok(!numbers && count == 99, "  and the result is left alone");
            continue;
        }
        for (size_t k = 0; k < count; k++)
            len += (size_t) snprintf(seen + len, sizeof seen - len,
                                     "%s%" PRId64, k ? " " : "", numbers[k]);
        is_text(lists[i].numbers, seen, "  and the result is right");
        free(numbers);
    }
}

static const struct {
    double value;
    const char *text;
} real_texts[] = {
    {0,       "0"                      },
    {6e-4,    "0.0006"                 },
    {0.1,     "0.1"                    },
    {-2.5,    "-2.5"                   },
    {1e-8,    "1e-08"                  },
    {1.0 / 3, "0.3333333333333333"     },
    {DBL_MAX, "1.7976931348623157e+308"},
};
static const struct {
    uint64_t value;
    const char *text;
} size_texts[] = {
    {0,          "0"                   },
    {1000,       "1000"                },
    {65536,      "64KiB"               },
    {3145728,    "3MiB"                },
    {UINT64_MAX, "18446744073709551615"},
};

static void
check_texts(void)
{
    char buf[DF_VALUE_TEXT_MAX];

    for (size_t i = 0; i < sizeof real_texts / sizeof *real_texts; i++)
        is_text(real_texts[i].text,
                df_value_real_text(buf, real_texts[i].value),
                "a real number is written shortest");
    for (size_t i = 0; i < sizeof size_texts / sizeof *size_texts; i++)
        is_text(size_texts[i].text,
                df_value_size_text(buf, size_texts[i].value),
                "a size is written in its largest unit");
}

/* Under a locale that writes 0,5 the same texts mean the same.  */
static void
check_comma_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",
                                        "fr_FR.UTF-8", "ru_RU.UTF-8", "de_DE"};
    const char *found = NULL;
    char buf[DF_VALUE_TEXT_MAX];
    double d = 0;

    for (size_t i = 0; !found && i < sizeof names / sizeof *names; i++)
        found = setlocale(LC_ALL, names[i]);
    for (int i = 0; !found && i < 3; i++)
        skip("no locale with a decimal comma is installed");
    if (!found)
        return;
    ok(df_value_real("0.5", &any, &d) == DF_OK && d == 0.5,
       "0.5 is a half under %s", found);
    outcome_is("'0,5' is not a decimal number", df_value_real("0,5", &any, &d),
               found, "0,5");
    is_text("0.5", df_value_real_text(buf, 0.5), "a half is written 0.5");
}

#define ROWS(table) ((int) (sizeof table / sizeof *table))

int
main(void)
{
    plan(2 * ROWS(ints) + ROWS(far_ints) + 1 + ROWS(no_ints) + 3 + ROWS(reals)
         + ROWS(no_reals) + ROWS(far_reals) + 1 + 22 + ROWS(sizes)
         + ROWS(far_sizes) + ROWS(no_sizes) + 1 + 2 * ROWS(lists)
         + ROWS(real_texts) + ROWS(size_texts) + 3);
    check_ints();
    check_no_ints();
    check_reals();
    check_words();
    check_sizes();
    check_lists();
    check_texts();
    check_comma_locale();
    return 0;
}

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
        diag("wanted: %s", wanted), diag("  seen: %s", seen);
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

static const struct {
    const char *text;
    int64_t min, max;
    const char *message; /* NULL: taken */
    int64_t value;
} ints[] = {
    {"0",                     0,         9,         NULL,                                        0        },
    {"1",                     1,         64,        NULL,                                        1        },
    {"64",                    1,         64,        NULL,                                        64       },
    {"-5",                    -9,        9,         NULL,                                        -5       },
    {"007",                   0,         9,         NULL,                                        7        },
    {"9223372036854775807",   0,         INT64_MAX, NULL,                                        INT64_MAX},
    {"-9223372036854775808",  INT64_MIN, INT64_MAX, NULL,                                        INT64_MIN},
    {"",                      0,         9,         "'' is not a whole number",                  0        },
    {" ",                     0,         9,         "' ' is not a whole number",                 0        },
    {"-",                     -9,        9,         "'-' is not a whole number",                 0        },
    {"abc",                   0,         9,         "'abc' is not a whole number",               0        },
    {"7x",                    0,         9,         "'7x' is not a whole number",                0        },
    {"30s",                   0,         99,        "'30s' is not a whole number",               0        },
    {"50bad",                 0,         99,        "'50bad' is not a whole number",             0        },
    {"0x10",                  0,         99,        "'0x10' is not a whole number",              0        },
    {"7 ",                    0,         9,         "'7 ' is not a whole number",                0        },
    {" 7",                    0,         9,         "' 7' is not a whole number",                0        },
    {"7\n",                   0,         9,         "'7?' is not a whole number",                0        },
    {"+5",                    0,         9,         "'+5' is not a whole number",                0        },
    {"--5",                   -9,        9,         "'--5' is not a whole number",               0        },
    {"true",                  0,         9,         "'true' is not a whole number",              0        },
    {"false",                 0,         9,         "'false' is not a whole number",             0        },
    {"1e9",                   0,         INT64_MAX, "'1e9' is not a whole number",               0        },
    {"1.0",                   0,         9,         "'1.0' is not a whole number",               0        },
    {"1,000",                 0,         9999,      "'1,000' is not a whole number",             0        },
    {"\xd9\xa3",              0,         9,         "'\xd9\xa3' is not a whole number",          0        },
    {"-1",                    1,         64,        "-1 is not within 1 and 64",                 0        },
    {"0",                     1,         64,        "0 is not within 1 and 64",                  0        },
    {"65",                    1,         64,        "65 is not within 1 and 64",                 0        },
    {"3000000000",            0,         INT32_MAX, "3000000000 is not within 0 and 2147483647",
     0                                                                                                    },
    {"99999999999999999999",  0,         INT32_MAX,
     "99999999999999999999 is not within 0 and 2147483647",                                      0        },
    {"99999999999999999999",  0,         INT64_MAX,
     "99999999999999999999 is not at most 9223372036854775807",                                  0        },
    {"9223372036854775808",   INT64_MIN, INT64_MAX,
     "9223372036854775808 is not at most 9223372036854775807",                                   0        },
    {"-9223372036854775809",  INT64_MIN, INT64_MAX,
     "-9223372036854775809 is not at least -9223372036854775808",                                0        },
    {"-99999999999999999999", -1,        INT64_MAX,
     "-99999999999999999999 is not at least -1",                                                 0        },
    {"0",                     1,         INT64_MAX, "0 is not at least 1",                       0        },
    {"1",                     INT64_MIN, 0,         "1 is not at most 0",                        0        },
    {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "a",                        0,                                9,
     "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..."
     "' is not a whole number",                            0                                                                            },
};

static void
check_ints(void)
{
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) {
        int64_t n = 12345;
        df_status s = df_value_int(ints[i].text, ints[i].min, ints[i].max, &n);
        int64_t wanted = ints[i].message ? 12345 : ints[i].value;

        outcome_is(ints[i].message, s, "whole number", ints[i].text);
        is_long(wanted, n, "  and the result is %s",
                ints[i].message ? "left alone" : "right");
    }
}

#define ANY                               \
    {                                     \
        -INFINITY, INFINITY, false, false \
    }
#define RATE              \
    {                     \
        0, 1, true, false \
    }
#define NOT_BELOW0                \
    {                             \
        0, INFINITY, false, false \
    }

static const struct {
    const char *text;
    struct df_real_range range;
    const char *message;
    double value;
} reals[] = {
    {"0",                      ANY,                         NULL,                                     0                      },
    {"0.5",                    RATE,                        NULL,                                     0.5                    },
    {".5",                     RATE,                        NULL,                                     0.5                    },
    {"1",                      RATE,                        NULL,                                     1                      },
    {"6e-4",                   RATE,                        NULL,                                     6e-4                   },
    {"6E-4",                   RATE,                        NULL,                                     6e-4                   },
    {"-2.5e+3",                ANY,                         NULL,                                     -2500                  },
    {"1e9",                    ANY,                         NULL,                                     1e9                    },
    {"1.7976931348623157e308", ANY,                         NULL,                                     DBL_MAX                },
    {"5e-324",                 ANY,                         NULL,                                     4.9406564584124654e-324},
    {"0e999",                  ANY,                         NULL,                                     0                      },
    {"",                       ANY,                         "'' is not a decimal number",             0                      },
    {" ",                      ANY,                         "' ' is not a decimal number",            0                      },
    {".",                      ANY,                         "'.' is not a decimal number",            0                      },
    {"e5",                     ANY,                         "'e5' is not a decimal number",           0                      },
    {"1e",                     ANY,                         "'1e' is not a decimal number",           0                      },
    {"1e-",                    ANY,                         "'1e-' is not a decimal number",          0                      },
    {"1e-4x",                  ANY,                         "'1e-4x' is not a decimal number",        0                      },
    {"0.1.2",                  ANY,                         "'0.1.2' is not a decimal number",        0                      },
    {"0,5",                    ANY,                         "'0,5' is not a decimal number",          0                      },
    {" 1",                     ANY,                         "' 1' is not a decimal number",           0                      },
    {"1 ",                     ANY,                         "'1 ' is not a decimal number",           0                      },
    {"+1",                     ANY,                         "'+1' is not a decimal number",           0                      },
    {"nan",                    ANY,                         "'nan' is not a decimal number",          0                      },
    {"NaN",                    ANY,                         "'NaN' is not a decimal number",          0                      },
    {"inf",                    ANY,                         "'inf' is not a decimal number",          0                      },
    {"-Infinity",              ANY,                         "'-Infinity' is not a decimal number",    0                      },
    {"0x1p3",                  ANY,                         "'0x1p3' is not a decimal number",        0                      },
    {"true",                   ANY,                         "'true' is not a decimal number",         0                      },
    {"1f",                     ANY,                         "'1f' is not a decimal number",           0                      },
    {"1e999",                  ANY,                         "1e999 is too large",                     0                      },
    {"-1e999",                 ANY,                         "-1e999 is too large",                    0                      },
    {"1e999",                  RATE,                        "1e999 is not above 0 and at most 1",     0                      },
    {"1e-999",                 ANY,                         "1e-999 is too small to be told from 0",  0                      },
    {"0",                      RATE,                        "0 is not above 0 and at most 1",         0                      },
    {"1.0000001",              RATE,                        "1.0000001 is not above 0 and at most 1", 0                      },
    {"-0.1",                   NOT_BELOW0,                  "-0.1 is not at least 0",                 0                      },
    {"2",                      {0, 1.5, false, false},      "2 is not within 0 and 1.5",              0                      },
    {"1",                      {0, 1, false, true},         "1 is not at least 0 and below 1",        0                      },
    {"3",                      {-INFINITY, 3, false, true}, "3 is not below 3",                       0                      },
};

static void
check_reals(void)
{
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        double d = 12345;
        df_status s = df_value_real(reals[i].text, &reals[i].range, &d);
        double wanted = reals[i].message ? 12345 : reals[i].value;

        outcome_is(reals[i].message, s, "real number", reals[i].text);
        ok(d == wanted, "  and the result is %s",
           reals[i].message ? "left alone" : "right");
    }
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
        char message[64];
        bool b = false;

        snprintf(message, sizeof message, "'%s' is neither true nor false",
                 bad[i]);
        outcome_is(message, df_value_bool(bad[i], &b), "boolean", bad[i]);
    }
    outcome_is(NULL, df_value_choice("local", places, &choice), "choice",
               "local");
    is_long(2, choice, "  and the result is its index");
    outcome_is("'hos' is not one of host, peer, local",
               df_value_choice("hos", places, &choice), "choice", "hos");
    outcome_is("'' is not one of host, peer, local",
               df_value_choice("", places, &choice), "choice", "");
}

static const struct {
    const char *text;
    uint64_t min, max;
    const char *message;
    uint64_t value;
} sizes[] = {
    {"0",                    0,    UINT64_MAX, NULL,                                           0                 },
    {"4096",                 0,    UINT64_MAX, NULL,                                           4096              },
    {"64KiB",                0,    UINT64_MAX, NULL,                                           65536             },
    {"64K",                  0,    UINT64_MAX, NULL,                                           65536             },
    {"2MiB",                 0,    UINT64_MAX, NULL,                                           2097152           },
    {"3GiB",                 0,    UINT64_MAX, NULL,                                           (uint64_t) 3 << 30},
    {"1TiB",                 0,    UINT64_MAX, NULL,                                           (uint64_t) 1 << 40},
    {"5kB",                  0,    UINT64_MAX, NULL,                                           5000              },
    {"5MB",                  0,    UINT64_MAX, NULL,                                           5000000           },
    {"18446744073709551615", 0,    UINT64_MAX, NULL,                                           UINT64_MAX        },
    {"",                     0,    9,          "'' is not a size such as 4096 or 64KiB",       0                 },
    {"KiB",                  0,    9,          "'KiB' is not a size such as 4096 or 64KiB",    0                 },
    {"1.5GiB",               0,    9,          "'1.5GiB' is not a size such as 4096 or 64KiB", 0                 },
    {"5 KiB",                0,    9,          "'5 KiB' is not a size such as 4096 or 64KiB",  0                 },
    {"5kib",                 0,    9,          "'5kib' is not a size such as 4096 or 64KiB",   0                 },
    {"5q",                   0,    9,          "'5q' is not a size such as 4096 or 64KiB",     0                 },
    {"-1",                   0,    9,          "'-1' is not a size such as 4096 or 64KiB",     0                 },
    {"+1",                   0,    9,          "'+1' is not a size such as 4096 or 64KiB",     0                 },
    {"0x10",                 0,    99,         "'0x10' is not a size such as 4096 or 64KiB",   0                 },
    {"1KiB",                 4096, 1 << 30,    "1KiB is not within 4KiB and 1GiB",             0                 },
    {"2G",                   4096, 1 << 30,    "2G is not within 4KiB and 1GiB",               0                 },
    {"0",                    1,    UINT64_MAX, "0 is not at least 1",                          0                 },
    {"16777216TiB",          0,    UINT64_MAX, "16777216TiB is too large",                     0                 },
    {"99999999999999999999", 0,    UINT64_MAX,
     "99999999999999999999 is too large",                                                      0                 },
};

static void
check_sizes(void)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t n = 12345;
        df_status s =
            df_value_size(sizes[i].text, sizes[i].min, sizes[i].max, &n);
        uint64_t wanted = sizes[i].message ? 12345 : sizes[i].value;

        outcome_is(sizes[i].message, s, "size", sizes[i].text);
        ok(n == wanted, "  and the result is %s",
           sizes[i].message ? "left alone" : "right");
    }
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
    {1,       "1"                      },
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
    {1536,       "1536"                },
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
    struct df_real_range any = ANY;
    char buf[DF_VALUE_TEXT_MAX];
    double d = 0;

    for (size_t i = 0; !found && i < sizeof names / sizeof *names; i++)
        found = setlocale(LC_ALL, names[i]);
    if (!found) {
        for (int i = 0; i < 3; i++)
            skip("no locale with a decimal comma is installed");
        return;
    }
    ok(df_value_real("0.5", &any, &d) == DF_OK && d == 0.5,
       "0.5 is a half under %s", found);
    outcome_is("'0,5' is not a decimal number", df_value_real("0,5", &any, &d),
               found, "0,5");
    is_text("0.5", df_value_real_text(buf, 0.5), "a half is written 0.5");
}

int
main(void)
{
    size_t n = 2 * (sizeof ints / sizeof *ints)
               + 2 * (sizeof reals / sizeof *reals) + 22
               + 2 * (sizeof sizes / sizeof *sizes)
               + 2 * (sizeof lists / sizeof *lists)
               + sizeof real_texts / sizeof *real_texts
               + sizeof size_texts / sizeof *size_texts + 3;

    plan((int) n);
    check_ints();
    check_reals();
    check_words();
    check_sizes();
    check_lists();
    check_texts();
    check_comma_locale();
    return 0;
}

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap/tap.h"
#include "text/jsonl_internal.h"

/* The lines of TEXT as "number:content number:content ".  */
static void
test_lines(void)
{
    static const struct {
        const char *what, *text, *wanted;
    } cases[] = {
        {"an empty file",         "",                  ""           },
        {"white space only",      " \t\r\n\n  \r\n",   ""           },
        {"two lines",             "a\nb\n",            "1:a 2:b "   },
        {"no newline at the end", "a\nb",              "1:a 2:b "   },
        {"blank lines",           "\n\na\n \n\tb\n\n", "3:a 5:\tb " },
        {"CRLF",                  "a\r\n\r\nb\r\n",    "1:a 3:b "   },
        {"a byte order mark",
         "\xEF\xBB\xBF"
         "a\nb",                                       "1:a 2:b "   },
        {"nothing but the mark",  "\xEF\xBB\xBF",      ""           },
        {"two marks",
         "\xEF\xBB\xBF\xEF\xBB\xBF"
         "a",                                          "1:\xEF\xBB\xBF"
         "a "                                          },
        {"a mark further on",
         "a\n\xEF\xBB\xBF"
         "b",                                          "1:a 2:\xEF\xBB\xBF"
         "b "                                          },
        {"part of a mark",        "\xEF\xBB",          "1:\xEF\xBB "},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct df_jsonl it = {(const uint8_t *) cases[c].text,
                              strlen(cases[c].text), 0, 0};
        struct df_line line;
        char seen[128] = "";

        while (df_jsonl_next(&it, &line))
            snprintf(seen + strlen(seen), sizeof seen - strlen(seen),
                     "%llu:%.*s ", (unsigned long long) line.number,
                     (int) line.len, cases[c].text + line.offset);
        if (!ok(strcmp(cases[c].wanted, seen) == 0, "%s", cases[c].what))
            diag("wanted '%s', seen '%s'", cases[c].wanted, seen);
    }
}

/* What is refused, and how the message begins; "" when it isn't.  */
static void
test_parse(void)
{
    /* clang-format off */
    static const struct {
        const char *what, *text, *message;
    } cases[] = {
        {"an object", "{\"a\": 1}", ""},
        {"a pair of surrogates", "{\"a\": \"\\ud83d\\ude00\"}", ""},
        {"an escaped NUL", "{\"a\": \"x\\u0000y\"}", ""},
        {"raw UTF-8", "{\"a\": \"\xF0\x9F\x98\x80\"}", ""},
        {"a lone high surrogate", "{\"a\": \"\\ud83d\"}",
         "f.jsonl:7:14: not JSON: "},
        {"a lone low surrogate", "{\"a\": \"\\ude00\"}",
         "f.jsonl:7:14: not JSON: "},
        {"high, then no low", "{\"a\": \"\\ud83d\\u0041\"}",
         "f.jsonl:7:20: not JSON: "},
        {"a bad byte", "{\"a\": \"\xFF\"}", "f.jsonl:7:7: not JSON: "},
        {"an overlong slash", "{\"a\": \"\xC0\xAF\"}",
         "f.jsonl:7:7: not JSON: "},
        {"a surrogate in UTF-8", "{\"a\": \"\xED\xA0\xBD\"}",
         "f.jsonl:7:7: not JSON: "},
        {"a cut character", "{\"a\": \"\xF0\x9F\"}",
         "f.jsonl:7:7: not JSON: "},
        {"a missing brace", "{\"a\": 1", "f.jsonl:7:7: not JSON: "},
        {"two objects", "{\"a\": 1}{\"b\": 2}", "f.jsonl:7:9: not JSON: "},
        {"one key twice", "{\"a\": 1, \"a\": 2}", "f.jsonl:7:12: not JSON: "},
        {"Python's repr", "{'a': 1}", "f.jsonl:7:2: not JSON: "},
        {"a control character", "{\"a\": \"\t\"}", "f.jsonl:7:7: not JSON: "},
        {"an array", "[{\"a\": 1}]", "f.jsonl:7: is an array, not an object"},
        {"a string", "\"a\"", "f.jsonl:7:3: not JSON: "},
    };
    /* clang-format on */
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const char *wanted = cases[c].message;
        json_t *json;
        df_status status = df_jsonl_parse(&json, cases[c].text,
                                          strlen(cases[c].text), "f.jsonl", 7);
        const char *seen = status == DF_OK ? "" : df_error_last()->message;

        if (!ok((status == DF_OK) == (*wanted == '\0')
                    && strncmp(wanted, seen, strlen(wanted)) == 0
                    && (json != NULL) == (status == DF_OK),
                "%s", cases[c].what))
            diag("wanted '%s', seen '%s'", wanted, seen);
        json_decref(json);
    }
}

static void
test_values(void)
{
    static const char text[] = "{\"a\": \"\\ud83d\\ude00\\u0000.\"}";
    json_t *json, *a;

    if (df_jsonl_parse(&json, text, strlen(text), "f", 1) != DF_OK)
        exit(1);
    a = json_object_get(json, "a");
    ok(json_string_length(a) == 6
           && memcmp(json_string_value(a), "\xF0\x9F\x98\x80\0.", 6) == 0,
       "a pair is one character of 4 bytes, NUL is kept");
    json_decref(json);

    /* A message is one line whatever it quotes.  */
    static const char hostile[] = "{\"a\": x\x1B[31m\xFF}";
    ok(df_jsonl_parse(&json, hostile, strlen(hostile), "f", 1) == DF_FORMAT,
       "escapes are refused");
    const char *p = df_error_last()->message;
    while (*p >= ' ' && *p < 0x7F)
        p++;
    ok(*p == '\0', "and not repeated");
}

int
main(void)
{
    plan(32);
    test_lines();
    test_parse();
    test_values();
    return 0;
}

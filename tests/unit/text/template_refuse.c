/* What templates are refused for, and how they say it.  */

#include <config.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dflash/template.h"
#include "tap/tap.h"

struct refuse_case {
    const char *source;
    df_status status;
    const char *message; /* how it begins */
};

/* At parse time.  */
/* clang-format off */
static const struct refuse_case syntax[] = {
    {"a\n{{ x", DF_FORMAT, "T:2: tag without its end"},
    {"{% if t %}\n\n", DF_FORMAT, "T:1: 'if' without its end"},
    {"{% if t %}\n{% endfor %}", DF_FORMAT, "T:2: unexpected 'endfor'"},
    {"{% endif %}", DF_FORMAT, "T:1: unexpected 'endif'"},
    {"{% else %}", DF_FORMAT, "T:1: unexpected 'else'"},
    {"{% if t %}{% else %}{% elif t %}{% endif %}", DF_FORMAT,
     "T:1: unexpected 'elif'"},
    {"{% for x on l %}", DF_FORMAT, "T:1: unexpected 'on'"},
    {"{% for x.y in l %}{% endfor %}", DF_FORMAT, "T:1: unexpected '.'"},
    {"{% set 1 = 2 %}", DF_FORMAT, "T:1: no name to assign to"},
    {"{% set x = %}", DF_FORMAT, "T:1: unexpected end of the tag"},
    {"{% break %}", DF_FORMAT, "T:1: 'break' outside of a loop"},
    {"{% for x in l %}{% macro m() %}{% break %}", DF_FORMAT,
     "T:1: 'break' outside of a loop"},
    {"{{ x is defined is none }}", DF_FORMAT, "T:1: unexpected 'is'"},
    {"{{ }}", DF_FORMAT, "T:1: unexpected end of the tag"},
    {"{{ 1 2 }}", DF_FORMAT, "T:1: unexpected '2'"},
    {"{{ a b }}", DF_FORMAT, "T:1: unexpected 'b'"},
    {"{{ (1] }}", DF_FORMAT, "T:1: unexpected ']'"},
    {"{{ 1) }}", DF_FORMAT, "T:1: unexpected ')'"},
    {"{{ 'a }}", DF_FORMAT, "T:1: string without its end"},
    {"{{ '\\", DF_FORMAT, "T:1: string without its end"},
    {"{{ '\\u12' }}", DF_FORMAT, "T:1: bad escape"},
    {"{{ '\\ud800' }}", DF_FORMAT, "T:1: bad escape"},
    {"{{ '\\N{DASH}' }}", DF_UNSUPPORTED, "T:1: escape '\\N'"},
    {"{{ '\\\303\251' }}", DF_UNSUPPORTED, "T:1: escape '\\...'"},
    {"{{ 007 }}", DF_FORMAT, "T:1: '007' has leading zeros"},
    {"{{ 12ab }}", DF_FORMAT, "T:1: '12a' is no number"},
    {"{{ 9223372036854775808 }}", DF_UNSUPPORTED,
     "T:1: 9223372036854775808 is beyond 64 bits"},
    {"{{ a ! b }}", DF_FORMAT, "T:1: unexpected '!'"},
    {"{{ \303\251 }}", DF_FORMAT, "T:1: unexpected byte 0xc3 in a tag"},
    {"\377", DF_FORMAT, "T: not UTF-8"},
    {"\n{# a", DF_FORMAT, "T:2: comment without its end"},
    {"{% raw %}a", DF_FORMAT, "T:1: raw block without its end"},
    {"{{ f(a=1, 2) }}", DF_FORMAT, "T:1: unexpected '2'"},
    {"{{ l[] }}", DF_FORMAT, "T:1: unexpected ']'"},
    {"{{ l[1:2:3:4] }}", DF_FORMAT, "T:1: unexpected ':'"},
    {"{{ {1} }}", DF_FORMAT, "T:1: unexpected '}'"},
    {"a\n\n{{ x|foo }}", DF_UNSUPPORTED, "T:3: unknown filter 'foo'"},
    {"a\n{{ x is foo }}", DF_UNSUPPORTED, "T:2: unknown test 'foo'"},
    {"{{ x.foo() }}", DF_UNSUPPORTED, "T:1: unknown method 'foo'"},
    {"{{ l.append(1) }}", DF_UNSUPPORTED, "T:1: unknown method 'append'"},
    {"{% if false %}\n{{ foo(1) }}{% endif %}", DF_UNSUPPORTED,
     "T:2: unknown function 'foo'"},
    {"\n{% include 'x' %}", DF_UNSUPPORTED, "T:2: unknown tag 'include'"},
    {"{% call m() %}", DF_UNSUPPORTED, "T:1: unknown tag 'call'"},
    {"{% for x in l recursive %}", DF_UNSUPPORTED, "T:1: recursive loop"},
    {"{{ joiner }}", DF_UNSUPPORTED, "T:1: 'joiner' is not supported"},
    {"{{ x.__class__ }}", DF_UNSUPPORTED, "T:1: attribute '__class__'"},
    {"{{ dict(*x) }}", DF_UNSUPPORTED, "T:1: '*' before an argument"},
    {"{{ (x)(1) }}{{ [1](2) }}", DF_UNSUPPORTED, "T:1: a call of what is no"},
    {"{{ x|upper(1) }}", DF_FORMAT, "T:1: filter 'upper': too many arguments"},
    {"{{ x|replace('a') }}", DF_FORMAT,
     "T:1: filter 'replace': too few arguments"},
    {"{{ x|trim(foo=1) }}", DF_FORMAT,
     "T:1: filter 'trim' has no argument 'foo'"},
    {"{{ x|trim('a', chars='b') }}", DF_FORMAT,
     "T:1: filter 'trim': 'chars' is given twice"},
    {"{{ x is eq }}", DF_FORMAT, "T:1: test 'eq': too few arguments"},
    {"{{ x|safe ~ '<' }}", DF_UNSUPPORTED, "T:1: filter 'safe' other than"},
};

/* When rendered.  */
static const struct refuse_case running[] = {
    {"{{ raise_exception('no ' ~ t ~ '\n!') }}", DF_INVALID,
     "T:1: the template refuses: no True !"},
    {"\n{{ nope.x }}", DF_FORMAT, "T:2: 'nope' is undefined"},
    {"{{ d.q.x }}", DF_FORMAT, "T:1: 'dict object' has no 'q'"},
    {"{{ d['q']['x'] }}", DF_FORMAT, "T:1: 'dict object' has no 'q'"},
    {"{{ l[7].x }}", DF_FORMAT, "T:1: 'list object' has no '7'"},
    {"{{ d['a\\0'].x }}", DF_FORMAT, "T:1: 'dict object' has no 'a"},
    {"{{ nope + 1 }}", DF_FORMAT, "T:1: 'nope' is undefined"},
    {"{{ nope < 1 }}", DF_FORMAT, "T:1: 'nope' is undefined"},
    {"{{ nope|tojson }}", DF_FORMAT, "T:1: 'nope' is undefined"},
    {"{{ nope() }}{% macro nope() %}{% endmacro %}", DF_FORMAT,
     "T:1: 'nope' is undefined"},
    {"{{ 'a' +\n 1 }}", DF_FORMAT, "T:1: '+' between 'str' and 'int'"},
    {"{{ d.n + 'a' }}", DF_FORMAT, "T:1: '+' between 'NoneType' and 'str'"},
    {"{{ 1 < 'a' }}", DF_FORMAT, "T:1: '<' between 'int' and 'str'"},
    {"{{ 1 in 'a' }}", DF_FORMAT, "T:1: 'in <str>' needs a str, not 'int'"},
    {"{{ 1 in 1 }}", DF_FORMAT, "T:1: 'in' a 'int'"},
    {"{{ 1|length }}", DF_FORMAT, "T:1: a 'int' has no length"},
    {"{{ d.n.strip() }}", DF_FORMAT, "T:1: 'NoneType object' has no 'strip'"},
    {"{{ l.get(1) }}", DF_FORMAT, "T:1: 'list object' has no 'get'"},
    {"{{ d.n[1:] }}", DF_FORMAT, "T:1: a slice of a 'NoneType'"},
    {"{{ l['a':] }}", DF_FORMAT, "T:1: a slice from or to a 'str'"},
    {"{{ l[::0] }}", DF_FORMAT, "T:1: a slice of step 0"},
    {"{{ -'a' }}", DF_FORMAT, "T:1: '-' before a 'str'"},
    {"{{ 1 / 0 }}", DF_FORMAT, "T:1: '/' by zero"},
    {"{{ 1 % 0 }}", DF_FORMAT, "T:1: '%' by zero"},
    {"{{ 1.5 // 0 }}", DF_FORMAT, "T:1: '//' by zero"},
    {"{{ 2 ** 64 }}", DF_UNSUPPORTED, "T:1: '**' goes beyond its range"},
    {"{{ 9223372036854775807 + 1 }}", DF_UNSUPPORTED,
     "T:1: '+' goes beyond its range"},
    {"{{ 1e308 * 10 }}", DF_UNSUPPORTED, "T:1: '*' goes beyond its range"},
    {"{{ '%s' % 1 }}", DF_UNSUPPORTED, "T:1: formatting with '%'"},
    {"{{ 'nan'|float }}", DF_UNSUPPORTED, "T:1: 'nan' as a float"},
    {"{{ 'é'|capitalize }}", DF_UNSUPPORTED, "T:1: capitalize of more"},
    {"{{ 'a'.title }}", DF_UNSUPPORTED, "T:1: method 'title' of a 'str'"},
    {"{{ d.pop }}", DF_UNSUPPORTED, "T:1: method 'pop' of a 'dict'"},
    {"{{ d.items }}", DF_UNSUPPORTED, "T:1: printing of a method"},
    {"{{ d.items() }}", DF_UNSUPPORTED, "T:1: printing of a dict view"},
    {"{{ l|map('upper') }}", DF_UNSUPPORTED, "T:1: printing of a generator"},
    {"{{ l|select|length }}", DF_FORMAT, "T:1: a 'generator' has no length"},
    {"{{ l|map('foo') }}", DF_UNSUPPORTED, "T:1: unknown filter 'foo'"},
    {"{{ l|select('foo') }}", DF_UNSUPPORTED, "T:1: unknown test 'foo'"},
    {"{{ strftime_now('%Y') }}", DF_UNSUPPORTED,
     "T:1: function 'strftime_now' is not supported"},
    {"{% set d.x = 1 %}", DF_FORMAT, "T:1: 'x' is set in a 'dict'"},
    {"{% set a, b = l %}", DF_FORMAT, "T:1: 3 values for 2 names"},
    {"{% for x in 1 %}{% endfor %}", DF_FORMAT,
     "T:1: 'int' object is not iterable"},
    {"{{ {[1]: 2} }}", DF_FORMAT, "T:1: unhashable type: 'list'"},
    {"{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", DF_FORMAT,
     "T:1: macro 'm': too many arguments"},
    {"{% macro m(a) %}{% endmacro %}{{ m(b=2) }}", DF_FORMAT,
     "T:1: macro 'm': a keyword that is no parameter"},
    {"{% macro m() %}\n{{ 1 + '' }}{% endmacro %}\n{{ m() }}", DF_FORMAT,
     "T:2: '+' between 'int' and 'str'"},
    {"{{ ','.join(l) }}", DF_FORMAT, "T:1: join of a 'int'"},
    {"{{ 'a'.split('') }}", DF_FORMAT, "T:1: 'split' at an empty string"},
    {"{{ d|tojson(ensure_ascii=true) }}", DF_UNSUPPORTED,
     "T:1: tojson: ensure_ascii"},
    /* Limits.  */
    {"{{ range(100001) }}", DF_UNSUPPORTED, "T:1: 'range' of over 100000"},
    {"{{ 'ab' * 999999999 }}", DF_UNSUPPORTED, "T:1: more than 64 MiB"},
    {"{% set x = namespace(s='a') %}{% for i in range(99) %}"
     "{% set x.s = x.s + x.s %}{% endfor %}", DF_UNSUPPORTED,
     "T:1: more than 64 MiB"},
    {"{% set x = namespace(s=[1]) %}{% for i in range(99) %}"
     "{% set x.s = x.s + x.s %}{% endfor %}", DF_UNSUPPORTED, "T:1: "},
    {"{% set r = range(99999) %}{% for a in r %}{% for b in r %}{% endfor %}"
     "{% endfor %}", DF_UNSUPPORTED, "T:1: "},
    {"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", DF_UNSUPPORTED,
     "T:1: nested too deeply"},
    {"{% set x = namespace(l=[]) %}{% for i in range(9999) %}"
     "{% set x.l = [x.l] %}{% endfor %}{{ x.l }}", DF_UNSUPPORTED,
     "T:1: nested too deeply"},
    {"{% set x = namespace(l=[]) %}{% for i in range(9999) %}"
     "{% set x.l = [x.l] %}{% endfor %}{{ x.l|tojson }}", DF_UNSUPPORTED,
     "T:1: nested too deeply"},
    {"{% set x = namespace(a=[], b=[]) %}{% for i in range(9999) %}"
     "{% set x.a = [x.a] %}{% set x.b = [x.b] %}{% endfor %}"
     "{{ x.a == x.b }}", DF_UNSUPPORTED, "T:1: nested too deeply"},
};
/* clang-format on */

static df_status
render(const char *source, size_t len, const char *extra, bool *parsed)
{
    struct df_template *tmpl;
    char *text;
    df_status status = df_template_parse(&tmpl, source, len, "T");

    *parsed = status == DF_OK;
    if (status == DF_OK) {
        status = df_template_render(tmpl, "[]", extra, false, &text, &len);
        free(text);
    }
    df_template_free(tmpl);
    return status;
}

static void
check(const struct refuse_case *row, bool runs)
{
    static const char extra[] = "{\"d\": {\"n\": null, \"a\": 1},"
                                " \"l\": [3, 1, 2], \"t\": true}";
    bool parsed;
    df_status status =
        render(row->source, strlen(row->source), extra, &parsed);
    const char *seen = status == DF_OK ? "" : df_error_last()->message;
    bool same = strncmp(seen, row->message, strlen(row->message)) == 0;

    if (status != row->status || !same || parsed != runs)
        diag("status %d, %s, for: %s", status, seen, row->source);
    ok(status == row->status && same && parsed == runs, "%s", row->message);
}

/* OPEN repeated N times, then MIDDLE, then CLOSE as often.  */
static void
check_deep(const char *open, const char *middle, const char *close, int n)
{
    size_t a = strlen(open), c = strlen(close), m = strlen(middle);
    size_t len = 10 + (a + c) * (size_t) n + m;
    char *source = malloc(len), *p = source;
    bool parsed;

    p = stpcpy(p, "{{ ");
    for (int i = 0; i < n; i++)
        p = stpcpy(p, open);
    p = stpcpy(p, middle);
    for (int i = 0; i < n; i++)
        p = stpcpy(p, close);
    p = stpcpy(p, " }}");
    df_status status =
        render(source, (size_t) (p - source), "{\"l\": [1]}", &parsed);

    ok(status == DF_UNSUPPORTED
           && strstr(df_error_last()->message, "nested too deeply"),
       "%d times '%s' is nested too deeply", n, *open ? open : close);
    free(source);
}

enum {
    THREADS = 4,
    TIMES = 50
};

static void *
render_often(void *arg)
{
    const struct df_template *tmpl = arg;
    intptr_t good = 0;

    for (int i = 0; i < TIMES; i++) {
        char *text = NULL;
        size_t len;

        if (df_template_render(tmpl, "[{\"c\": \"x\"}, {\"c\": \"y\"}]", NULL,
                               true, &text, &len)
                == DF_OK
            && strcmp(text, "X1Y2True") == 0)
            good++;
        free(text);
    }
    return (void *) good;
}

static void
check_threads(void)
{
    static const char source[] =
        "{% for m in messages %}{{ m.c|upper }}{{ loop.index }}{% endfor %}"
        "{{ add_generation_prompt }}";
    struct df_template *tmpl;
    pthread_t threads[THREADS];
    intptr_t good = 0;

    if (df_template_parse(&tmpl, source, sizeof source - 1, "T") != DF_OK)
        diag("%s", df_error_last()->message);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, render_often, tmpl);
    for (int i = 0; i < THREADS; i++) {
        void *result;

        pthread_join(threads[i], &result);
        good += (intptr_t) result;
    }
    is_long(THREADS * TIMES, (long) good, "threads share a template");
    df_template_free(tmpl);
}

static void
check_arguments(void)
{
    struct df_template *tmpl;
    char *text;
    size_t len;

    if (df_template_parse(&tmpl, "", 0, "T") != DF_OK)
        diag("%s", df_error_last()->message);
    is_long(DF_FORMAT,
            df_template_render(tmpl, "{}", NULL, false, &text, &len),
            "messages are an array");
    is_long(DF_FORMAT,
            df_template_render(tmpl, "[]", "[]", false, &text, &len),
            "variables are an object");
    is_long(DF_FORMAT, df_template_render(tmpl, "[", NULL, false, &text, &len),
            "messages are JSON");
    is_long(DF_OK, df_template_render(tmpl, "[]", NULL, false, &text, &len),
            "an empty template renders");
    ok(len == 0 && strcmp(text, "") == 0, "to nothing");
    free(text);
    df_template_free(tmpl);
}

#define COUNT(table) ((int) (sizeof(table) / sizeof *(table)))

int
main(void)
{
    plan(COUNT(syntax) + COUNT(running) + 8 + 1 + 5);
    for (int i = 0; i < COUNT(syntax); i++)
        check(&syntax[i], false);
    for (int i = 0; i < COUNT(running); i++)
        check(&running[i], true);
    check_deep("(", "1", ")", 100000);
    check_deep("[", "1", "]", 100000);
    check_deep("not ", "1", "", 100000);
    check_deep("-", "1", "", 100000);
    check_deep("", "l", "[0]", 100000);
    check_deep("", "1", "+1", 100000);
    check_deep("", "l", "|list", 100000);
    check_deep("1 if 1 else ", "1", "", 100000);
    check_threads();
    check_arguments();
    return 0;
}

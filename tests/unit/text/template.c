/* What templates render to.  The wanted texts are those of Python's jinja2,
   in the environment that Hugging Face transformers makes for it.  */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dflash/template.h"
#include "tap/tap.h"

struct render_case {
    const char *source, *wanted;
};

static const char variables[] =
    "{\"user\": \"Zoë\", \"s\": \"  a b  c \", \"f\": 1.5, \"t\": true, "
    "\"z\": 0,"
    " \"d\": {\"b\": 2, \"a\": 1, \"items\": [1], \"n\": null},"
    " \"l\": [3, 1, 2], \"m\": [{\"r\": \"u\", \"c\": \"Hi\","
    " \"a\": {\"b\": 1}}, {\"r\": \"a\", \"c\": \"你好\"}]}";

/* clang-format off */
static const struct render_case whitespace[] = {
    {"a\n", "a"},
    {"a\n\n", "a\n"},
    {"a\r\nb\rc", "a\nb\nc"},
    {"{{ t }}\n b", "True\n b"},
    {"  {{ t }}  ", "  True  "},
    {"x\n  {% if t %}\n  y\n  {% endif %}\nz", "x\n  y\nz"},
    {"x {% if t %} y {% endif %} z", "x  y  z"},
    {"a \n {%- if t -%} \n b \n {%- endif -%} \n c", "abc"},
    {"a\n  {%+ if t +%}\nb\n{% endif %}", "a\n  \nb\n"},
    {"a\n  {# c #}\nb", "a\nb"},
    {"a {#- c -#} b", "ab"},
    {"a\n  {#+ c +#}\nb", "a\n  \nb"},
    {"a \n{{- t -}}\n b", "aTrueb"},
    {"a\302\240{%- if t %}{% endif %}", "a"},
    {"{% raw %}{{ x }}{%{% endraw %}", "{{ x }}{%"},
    {"a\n  {% raw -%}\n b\n  {%- endraw %}\nc", "a\nbc"},
    {" {% raw %}\n{% endraw %}\nx", "\nx"},
    {"{{ {'a': {'b': 1}}['a']['b'] }}", "1"},
    {"{{ '}}' }}{{ '{#' }}", "}}{#"},
    {"{{ t }}\n{%- set x = 1 %}\n{{ x }}", "True1"},
    {"{ { # %} }}", "{ { # %} }}"},
};

static const struct render_case expressions[] = {
    {"{{ 1 }} {{ 1_000 }} {{ 1.0 }} {{ 1e16 }} {{ 1e-5 }} {{ 0.0001 }} {{ 1/3"
     " }} {{ 5e-324 }}",
     "1 1000 1.0 1e+16 1e-05 0.0001 0.3333333333333333 5e-324"},
    {"{{ true }}{{ False }}{{ none }}{{ None }}{{ nope }}|",
     "TrueFalseNoneNone|"},
    {"{{ 'a\\n\\t\\\\\\'\\\"\\x41\\u00e9\\101\\q' \"b\" }}",
     "a\n\t\\'\"AéA\\qb"},
    {"{{ [1, \"it's\", none, 1.5, (1,), (), {\"k\": [true]}] }}",
     "[1, \"it's\", None, 1.5, (1,), (), {'k': [True]}]"},
    {"{{ ['a\"b\\'', '\\n\\x00\\u2028é'] }}",
     "['a\"b\\'', '\\n\\x00\\u2028é']"},
    {"{{ 1 + 2 * 3 - 4 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 % -3 }"
     "} {{ 6 / 2 }}",
     "3 3 -4 2 -2 3.0"},
    {"{{ 2 ** 3 ** 2 }} {{ -2 ** 2 }} {{ 2 ** -1 }} {{ 7.5 // -2 }} {{ -7.5 %"
     " 2 }}",
     "64 4 0.5 -4.0 0.5"},
    {"{{ true + 1 }} {{ -true }} {{ +f }} {{ 0.1 + 0.2 }}",
     "2 -1 1.5 0.30000000000000004"},
    {"{{ 'a' + 'b' }} {{ 'ab' * 2 }} {{ [1] + [2] * 2 }} {{ (1,) + (2,) }}",
     "ab abab [1, 2, 2] (1, 2)"},
    {"{{ 1 ~ none ~ nope ~ 'x' ~ l }}", "1Nonex[3, 1, 2]"},
    {"{{ 1 ~ 1 * 2 ~ -1 }}", "12-1"},
    {"{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 1 == 1.0 == true }} {{ \"a\" < \"b"
     "\" }} {{ [1, 2] < [1, 3] }}",
     "True False True True True"},
    {"{{ nope == nope2 }} {{ nope == none }} {{ d == {\"a\": 1} }} {{ \"1\" ="
     "= 1 }}",
     "True False False False"},
    {"{{ 'a' in 'cat' }} {{ 1 in l }} {{ 'a' in d }} {{ 'q' not in d }} {{ no"
     "t 'a' in 'b' }} {{ 1 in nope }}",
     "True True True True True False"},
    {"{{ 'x' or 1 }} {{ '' or none }} {{ 0 and 1 }} {{ l and d.a }} {{ not l "
     "}}",
     "x None 0 1 False"},
    {"{{ 'a' if t else 'b' }} {{ 'a' if z }}| {{ 1 if z else 2 if z else 3 }}",
     "a | 3"},
    {"{{ l[0] }} {{ l[-1] }} {{ l[9] }}| {{ l.0 }} {{ m[0].a.b }} {{ m[0][\"c"
     "\"] }}",
     "3 2 | 3 1 Hi"},
    {"{{ l[::-1] }} {{ l[1:] }} {{ l[:-1] }} {{ l[::2] }} {{ l[-100:100] }} {"
     "{ l[2:0:-1] }} {{ l[5:] }}",
     "[2, 1, 3] [1, 2] [3, 1] [3, 2] [3, 1, 2] [2, 1] []"},
    {"{{ m[1].c[0] }} {{ m[1].c[-1] }} {{ user[1:] }} {{ user[::-1] }} {{ use"
     "r[::2] }} {{ user[5] }}|",
     "你 好 oë ëoZ Zë |"},
    {"{{ d.a }} {{ d[\"items\"] }} {{ d.items is callable }} {{ d[\"keys\"] i"
     "s callable }} {{ d.q }}|",
     "1 [1] True True |"},
    {"{{ d.get('a') }} {{ d.get('q') }} {{ d.get('q', 7) }} {{ d.keys()|list "
     "}} {{ d.values()|list }} {{ d.items()|list }}",
     "1 None 7 ['b', 'a', 'items', 'n'] [2, 1, [1], None] [('b', 2), ('a', 1)"
     ", ('items', [1]), ('n', None)]"},
    {"{{ s.split() }} {{ s.split(' ') }} {{ s.split(' ', 1) }} {{ s.rsplit(' "
     "', 1) }} {{ s.split(none, 1) }} {{ s.split(maxsplit=2) }}",
     "['a', 'b', 'c'] ['', '', 'a', 'b', '', 'c', ''] ['', ' a b  c '] ['  a "
     "b  c', ''] ['a', 'b  c '] ['a', 'b', 'c ']"},
    {"{{ ''.split() }} {{ ''.split(',') }} {{ 'a,b'.rsplit(',') }} {{ 'a</t>b"
     "</t>'.split('</t>')[-1] }}|",
     "[] [''] ['a', 'b'] |"},
    {"{{ s.strip() }}|{{ s.lstrip() }}|{{ s.rstrip() }}|{{ 'xyaxy'.strip('yx'"
     ") }}|{{ 'éaé'.strip('é') }}|{{ '\\u00a0a\\u3000'.strip() }}",
     "a b  c|a b  c |  a b  c|a|a|a"},
    {"{{ 'abc'.startswith('a') }} {{ 'abc'.endswith(('x', 'c')) }} {{ 'é-a'.f"
     "ind('a') }} {{ 'aXa'.rfind('a') }} {{ 'a'.find('b') }} {{ 'aaa'.count('"
     "a') }}",
     "True True 2 2 -1 3"},
    {"{{ 'straße'.upper() }} {{ 'ÉΑΣ'.lower() }} {{ 'hELLO w'.capitalize() }}",
     "STRASSE éας Hello w"},
    {"{{ 'aaa'.replace('a', 'b', 2) }} {{ 'ab'.replace('', '-') }} {{ ','.joi"
     "n(['a', 'b']) }} {{ 'a\\nb\\r\\nc'.splitlines() }} {{ 'abc'.removeprefi"
     "x('a').removesuffix('c') }}",
     "bba -a-b- a,b ['a', 'b', 'c'] b"},
    {"{{ d is mapping }} {{ l is mapping }} {{ l is iterable }} {{ 1 is itera"
     "ble }} {{ s is sequence }} {{ nope is sequence }}",
     "True False True False True True"},
    {"{{ 1 is number }} {{ true is number }} {{ true is integer }} {{ 1 is in"
     "teger }} {{ f is float }} {{ s is string }} {{ t is boolean }} {{ 1 is "
     "true }} {{ z is false }}",
     "True True False True True True True False False"},
    {"{{ nope is defined }} {{ d.q is defined }} {{ d.n is defined }} {{ nope"
     " is undefined }} {{ d.n is none }} {{ nope is none }} {{ t is not none "
     "}}",
     "False False True True True False True"},
    {"{{ 3 is odd }} {{ 4 is even }} {{ 9 is divisibleby 3 }} {{ 1 is eq 1 }}"
     " {{ 1 is ne(1) }} {{ 2 is gt 1 }} {{ 1 is in [1] }} {{ none is sameas n"
     "one }}",
     "True True True True False True True True"},
    {"{{ dict(a=1, b=2) }} {{ {\"x\": 1, \"y\": {}} }} {{ range(3)|list }} {{"
     " range(5, 0, -2)|list }} {{ range(3)[-1] }}",
     "{'a': 1, 'b': 2} {'x': 1, 'y': {}} [0, 1, 2] [5, 3, 1] 2"},
    {"{{ 1, 2 }} {{ (1, 2)[1] }} {{ [1, 2,] }} {{ (\"a\" ~ \"b\").upper() }}",
     "(1, 2) 2 [1, 2] AB"},
};

static const struct render_case filters[] = {
    {"{{ l|length }} {{ 'é你'|count }} {{ d|length }} {{ nope|length }}",
     "3 2 4 0"},
    {"{{ s|trim }} {{ 'xax'|trim('x') }} {{ 'é'|upper }} {{ 'É'|lower }} {{ '"
     "aB c'|capitalize }}",
     "a b  c a É é Ab c"},
    {"{{ nope|default('x') }} {{ none|default('x') }} {{ none|d('x', true) }}"
     " {{ ''|default('y', boolean=true) }} {{ nope|d }}|",
     "x None x y |"},
    {"{{ d|tojson }} {{ [1, 1.0, none, true, \"é\\\"\\n\\x01\\x7f/\"]|tojson "
     "}} {{ ()|tojson }}",
     "{\"b\": 2, \"a\": 1, \"items\": [1], \"n\": null} [1, 1.0, null, true, "
     "\"é\\\"\\n\\u0001\177/\"] []"},
    {"{{ d|tojson(indent=2) }} {{ [[], {}]|tojson(indent=1) }}",
     "{\n  \"b\": 2,\n  \"a\": 1,\n  \"items\": [\n    1\n  ],\n  \"n\": null"
     "\n} [\n [],\n {}\n]"},
    {"{{ d|tojson(sort_keys=true) }} {{ d|tojson(separators=(',', ':')) }} {{"
     " [1]|tojson(indent='--') }}",
     "{\"a\": 1, \"b\": 2, \"items\": [1], \"n\": null} {\"b\":2,\"a\":1,\"it"
     "ems\":[1],\"n\":null} [\n--1\n]"},
    {"{{ l|join(', ') }} {{ l|join }} {{ m|join('-', attribute='r') }} {{ 'ab"
     "c'|join('.') }} {{ nope|join }}|",
     "3, 1, 2 312 u-a a.b.c |"},
    {"{{ l|first }} {{ l|last }} {{ 'ab'|first }} {{ []|first }}| {{ d|list }"
     "} {{ 'ab'|list }} {{ nope|list }}",
     "3 2 a | ['b', 'a', 'items', 'n'] ['a', 'b'] []"},
    {"{{ '12'|int }} {{ 'x'|int }} {{ 'x'|int(7) }} {{ '3.9'|int }} {{ -3.9|i"
     "nt }} {{ ' 4_2 '|int }} {{ none|int }} {{ '007'|int }}",
     "12 0 7 3 -3 42 0 7"},
    {"{{ '1.5'|float }} {{ 3|float }} {{ 'x'|float }} {{ 'x'|float(2) }} {{ '"
     ".5'|float }} {{ '1e3'|float }} {{ -2|abs }} {{ (-2.5)|abs }}",
     "1.5 3.0 0.0 2 0.5 1000.0 2 2.5"},
    {"{{ 5|string ~ f|string }} {{ 'aXbX'|replace('X', '-') }} {{ 'aXbX'|repl"
     "ace('X', '-', 1) }}",
     "51.5 a-b- a-bX"},
    {"{{ m|map(attribute='r')|join(',') }} {{ m|map(attribute='q', default='D"
     "')|list }} {{ l|map('string')|list }} {{ ['a']|map('replace', 'a', 'b')"
     "|list }}",
     "u,a ['D', 'D'] ['3', '1', '2'] ['b']"},
    {"{{ m|selectattr('r', 'equalto', 'u')|map(attribute='c')|list }} {{ m|se"
     "lectattr('a')|list|length }} {{ m|rejectattr('a')|map(attribute='r')|li"
     "st }} {{ m|selectattr('a', 'defined')|list|length }}",
     "['Hi'] 1 ['a'] 1"},
    {"{{ l|select('>', 1)|list }} {{ l|reject('odd')|list }} {{ [0, 1, '', 'a"
     "']|select|list }} {{ none|map('upper')|list }}",
     "[3, 2] [2] [1, 'a'] []"},
    {"{{ [none, none]|sort }} {{ m|sort(attribute='q')|map(attribute='r')|joi"
     "n }}",
     "[None, None] ua"},
    {"{{ l|sort }} {{ l|sort(reverse=true) }} {{ ['b', 'A']|sort }} {{ ['b', "
     "'A']|sort(case_sensitive=true) }} {{ m|sort(attribute='r')|map(attribut"
     "e='r')|list }}",
     "[1, 2, 3] [3, 2, 1] ['A', 'b'] ['A', 'b'] ['a', 'u']"},
    {"{{ l|reverse|list }} {{ 'abc'|reverse }} {{ ['a', 'A', 'b']|unique|list"
     " }} {{ d|dictsort }} {{ {'a': 1}|items|list }}",
     "[2, 1, 3] cba ['a', 'b'] [('a', 1), ('b', 2), ('items', [1]), ('n', Non"
     "e)] [('a', 1)]"},
    {"{{ 'a\\nb\\n\\nc'|indent }}|{{ 'a\\nb\\n\\nc'|indent(2, true) }}|{{ 'a"
     "\\n\\nb'|indent('> ', blank=true) }}",
     "a\n    b\n\n    c|  a\n  b\n\n  c|a\n> \n> b"},
    {"{{ -2|abs ~ 'a'|upper }} {{ l|length - 1 }} {{ not l|length == 3 }} {{ "
     "('a' ~ 'b')|upper }}",
     "2A 2 False AB"},
    {"{{ s|trim|safe }} {{ l|select('gt', 1)|first }}", "a b  c 3"},
    {"{% set g = l|select %}{{ g|list }}{{ g|list }}{% if g %}true{% endif %}",
     "[3, 1, 2][]true"},
};

static const struct render_case statements[] = {
    {"{% if z %}a{% elif t %}b{% else %}c{% endif %}{% if z %}a{% elif z %}b{"
     "% else %}c{% endif %}",
     "bc"},
    {"{% for x in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ "
     "loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}|{% en"
     "dfor %}",
     "1032TrueFalse3|2121FalseFalse3|3210FalseTrue3|"},
    {"{% for x in l %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }}{{ loop."
     "cycle('a', 'b') }} {% endfor %}",
     "<3>1a 3<1>2b 1<2>a "},
    {"{% for x in l if x > 1 %}{{ x }}{{ loop.length }}{% else %}none{% endfo"
     "r %}{% for x in [] %}x{% else %}empty{% endfor %}{% for x in nope %}x{%"
     " endfor %}",
     "3222empty"},
    {"{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}{% for k in d %}"
     "{{ k }}{% endfor %}{% for c in user %}[{{ c }}]{% endfor %}",
     "b=2;a=1;items=[1];n=None;baitemsn[Z][o][ë]"},
    {"{% for x in l %}{% for y in l %}{{ loop.index }}{% endfor %}{{ loop.ind"
     "ex }} {% endfor %}",
     "1231 1232 1233 "},
    {"{% for x in l %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfo"
     "r %} {% for x in l %}{% for y in l %}{% if y == 1 %}{% break %}{% endif"
     " %}{{ y }}{% endfor %}{{ x }}{% endfor %}",
     "32 333132"},
    {"{% for x in l %}{% if x == 3 %}{% break %}{% endif %}{{ x }}{% else %}e"
     "{% endfor %} {% for x in l %}{{ x }}{% continue %}{% else %}e{% endfor "
     "%} {% for x in l %}{% if x == 1 %}{% break %}{% endif %}{{ x }}{% else "
     "%}e{% endfor %}",
     "e 312e 3"},
    {"{% for x in [1] %}{{ loop is callable }}{% endfor %}", "True"},
    {"{{ 1 is eq(1) is true }} {{ 1 is eq 1 is true }}", "True True"},
    {"{% set x = 5 %}{% for i in l %}{% set x = x + i %}{{ x }} {% endfor %}{"
     "{ x }}{% if t %}{% set x = 9 %}{% endif %}{{ x }}",
     "8 6 7 59"},
    {"{% set ns = namespace(n=0, found=false) %}{% for i in l %}{% set ns.n ="
     " ns.n + i %}{% set ns.last = i %}{% endfor %}{{ ns.n }}{{ ns.found }}{{"
     " ns.last }}{{ ns.q }}",
     "6False2"},
    {"{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set (a, b) = [3, 4] %}{{ a }}{{ b"
     " }}{% set c = 1, 2 %}{{ c }}",
     "1234(1, 2)"},
    {"{% set q %}a{{ t }}b{% endset %}{{ q|upper }}{% set q | upper | replace"
     "(\"A\", \"z\") %}a{{ t }}{% endset %}{{ q }}",
     "ATRUEBzTRUE"},
    {"{% macro m(a, b=2, c=a) %}[{{ a }},{{ b }},{{ c }}]{% endmacro %}{{ m(1"
     ") }}{{ m(1, c=5) }}{{ m() }}{{ m(b=1, a=0) }}{{ m('x')|upper }}",
     "[1,2,1][1,2,5][,2,][0,1,0][X,2,X]"},
    {"{% macro r(n) %}{{ n }}{% if n > 0 %}{{ r(n - 1) }}{% endif %}{% endmac"
     "ro %}{{ r(3) }}",
     "3210"},
    {"{% set x = 1 %}{% macro m() %}{{ x }}{% endmacro %}{% set x = 2 %}{{ m("
     ") }}",
     "2"},
    {"{% generation %}{% set g = 1 %}{{ g }}{% endgeneration %}{{ g }}|",
     "1|"},
    {"{% for i in [1, 2] %}{% macro m() %}{{ i }}{% endmacro %}{{ m() }}{% en"
     "dfor %}",
     "12"},
    {"{% for x in l -%}\n  {{ x }}\n{%- endfor %}", "312"},
};
/* clang-format on */

/* SOURCE as one line without what TAP gives a meaning to.  */
static const char *
label(const char *source)
{
    static char text[72];

    snprintf(text, sizeof text, "%s", source);
    for (char *p = text; *p; p++)
        if (*p < ' ' || *p > '~' || *p == '#')
            *p = ' ';
    return text;
}

static void
check(const struct render_case *row)
{
    struct df_template *tmpl = NULL;
    char *text = NULL;
    size_t len = 0;
    df_status status =
        df_template_parse(&tmpl, row->source, strlen(row->source), "T");

    if (status == DF_OK)
        status = df_template_render(tmpl, "[]", variables, false, &text, &len);
    if (status != DF_OK)
        diag("%s", df_error_last()->message);
    else if (strcmp(text, row->wanted) != 0)
        diag("%s: wanted %zu bytes, seen %zu", label(row->source),
             strlen(row->wanted), len);
    ok(status == DF_OK && len == strlen(text)
           && strcmp(text, row->wanted) == 0,
       "%s", label(row->source));
    free(text);
    df_template_free(tmpl);
}

#define COUNT(table) ((int) (sizeof(table) / sizeof *(table)))

static void
check_all(const struct render_case *rows, int n)
{
    for (int i = 0; i < n; i++)
        check(&rows[i]);
}

int
main(void)
{
    plan(COUNT(whitespace) + COUNT(expressions) + COUNT(filters)
         + COUNT(statements));
    check_all(whitespace, COUNT(whitespace));
    check_all(expressions, COUNT(expressions));
    check_all(filters, COUNT(filters));
    check_all(statements, COUNT(statements));
    return 0;
}

#include <config.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>

#include "text/regex_internal.h"

/* Long texts recurse on the JIT's own stack, which grows to this.  */
enum {
    JIT_STACK_FIRST = 32 << 10,
    JIT_STACK_MOST = 16 << 20
};

struct df_regex {
    pcre2_code *code;
};

struct df_matcher {
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
};

/* Ruby's ^ and $ are those of a line, and a line ends at LF alone.  */
static df_status
compile(struct df_regex *re, const char *pattern, size_t len, uint32_t options,
        const char *where)
{
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    PCRE2_UCHAR text[128];
    PCRE2_SIZE offset = 0;
    int err = 0;

    if (!context)
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory to compile", where);
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    re->code = pcre2_compile((PCRE2_SPTR) pattern, len, PCRE2_UTF | options,
                             &err, &offset, context);
    pcre2_compile_context_free(context);
    if (!re->code) {
        pcre2_get_error_message(err, text, sizeof text);
        return DF_FAIL(DF_UNSUPPORTED, "%s: PCRE2 refuses %.*s: %s", where,
                       len > 200 ? 200 : (int) len, pattern, (char *) text);
    }
    /* Where there is no JIT the interpreter finds the same, slower.  */
    pcre2_jit_compile(re->code, PCRE2_JIT_COMPLETE);
    return DF_OK;
}

df_status
df_regex_new(struct df_regex **out, const char *pattern, size_t len,
             bool literal, const char *where)
{
    struct df_bytes pcre = {0};
    df_status status = DF_OK;

    *out = calloc(1, sizeof **out);
    if (!*out)
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory for a pattern", where);
    if (len == 0)
        status = DF_FAIL(DF_UNSUPPORTED,
                         "%s: an empty pattern is not "
                         "supported",
                         where);
    else if (literal)
        status = compile(*out, pattern, len, PCRE2_LITERAL, where);
    else
        status = df_pattern_translate(&pcre, pattern, len, where);
    if (status == DF_OK && !literal)
        status = compile(*out, pcre.data, pcre.len,
                         PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C,
                         where);
    free(pcre.data);
    if (status != DF_OK) {
        df_regex_free(*out);
        *out = NULL;
    }
    return status;
}

void
df_regex_free(struct df_regex *re)
{
    if (!re)
        return;
    pcre2_code_free(re->code);
    free(re);
}

bool
df_regex_matches_empty(const struct df_regex *re)
{
    uint32_t yes = 1;

    return pcre2_pattern_info(re->code, PCRE2_INFO_MATCHEMPTY, &yes) || yes;
}

df_status
df_matcher_new(struct df_matcher **out)
{
    struct df_matcher *m = calloc(1, sizeof *m);

    *out = m;
    if (!m)
        return DF_FAIL(DF_NO_MEMORY, "no memory for a matcher");
    m->data = pcre2_match_data_create(1, NULL);
    m->context = pcre2_match_context_create(NULL);
    m->stack = pcre2_jit_stack_create(JIT_STACK_FIRST, JIT_STACK_MOST, NULL);
    if (!m->data || !m->context) {
        df_matcher_free(m);
        *out = NULL;
        return DF_FAIL(DF_NO_MEMORY, "no memory for a matcher");
    }
    /* A PCRE2 without JIT gives no stack, and needs none.  */
    if (m->stack)
        pcre2_jit_stack_assign(m->context, NULL, m->stack);
    return DF_OK;
}

void
df_matcher_free(struct df_matcher *m)
{
    if (!m)
        return;
    pcre2_jit_stack_free(m->stack);
    pcre2_match_context_free(m->context);
    pcre2_match_data_free(m->data);
    free(m);
}

df_status
df_matches_next(struct df_matches *ms, const struct df_regex *re,
                struct df_matcher *m)
{
    while (ms->at <= ms->len) {
        int rc = pcre2_match(re->code, (PCRE2_SPTR) ms->text, ms->len, ms->at,
                             PCRE2_NO_UTF_CHECK, m->data, m->context);

        if (rc == PCRE2_ERROR_NOMATCH)
            return DF_END;
        if (rc < 0) {
            PCRE2_UCHAR text[128];

            pcre2_get_error_message(rc, text, sizeof text);
            return DF_FAIL(DF_FORMAT,
                           "pattern of the tokenizer, text of %zu bytes: %s",
                           ms->len, (char *) text);
        }
        const PCRE2_SIZE *pair = pcre2_get_ovector_pointer(m->data);
        size_t start = pair[0], end = pair[1];

        if (start == end && ms->any && ms->end == end) {
            ms->at += ms->at < ms->len ? df_utf8_len(ms->text[ms->at]) : 1;
            continue;
        }
        ms->start = start;
        ms->end = ms->at = end;
        ms->any = true;
        return DF_OK;
    }
    return DF_END;
}

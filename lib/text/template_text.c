/* template_text.c - str() and repr() of values.  */

#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unictype.h>
#include <unistr.h>

#include "text/template_value_internal.h"

static df_status
write_text(struct df_tpl_run *run, struct df_tpl_buf *buf, const char *text)
{
    return df_tpl_write(run, buf, text, strlen(text));
}

/* Does Python print C as itself within quotes?  */
static bool
is_printable(ucs4_t c)
{
    return c == ' '
           || !(uc_is_general_category(c, UC_CATEGORY_C)
                || uc_is_general_category(c, UC_CATEGORY_Z));
}

static df_status
write_char_repr(struct df_tpl_run *run, struct df_tpl_buf *buf, ucs4_t c,
                const char *text, size_t len, char quote)
{
    char escape[16];
    const char *at = c ? strchr("\n\r\t\\", (int) (c < 0x80 ? c : 1)) : NULL;

    if (at)
        snprintf(escape, sizeof escape, "\\%c", "nrt\\"[at - "\n\r\t\\"]);
    else if (c == (ucs4_t) quote)
        snprintf(escape, sizeof escape, "\\%c", quote);
    else if (is_printable(c))
        return df_tpl_write(run, buf, text, len);
    else
        snprintf(escape, sizeof escape,
                 c < 0x100     ? "\\x%02" PRIx32
                 : c < 0x10000 ? "\\u%04" PRIx32
                               : "\\U%08" PRIx32,
                 (uint32_t) c);
    return write_text(run, buf, escape);
}

static df_status
write_text_repr(struct df_tpl_run *run, struct df_tpl_buf *buf,
                struct df_tpl_value v)
{
    const uint8_t *p = (const uint8_t *) v.str, *end = p + v.len;
    char quote = v.len > 0 && memchr(p, '\'', v.len) && !memchr(p, '"', v.len)
                     ? '"'
                     : '\'';

    DF_TRY(df_tpl_write(run, buf, &quote, 1));
    while (p < end) {
        ucs4_t c;
        size_t n = (size_t) u8_mbtouc(&c, p, (size_t) (end - p));

        DF_TRY(write_char_repr(run, buf, c, (const char *) p, n, quote));
        p += n;
    }
    return df_tpl_write(run, buf, &quote, 1);
}

static df_status
write_seq_repr(struct df_tpl_run *run, struct df_tpl_buf *buf,
               struct df_tpl_value v)
{
    bool tuple = v.kind == DF_VAL_TUPLE;

    DF_TRY(write_text(run, buf, tuple ? "(" : "["));
    for (size_t i = 0; i < v.seq->n; i++) {
        DF_TRY(write_text(run, buf, i > 0 ? ", " : ""));
        DF_TRY(df_tpl_write_repr(run, buf, v.seq->items[i]));
    }
    return write_text(run, buf, !tuple ? "]" : v.seq->n == 1 ? ",)" : ")");
}

static df_status
write_dict_repr(struct df_tpl_run *run, struct df_tpl_buf *buf,
                struct df_tpl_value v)
{
    DF_TRY(write_text(run, buf, "{"));
    for (size_t i = 0; i < v.dict->n; i++) {
        DF_TRY(write_text(run, buf, i > 0 ? ", " : ""));
        DF_TRY(df_tpl_write_repr(run, buf, v.dict->items[i].key));
        DF_TRY(write_text(run, buf, ": "));
        DF_TRY(df_tpl_write_repr(run, buf, v.dict->items[i].value));
    }
    return write_text(run, buf, "}");
}

static df_status
write_scalar(struct df_tpl_run *run, struct df_tpl_buf *buf,
             struct df_tpl_value v)
{
    char text[DF_TPL_FLOAT_SIZE];

    switch (v.kind) {
    case DF_VAL_NONE:
        return write_text(run, buf, "None");
    case DF_VAL_BOOL:
        return write_text(run, buf, v.b ? "True" : "False");
    case DF_VAL_INT:
        snprintf(text, sizeof text, "%" PRId64, v.i);
        return write_text(run, buf, text);
    case DF_VAL_FLOAT:
        df_tpl_float_text(v.f, text);
        return write_text(run, buf, text);
    default:
        return DF_TPL_FAIL(run, DF_UNSUPPORTED, "printing of a %s",
                           df_tpl_type(v));
    }
}

df_status
df_tpl_write_repr(struct df_tpl_run *run, struct df_tpl_buf *buf,
                  struct df_tpl_value value)
{
    df_status status;

    DF_TRY(df_tpl_nest(run));
    if (value.kind == DF_VAL_STRING)
        status = write_text_repr(run, buf, value);
    else if (value.kind == DF_VAL_LIST || value.kind == DF_VAL_TUPLE)
        status = write_seq_repr(run, buf, value);
    else if (value.kind == DF_VAL_DICT)
        status = write_dict_repr(run, buf, value);
    else if (value.kind == DF_VAL_UNDEFINED)
        status = write_text(run, buf, "Undefined");
    else
        status = write_scalar(run, buf, value);
    run->depth--;
    return status;
}

df_status
df_tpl_write_str(struct df_tpl_run *run, struct df_tpl_buf *buf,
                 struct df_tpl_value value)
{
    if (value.kind == DF_VAL_STRING)
        return df_tpl_write(run, buf, value.str, value.len);
    if (value.kind == DF_VAL_UNDEFINED)
        return DF_OK;
    return df_tpl_write_repr(run, buf, value);
}

df_status
df_tpl_str(struct df_tpl_run *run, struct df_tpl_value value,
           struct df_tpl_value *out)
{
    struct df_tpl_buf buf = {0};

    *out = value;
    if (value.kind == DF_VAL_STRING)
        return DF_OK;
    DF_TRY(df_tpl_write_str(run, &buf, value));
    *out = df_tpl_string(buf.data, buf.len);
    return DF_OK;
}

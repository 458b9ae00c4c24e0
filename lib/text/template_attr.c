/* template_attr.c - attributes, items and slices.

   As in the reference, VALUE.name prefers a method to an item and
   VALUE['name'] the item to a method; what is neither is undefined.  */

#include <config.h>

#include <string.h>
#include <unistr.h>

#include "text/template_func_internal.h"

/* Set *OUT to loop.NAME, or leave it alone.  */
static void
loop_attr(const struct df_tpl_loop *loop, const char *name,
          struct df_tpl_value *out)
{
    size_t i = loop->index0, n = loop->seq->n;
    const struct {
        const char *name;
        struct df_tpl_value value;
    } attrs[] = {
        {"index",     df_tpl_int((int64_t) i + 1)      },
        {"index0",    df_tpl_int((int64_t) i)          },
        {"revindex",  df_tpl_int((int64_t) (n - i))    },
        {"revindex0", df_tpl_int((int64_t) (n - i - 1))},
        {"first",     df_tpl_bool(i == 0)              },
        {"last",      df_tpl_bool(i + 1 == n)          },
        {"length",    df_tpl_int((int64_t) n)          },
    };

    for (size_t k = 0; k < sizeof attrs / sizeof *attrs; k++)
        if (strcmp(attrs[k].name, name) == 0)
            *out = attrs[k].value;
    if (strcmp(name, "previtem") == 0 && i > 0)
        *out = loop->seq->items[i - 1];
    if (strcmp(name, "nextitem") == 0 && i + 1 < n)
        *out = loop->seq->items[i + 1];
}

/* A method that isn't called: it is there, and true.  */
static df_status
method_attr(struct df_tpl_run *run, struct df_tpl_value value,
            const char *name, bool *found)
{
    const struct df_tpl_func *func = df_tpl_method_find(value.kind, name);

    *found = func != NULL;
    if (func && !func->fn)
        return DF_TPL_FAIL(run, DF_UNSUPPORTED, "method '%s' of a '%s'", name,
                           df_tpl_type(value));
    return DF_OK;
}

df_status
df_tpl_attr(struct df_tpl_run *run, struct df_tpl_value value,
            const char *name, struct df_tpl_value *out)
{
    size_t len = strlen(name);
    bool found;

    *out = df_tpl_undefined(value.kind, name, len);
    if (value.kind == DF_VAL_UNDEFINED)
        return df_tpl_use_undefined(run, value);
    DF_TRY(method_attr(run, value, name, &found));
    if (found)
        *out = (struct df_tpl_value){.kind = DF_VAL_METHOD};
    else if (value.kind == DF_VAL_LOOP)
        loop_attr(value.loop, name, out);
    else if (value.kind == DF_VAL_DICT || value.kind == DF_VAL_NAMESPACE)
        return df_tpl_dict_get(run, value.dict, df_tpl_string(name, len), out);
    return DF_OK;
}

/* The byte at which character I of TEXT begins; TEXT.len if it has no
   more than I.  */
static size_t
char_offset(struct df_tpl_value text, size_t i)
{
    size_t at = 0;

    for (; i > 0 && at < text.len; i--)
        at +=
            (size_t) u8_mblen((const uint8_t *) text.str + at, text.len - at);
    return at;
}

static df_status
seq_item(struct df_tpl_run *run, struct df_tpl_value value, int64_t i,
         struct df_tpl_value *out)
{
    size_t n;

    DF_TRY(df_tpl_length(run, value, &n));
    if (i < 0)
        i += (int64_t) n;
    if (i < 0 || (size_t) i >= n)
        return DF_OK;
    if (value.kind == DF_VAL_STRING) {
        size_t at = char_offset(value, (size_t) i);
        const uint8_t *p = (const uint8_t *) value.str + at;

        *out = df_tpl_string((const char *) p,
                             (size_t) u8_mblen(p, value.len - at));
        return DF_OK;
    }
    *out = value.seq->items[i];
    return DF_OK;
}

/* VALUE has no KEY: its name is for the messages on it.  */
static df_status
undefined_item(struct df_tpl_run *run, struct df_tpl_value value,
               struct df_tpl_value key, struct df_tpl_value *out)
{
    if (key.kind != DF_VAL_STRING)
        DF_TRY(df_tpl_str(run, key, &key));
    *out = df_tpl_undefined(value.kind, key.str, key.len);
    return DF_OK;
}

/* VALUE[KEY] of dicts and sequences; *OUT is left alone if it isn't
   there, or KEY of a wrong type.  */
static df_status
own_item(struct df_tpl_run *run, struct df_tpl_value value,
         struct df_tpl_value key, struct df_tpl_value *out)
{
    bool index = key.kind == DF_VAL_INT || key.kind == DF_VAL_BOOL;

    if (value.kind == DF_VAL_DICT)
        return key.kind > DF_VAL_UNDEFINED && key.kind <= DF_VAL_STRING
                   ? df_tpl_dict_get(run, value.dict, key, out)
                   : DF_OK;
    if (index
        && (value.kind == DF_VAL_STRING || value.kind == DF_VAL_LIST
            || value.kind == DF_VAL_TUPLE || value.kind == DF_VAL_RANGE))
        return seq_item(run, value, key.kind == DF_VAL_BOOL ? key.b : key.i,
                        out);
    return DF_OK;
}

df_status
df_tpl_item(struct df_tpl_run *run, struct df_tpl_value value,
            struct df_tpl_value key, struct df_tpl_value *out)
{
    struct df_tpl_value item = {.kind = DF_VAL_ABSENT};
    char *name;

    if (value.kind == DF_VAL_UNDEFINED)
        return df_tpl_use_undefined(run, value);
    DF_TRY(own_item(run, value, key, &item));
    if (item.kind != DF_VAL_ABSENT) {
        *out = item;
        return DF_OK;
    }
    /* No attribute has a zero byte in its name.  */
    if (key.kind != DF_VAL_STRING || memchr(key.str, '\0', key.len))
        return undefined_item(run, value, key, out);
    DF_TRY(df_tpl_new(run, key.len + 1, &name));
    memcpy(name, key.str, key.len);
    return df_tpl_attr(run, value, name, out);
}

/* The bound I of a slice of N items as Python counts it: within LOW and
   HIGH, from the end if negative.  */
static int64_t
clamp(int64_t i, int64_t n, int64_t low, int64_t high)
{
    if (i < 0)
        i += n;
    return i < low ? low : i > high ? high : i;
}

/* START, STOP and STEP of BOUNDS over N items.  */
static df_status
read_bounds(struct df_tpl_run *run, const struct df_tpl_value bounds[3],
            int64_t n, int64_t out[3])
{
    for (int i = 0; i < 3; i++)
        if (bounds[i].kind != DF_VAL_NONE && bounds[i].kind != DF_VAL_INT)
            return DF_TPL_FAIL(run, DF_FORMAT, "a slice from or to a '%s'",
                               df_tpl_type(bounds[i]));
    out[2] = bounds[2].kind == DF_VAL_INT ? bounds[2].i : 1;
    if (out[2] == 0)
        return DF_TPL_FAIL(run, DF_FORMAT, "a slice of step 0");
    /* A step beyond all items takes one; so sums of it don't overflow.  */
    if (out[2] > n + 1)
        out[2] = n + 1;
    if (out[2] < -n - 1)
        out[2] = -n - 1;
    bool back = out[2] < 0;
    int64_t low = back ? -1 : 0, high = back ? n - 1 : n;

    out[0] = back ? high : low;
    out[1] = back ? low : high;
    for (int i = 0; i < 2; i++)
        if (bounds[i].kind == DF_VAL_INT)
            out[i] = clamp(bounds[i].i, n, low, high);
    return DF_OK;
}

static df_status
slice_text(struct df_tpl_run *run, struct df_tpl_value text,
           const int64_t range[3], struct df_tpl_value *out)
{
    const struct df_tpl_seq *chars;
    struct df_tpl_buf buf = {0};

    if (range[2] == 1) {
        size_t a = char_offset(text, (size_t) range[0]);
        size_t b =
            range[1] > range[0] ? char_offset(text, (size_t) range[1]) : a;

        *out = df_tpl_string(text.str + a, b - a);
        return df_tpl_work(run, b / 16);
    }
    DF_TRY(df_tpl_iterate(run, text, &chars));
    for (int64_t i = range[0]; range[2] > 0 ? i < range[1] : i > range[1];
         i += range[2])
        DF_TRY(
            df_tpl_write(run, &buf, chars->items[i].str, chars->items[i].len));
    *out = df_tpl_string(buf.data, buf.len);
    return DF_OK;
}

df_status
df_tpl_slice(struct df_tpl_run *run, struct df_tpl_value value,
             const struct df_tpl_value bounds[3], struct df_tpl_value *out)
{
    int64_t range[3] = {0};
    size_t n;

    if (value.kind == DF_VAL_UNDEFINED)
        return df_tpl_use_undefined(run, value);
    if (value.kind != DF_VAL_STRING && value.kind != DF_VAL_LIST
        && value.kind != DF_VAL_TUPLE && value.kind != DF_VAL_RANGE)
        return DF_TPL_FAIL(run, DF_FORMAT, "a slice of a '%s'",
                           df_tpl_type(value));
    DF_TRY(df_tpl_length(run, value, &n));
    DF_TRY(read_bounds(run, bounds, (int64_t) n, range));
    if (value.kind == DF_VAL_STRING)
        return slice_text(run, value, range, out);
    DF_TRY(df_tpl_seq_new(run, value.kind, out));
    for (int64_t i = range[0]; range[2] > 0 ? i < range[1] : i > range[1];
         i += range[2])
        DF_TRY(df_tpl_push(run, out->seq, value.seq->items[i]));
    return DF_OK;
}

df_status
df_tpl_path(struct df_tpl_run *run, struct df_tpl_value value,
            struct df_tpl_value path, struct df_tpl_value *out)
{
    const char *p = path.str, *end = p + path.len;

    if (path.kind == DF_VAL_INT)
        return df_tpl_item(run, value, path, out);
    if (path.kind != DF_VAL_STRING)
        return DF_TPL_FAIL(run, DF_FORMAT, "a '%s' as attribute",
                           df_tpl_type(path));
    for (;;) {
        const char *dot = memchr(p, '.', (size_t) (end - p));
        struct df_tpl_value key =
            df_tpl_string(p, (size_t) ((dot ? dot : end) - p));

        if (key.len > 0 && key.str[0] >= '0' && key.str[0] <= '9')
            DF_TRY(df_tpl_read_int(run, key.str, key.len, &key));
        DF_TRY(df_tpl_item(run, value, key, &value));
        if (!dot)
            break;
        p = dot + 1;
    }
    *out = value;
    return DF_OK;
}

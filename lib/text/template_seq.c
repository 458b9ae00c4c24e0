/* template_seq.c - memory, lists, dicts, text that grows, scopes.  */

#include <config.h>

#include <string.h>
#include <unistr.h>

#include "text/template_value_internal.h"

df_status
df_tpl_work(struct df_tpl_run *run, size_t n)
{
    if (n > DF_TPL_MAX_STEPS || (run->steps += (int64_t) n) > DF_TPL_MAX_STEPS)
        return DF_TPL_FAIL(run, DF_UNSUPPORTED,
                           "the template does not end within %d steps",
                           DF_TPL_MAX_STEPS);
    return DF_OK;
}

df_status
df_tpl_nest(struct df_tpl_run *run)
{
    if (++run->depth > DF_TPL_MAX_DEPTH)
        return DF_TPL_FAIL(run, DF_UNSUPPORTED, "nested too deeply");
    return DF_OK;
}

df_status
df_tpl_new(struct df_tpl_run *run, size_t size, void *out)
{
    void *p = df_tpl_alloc(&run->arena, size);

    memcpy(out, &p, sizeof p);
    return p ? df_tpl_work(run, size / 16)
             : df_tpl_no_room(&run->arena, run->name, run->line);
}

/* Room for one more item of SIZE bytes in the array *ITEMS of N.  */
static df_status
reserve(struct df_tpl_run *run, void *items, size_t n, size_t *cap,
        size_t size)
{
    size_t more = *cap ? 2 * *cap : 4;
    void *old, *new;

    if (n < *cap)
        return DF_OK;
    DF_TRY(df_tpl_new(run, more * size, &new));
    memcpy(&old, items, sizeof old);
    if (n > 0)
        memcpy(new, old, n * size);
    memcpy(items, &new, sizeof new);
    *cap = more;
    return DF_OK;
}

df_status
df_tpl_seq_new(struct df_tpl_run *run, enum df_tpl_kind kind,
               struct df_tpl_value *out)
{
    struct df_tpl_seq *seq;

    DF_TRY(df_tpl_new(run, sizeof *seq, &seq));
    *out = (struct df_tpl_value){.kind = kind, .seq = seq};
    return DF_OK;
}

df_status
df_tpl_push(struct df_tpl_run *run, struct df_tpl_seq *seq,
            struct df_tpl_value item)
{
    DF_TRY(reserve(run, &seq->items, seq->n, &seq->cap, sizeof item));
    seq->items[seq->n++] = item;
    return df_tpl_work(run, 1);
}

df_status
df_tpl_pair(struct df_tpl_run *run, struct df_tpl_value a,
            struct df_tpl_value b, struct df_tpl_value *out)
{
    struct df_tpl_value pair;

    DF_TRY(df_tpl_seq_new(run, DF_VAL_TUPLE, &pair));
    DF_TRY(df_tpl_push(run, pair.seq, a));
    DF_TRY(df_tpl_push(run, pair.seq, b));
    *out = pair;
    return DF_OK;
}

df_status
df_tpl_dict_new(struct df_tpl_run *run, enum df_tpl_kind kind,
                struct df_tpl_value *out)
{
    struct df_tpl_dict *dict;

    DF_TRY(df_tpl_new(run, sizeof *dict, &dict));
    *out = (struct df_tpl_value){.kind = kind, .dict = dict};
    return DF_OK;
}

/* Set *OUT to the entry of KEY, or NULL.  */
static df_status
find_entry(struct df_tpl_run *run, const struct df_tpl_dict *dict,
           struct df_tpl_value key, struct df_tpl_entry **out)
{
    bool same = false;

    *out = NULL;
    if (key.kind > DF_VAL_NONE && !df_tpl_is_number(key)
        && key.kind != DF_VAL_STRING && key.kind != DF_VAL_TUPLE)
        return DF_TPL_FAIL(run, DF_FORMAT, "unhashable type: '%s'",
                           df_tpl_type(key));
    DF_TRY(df_tpl_work(run, dict->n / 4));
    for (size_t i = 0; i < dict->n && !same; i++) {
        DF_TRY(df_tpl_equal(run, dict->items[i].key, key, &same));
        if (same)
            *out = &dict->items[i];
    }
    return DF_OK;
}

df_status
df_tpl_dict_set(struct df_tpl_run *run, struct df_tpl_dict *dict,
                struct df_tpl_value key, struct df_tpl_value value)
{
    struct df_tpl_entry *entry;

    DF_TRY(find_entry(run, dict, key, &entry));
    if (entry) {
        entry->value = value;
        return DF_OK;
    }
    DF_TRY(reserve(run, &dict->items, dict->n, &dict->cap, sizeof *entry));
    dict->items[dict->n++] = (struct df_tpl_entry){key, value};
    return DF_OK;
}

df_status
df_tpl_dict_get(struct df_tpl_run *run, const struct df_tpl_dict *dict,
                struct df_tpl_value key, struct df_tpl_value *out)
{
    struct df_tpl_entry *entry;

    DF_TRY(find_entry(run, dict, key, &entry));
    if (entry)
        *out = entry->value;
    return DF_OK;
}

df_status
df_tpl_write(struct df_tpl_run *run, struct df_tpl_buf *buf, const char *text,
             size_t len)
{
    if (len > DF_TPL_MAX_TEXT - buf->len)
        return DF_TPL_FAIL(run, DF_UNSUPPORTED, "more than %d MiB of text",
                           DF_TPL_MAX_TEXT >> 20);
    DF_TRY(df_tpl_work(run, len / 16));
    if (len > buf->cap - buf->len) {
        size_t cap = 2 * (buf->len + len) + 64;
        char *data;

        DF_TRY(df_tpl_new(run, cap, &data));
        if (buf->len > 0)
            memcpy(data, buf->data, buf->len);
        buf->data = data;
        buf->cap = cap;
    }
    if (len > 0)
        memcpy(buf->data + buf->len, text, len);
    buf->len += len;
    return DF_OK;
}

static df_status
characters(struct df_tpl_run *run, struct df_tpl_value text,
           struct df_tpl_seq *seq)
{
    for (size_t i = 0, n; i < text.len; i += n) {
        n = (size_t) u8_mblen((const uint8_t *) text.str + i, text.len - i);
        DF_TRY(df_tpl_push(run, seq, df_tpl_string(text.str + i, n)));
    }
    return DF_OK;
}

df_status
df_tpl_iterate(struct df_tpl_run *run, struct df_tpl_value value,
               const struct df_tpl_seq **out)
{
    struct df_tpl_value seq;

    if (df_tpl_is_seq(value) && value.kind != DF_VAL_GEN) {
        *out = value.seq;
        return DF_OK;
    }
    DF_TRY(df_tpl_seq_new(run, DF_VAL_LIST, &seq));
    *out = seq.seq;
    switch (value.kind) {
    case DF_VAL_GEN:
        seq.seq->n = value.seq->n - value.seq->at;
        if (seq.seq->n > 0)
            seq.seq->items = value.seq->items + value.seq->at;
        value.seq->at = value.seq->n;
        return DF_OK;
    case DF_VAL_STRING:
        return characters(run, value, seq.seq);
    case DF_VAL_DICT:
        for (size_t i = 0; i < value.dict->n; i++)
            DF_TRY(df_tpl_push(run, seq.seq, value.dict->items[i].key));
        return DF_OK;
    case DF_VAL_UNDEFINED:
        return DF_OK;
    default:
        return DF_TPL_FAIL(run, DF_FORMAT, "'%s' object is not iterable",
                           df_tpl_type(value));
    }
}

df_status
df_tpl_bind(struct df_tpl_run *run, struct df_tpl_frame *frame,
            const char *name, struct df_tpl_value value)
{
    DF_TRY(df_tpl_work(run, frame->n / 4));
    for (size_t i = 0; i < frame->n; i++)
        if (strcmp(frame->items[i].name, name) == 0) {
            frame->items[i].value = value;
            return DF_OK;
        }
    DF_TRY(reserve(run, &frame->items, frame->n, &frame->cap,
                   sizeof *frame->items));
    frame->items[frame->n++] = (struct df_tpl_binding){name, value};
    return DF_OK;
}

df_status
df_tpl_enter(struct df_tpl_run *run, struct df_tpl_frame *parent)
{
    struct df_tpl_frame *frame;

    DF_TRY(df_tpl_new(run, sizeof *frame, &frame));
    frame->parent = parent;
    run->frame = frame;
    return DF_OK;
}

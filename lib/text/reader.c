#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/dataset_internal.h"
#include "text/jsonl_internal.h"

/* How samples are numbered: record << PART_BITS | part.  */
enum {
    PART_BITS = 16
};

df_status
df_reader_new(struct df_reader **out, const struct df_dataset *ds)
{
    struct df_reader *r = calloc(1, sizeof *r);

    *out = r;
    if (!r)
        return DF_FAIL(DF_NO_MEMORY, "a reader of samples");
    r->ds = ds;
    /* A copy of its own: reference counts aren't shared among threads.  */
    r->extra = json_deep_copy(ds->vars);
    if (r->extra)
        return DF_OK;
    df_reader_free(r);
    *out = NULL;
    return DF_FAIL(DF_NO_MEMORY, "the variables of a chat template");
}

/* Forget the record at hand.  */
static void
clear_record(struct df_reader *r)
{
    if (r->is_chat)
        df_chat_clear(&r->chat);
    r->is_chat = false;
    if (r->record.tools)
        json_object_del(r->extra, "tools");
    df_record_clear(&r->record);
    free(r->where);
    r->where = NULL;
    r->reason = DF_DATA_USED;
    r->parts = 0;
}

void
df_reader_free(struct df_reader *r)
{
    if (!r)
        return;
    clear_record(r);
    json_decref(r->extra);
    df_ids_free(&r->ids);
    free(r->given);
    free(r->mask);
    free(r);
}

df_status
df_reader_strict(const struct df_reader *r, enum df_data_reason reason)
{
    const char *detail = r->is_chat ? r->chat.detail : "";

    if (reason == DF_DATA_USED || !r->ds->o.strict)
        return DF_OK;
    return DF_FAIL(DF_INVALID, "%s: %s%s%s", r->where,
                   df_data_reason_text(reason), *detail ? ": " : "", detail);
}

static df_status
find_chat(struct df_reader *r)
{
    const struct df_dataset *ds = r->ds;
    struct df_chat_def def = {
        .tmpl = ds->tmpl,
        .source = ds->source,
        .messages = r->record.messages,
        .extra = r->extra,
        .has_tools = json_array_size(r->record.tools) > 0,
        .last_turn_only = ds->o.last_turn_only,
        .prompt = ds->o.prompts,
        .where = r->where,
    };

    if (!ds->tmpl)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: a conversation, but there is no chat template",
                       r->where);
    if (r->record.tools && json_object_set(r->extra, "tools", r->record.tools))
        return DF_FAIL(DF_NO_MEMORY, "%s: tools", r->where);
    r->is_chat = true;
    DF_TRY(df_chat_init(&r->chat, &def));
    r->reason = r->chat.reason;
    r->parts = r->chat.parts;
    return df_reader_strict(r, r->reason);
}

static df_status
parse(struct df_reader *r, const struct df_place *place)
{
    const struct df_dataset *ds = r->ds;
    const char *name = ds->names[place->file];
    size_t max = ds->o.max_line;
    json_t *json;

    if (asprintf(&r->where, "%s:%llu", name, (unsigned long long) place->line)
        < 0) {
        r->where = NULL;
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory for its name", name);
    }
    if (place->len > max)
        return DF_FAIL(DF_FORMAT, "%s: a line of %zu bytes, more than %zu",
                       r->where, place->len, max);
    DF_TRY(df_jsonl_parse(
        &json, (const char *) ds->files[place->file].data + place->offset,
        place->len, name, place->line));
    return ds->o.prompts ? df_record_init_prompt(&r->record, json, r->where)
                         : df_record_init(&r->record, json, r->where);
}

df_status
df_reader_record(struct df_reader *r, size_t index)
{
    clear_record(r);
    DF_TRY(parse(r, &r->ds->places[index]));
    if (r->record.shape != DF_SHAPE_IDS && !r->ds->o.tokenizer)
        return DF_FAIL(DF_UNSUPPORTED, "%s: a text, but there is no tokenizer",
                       r->where);
    if (r->record.shape == DF_SHAPE_CHAT
        || (r->record.shape == DF_SHAPE_PROMPT && r->ds->tmpl))
        return find_chat(r);
    r->parts = 1;
    return DF_OK;
}

/* Make room for N tokens, and never none.  */
static df_status
reserve(struct df_reader *r, size_t n)
{
    if (n < r->room)
        return DF_OK;
    free(r->given);
    free(r->mask);
    r->room = n + n / 2 + 1;
    r->given = malloc(r->room * sizeof *r->given);
    r->mask = malloc(r->room);
    if (r->given && r->mask)
        return DF_OK;
    r->room = 0;
    return DF_FAIL(DF_NO_MEMORY, "%s: %zu tokens", r->where, n);
}

/* Tokenise the LEN bytes at TEXT; the N SPANS of it are supervised.  */
static df_status
encode(struct df_reader *r, const char *text, size_t len, int flags,
       const struct df_span *spans, size_t n)
{
    df_error why;

    df_ids_clear(&r->ids);
    if (df_tokenizer_encode(r->ds->o.tokenizer, text, len, flags, &r->ids)
        != DF_OK) {
        why = *df_error_last();
        return DF_FAIL(why.status, "%s: %.400s", r->where, why.message);
    }
    DF_TRY(reserve(r, r->ids.n));
    for (size_t i = 0; i < r->ids.n; i++)
        if (r->ids.data[i] >= r->ds->o.vocab_size)
            return DF_FAIL(DF_FORMAT,
                           "%s: the tokenizer's id %d is beyond the model's "
                           "vocabulary of %d",
                           r->where, r->ids.data[i], r->ds->o.vocab_size);
    df_lossmask_set(r->mask, &r->ids, spans, n);
    return DF_OK;
}

/* A prompt and its completion, where no template says how to join them.  */
static df_status
encode_prompt(struct df_reader *r)
{
    const struct df_record *rec = &r->record;
    size_t begin = json_string_length(rec->prompt);

    if (r->ds->o.prompts)
        return encode(r, json_string_value(rec->prompt), begin, DF_ADD_SPECIAL,
                      NULL, 0);
    size_t len = begin + json_string_length(rec->completion);
    char *text = malloc(len + 1);
    df_status status;

    if (!text)
        return DF_FAIL(DF_NO_MEMORY, "%s: %zu bytes", r->where, len);
    memcpy(text, json_string_value(rec->prompt), begin);
    memcpy(text + begin, json_string_value(rec->completion), len - begin);
    status =
        encode(r, text, len, DF_ADD_SPECIAL, &(struct df_span){begin, len}, 1);
    free(text);
    return status;
}

static df_status
encode_text(struct df_reader *r)
{
    const json_t *text = r->record.text;

    DF_TRY(encode(r, json_string_value(text), json_string_length(text),
                  DF_ADD_SPECIAL, NULL, 0));
    memset(r->mask, !r->ds->o.prompts, r->ids.n);
    return DF_OK;
}

static df_status
encode_chat(struct df_reader *r, size_t part)
{
    const struct df_span *spans;
    size_t n;

    DF_TRY(df_chat_text(&r->chat, part, &spans, &n));
    return encode(r, r->chat.text, r->chat.len, 0, spans, n);
}

/* How many of the N tokens that came with MASK are the prompt: those before
   the first, or LAST, stretch of supervised ones.  */
static size_t
prompt_length(const uint8_t *mask, size_t n, bool last)
{
    size_t end = n, begin = 0;

    if (!last) {
        while (begin < n && !mask[begin])
            begin++;
        return begin;
    }
    while (end > 0 && !mask[end - 1])
        end--;
    for (begin = end; begin > 0 && mask[begin - 1];)
        begin--;
    return end > 0 ? begin : n;
}

/* The tokens and the mask of PART, of any shape and length.  */
static df_status
tokens_of(struct df_reader *r, size_t part, struct df_sample *out)
{
    if (r->record.shape == DF_SHAPE_IDS) {
        out->n = json_array_size(r->record.ids);
        DF_TRY(reserve(r, out->n));
        DF_TRY(df_record_ids(&r->record, r->ds->o.vocab_size, r->given,
                             r->mask, r->where));
        out->ids = r->given;
        if (r->ds->o.prompts) {
            out->n = prompt_length(r->mask, out->n, r->ds->o.last_turn_only);
            memset(r->mask, 0, out->n);
        }
    } else {
        if (r->is_chat)
            DF_TRY(encode_chat(r, part));
        else if (r->record.shape == DF_SHAPE_PROMPT)
            DF_TRY(encode_prompt(r));
        else
            DF_TRY(encode_text(r));
        out->n = r->ids.n;
        out->ids = r->ids.data;
    }
    out->loss_mask = r->mask;
    return DF_OK;
}

/* Why the first N of all tokens are no sample, if they are none.  */
static enum df_data_reason
judge(const struct df_dataset *ds, const struct df_sample *all, size_t n)
{
    const struct df_batch_limits *limits = ds->o.limits;

    if (n == 0)
        return DF_DATA_NO_TOKEN;
    if (ds->o.prompts)
        return all->n < ds->o.max_length ? DF_DATA_USED : DF_DATA_LONG;
    if (!limits || df_anchor_candidates(all->loss_mask, n, limits) > 0)
        return DF_DATA_USED;
    return df_anchor_candidates(all->loss_mask, all->n, limits) > 0
               ? DF_DATA_TRUNCATED
               : DF_DATA_NO_ANCHOR;
}

df_status
df_reader_part(struct df_reader *r, size_t part, struct df_entry *entry,
               struct df_sample *out)
{
    size_t max = r->ds->o.max_length, n;

    DF_TRY(tokens_of(r, part, out));
    n = out->n < max ? out->n : max;
    entry->reason = (uint8_t) judge(r->ds, out, n);
    entry->truncated = n < out->n;
    entry->part = (uint16_t) part;
    entry->n = (uint32_t) n;
    entry->supervised = 0;
    for (size_t i = 0; i < n; i++)
        entry->supervised += out->loss_mask[i];
    out->n = n;
    return df_reader_strict(r, entry->reason);
}

/* Sample number I from the cache.  */
static void
take_cached(const struct df_dataset *ds, const struct df_entry *entry,
            struct df_sample *out)
{
    const struct df_chunk *chunk = &ds->chunks[entry->record / DF_CHUNK];

    out->ids = chunk->ids + entry->at;
    out->loss_mask = chunk->mask + entry->at;
    out->n = entry->n;
}

uint64_t
df_dataset_id(const struct df_dataset *ds, size_t i)
{
    const struct df_entry *e = &ds->entries[i];

    return (uint64_t) e->record << PART_BITS | e->part;
}

df_status
df_reader_read(struct df_reader *r, size_t i, struct df_sample *out)
{
    const struct df_entry *known = &r->ds->entries[i];
    struct df_entry now;

    if (r->ds->cached) {
        take_cached(r->ds, known, out);
    } else {
        DF_TRY(df_reader_record(r, known->record));
        if (known->part < r->parts)
            DF_TRY(df_reader_part(r, known->part, &now, out));
        if (known->part >= r->parts || now.n != known->n
            || now.reason != DF_DATA_USED)
            return DF_FAIL(DF_IO, "%s: has changed since it was opened",
                           r->where);
    }
    out->id = df_dataset_id(r->ds, i);
    return DF_OK;
}

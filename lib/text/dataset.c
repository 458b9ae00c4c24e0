#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_internal.h"
#include "text/dataset_internal.h"
#include "text/jsonl_internal.h"

/* Longest line unless the options say otherwise.  */
#define MAX_LINE ((size_t) 256 << 20)

const char *
df_data_reason_text(enum df_data_reason reason)
{
    switch (reason) {
#define X(name, text)    \
    case DF_DATA_##name: \
        return text;
        DF_DATA_REASONS(X)
#undef X
    default:
        return "used";
    }
}

static df_status
check_options(struct df_data_options *o)
{
    if (o->max_line == 0)
        o->max_line = MAX_LINE;
    if (o->max_line > INT32_MAX)
        return DF_FAIL(DF_INVALID, "lines of %zu bytes, more than 2147483647",
                       o->max_line);
    if (o->max_length < 1 || o->max_length > INT32_MAX)
        return DF_FAIL(DF_INVALID,
                       "samples of %zu tokens, not within 1 and 2147483647",
                       o->max_length);
    if (o->vocab_size < 1)
        return DF_FAIL(DF_INVALID, "a vocabulary of %d", o->vocab_size);
    if (o->threads < 1)
        return DF_FAIL(DF_INVALID, "no thread to read data");
    return DF_OK;
}

/* The tokens that templates spell out: bos_token and so on.  */
static df_status
add_special_tokens(json_t *vars, const struct df_tokenizer *tok)
{
    static const char *const roles[] = {"bos", "eos", "unk", "sep",
                                        "pad", "cls", "mask"};
    char name[16];

    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        int32_t id = df_tokenizer_special(tok, roles[i]);
        const char *token = id < 0 ? NULL : df_tokenizer_token(tok, id);

        if (!token)
            continue;
        snprintf(name, sizeof name, "%s_token", roles[i]);
        if (json_object_set_new(vars, name, json_string(token)))
            return DF_FAIL(DF_NO_MEMORY, "the variable %s", name);
    }
    return DF_OK;
}

static df_status
read_vars(struct df_dataset *ds)
{
    const char *text = ds->o.template_vars;
    json_t *more = NULL;

    ds->vars = json_object();
    if (!ds->vars)
        return DF_FAIL(DF_NO_MEMORY, "the variables of a chat template");
    if (ds->o.tokenizer)
        DF_TRY(add_special_tokens(ds->vars, ds->o.tokenizer));
    if (!text)
        return DF_OK;
    DF_TRY(df_json_parse(&more, text, strlen(text), "template variables"));
    df_status status = DF_OK;
    if (!json_is_object(more))
        status =
            DF_FAIL(DF_FORMAT, "template variables: are %s, not an object",
                    df_json_type_name(more));
    else if (json_object_update(ds->vars, more))
        status = DF_FAIL(DF_NO_MEMORY, "the variables of a chat template");
    json_decref(more);
    return status;
}

static df_status
read_template(struct df_dataset *ds)
{
    const struct df_data_options *o = &ds->o;
    const char *source = o->chat_template, *name = o->chat_template_name;

    if (!source && o->tokenizer)
        source = df_tokenizer_chat_template(o->tokenizer);
    if (!source)
        return DF_OK;
    ds->source = strdup(source);
    if (!ds->source)
        return DF_FAIL(DF_NO_MEMORY, "a chat template");
    return df_template_parse(&ds->tmpl, source, strlen(source),
                             name ? name : "chat template");
}

static df_status
map_file(struct df_dataset *ds, size_t i, const char *name)
{
    ds->names[i] = strdup(name);
    if (!ds->names[i])
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory for its name", name);
    DF_TRY(df_file_map(&ds->files[i], name));
    ds->bytes += ds->files[i].size;
    return DF_OK;
}

static df_status
map_files(struct df_dataset *ds, const char *const *files, size_t n)
{
    ds->names = calloc(n + 1, sizeof *ds->names);
    ds->files = calloc(n + 1, sizeof *ds->files);
    if (!ds->names || !ds->files)
        return DF_FAIL(DF_NO_MEMORY, "%zu file names", n);
    if (n == 0)
        return DF_FAIL(DF_INVALID, "no data file is given");
    ds->n_files = n;
    for (size_t i = 0; i < n; i++)
        DF_TRY(map_file(ds, i, files[i]));
    return DF_OK;
}

static df_status
add_place(struct df_dataset *ds, size_t *cap, size_t file,
          const struct df_line *line)
{
    if (ds->n_records == *cap) {
        size_t more = *cap ? *cap * 2 : 1024;
        void *places = realloc(ds->places, more * sizeof *ds->places);

        if (!places)
            return DF_FAIL(DF_NO_MEMORY, "%s: %zu records", ds->names[file],
                           more);
        ds->places = places;
        *cap = more;
    }
    if (ds->n_records == UINT32_MAX)
        return DF_FAIL(DF_UNSUPPORTED, "%s:%llu: more than 4294967295 records",
                       ds->names[file], (unsigned long long) line->number);
    ds->places[ds->n_records++] =
        (struct df_place){file, line->offset, line->len, line->number};
    return DF_OK;
}

static df_status
find_lines(struct df_dataset *ds)
{
    size_t cap = 0;

    for (size_t i = 0; i < ds->n_files; i++) {
        struct df_jsonl it = {ds->files[i].data, ds->files[i].size, 0, 0};
        struct df_line line;

        while (df_jsonl_next(&it, &line))
            DF_TRY(add_place(ds, &cap, i, &line));
    }
    ds->report.records = ds->n_records;
    ds->n_chunks = (ds->n_records + DF_CHUNK - 1) / DF_CHUNK;
    ds->chunks = calloc(ds->n_chunks + 1, sizeof *ds->chunks);
    if (!ds->chunks)
        return DF_FAIL(DF_NO_MEMORY, "%s: %zu records", ds->names[0],
                       ds->n_records);
    return DF_OK;
}

/* Count ENTRY in the report, and list it if it is a sample.  */
static void
take_entry(struct df_dataset *ds, const struct df_entry *entry)
{
    const struct df_place *place = &ds->places[entry->record];
    struct df_data_report *r = &ds->report;

    if (entry->reason == DF_DATA_USED) {
        r->samples++;
        r->truncated += entry->truncated;
        r->tokens += entry->n;
        r->supervised += entry->supervised;
        ds->lengths[ds->n] = entry->n;
        ds->entries[ds->n++] = *entry;
    } else if (r->dropped[entry->reason]++ == 0) {
        r->first_file[entry->reason] = place->file;
        r->first_line[entry->reason] = place->line;
    }
}

/* Put what the threads found behind each other.  */
static df_status
merge(struct df_dataset *ds)
{
    size_t n = 0;

    for (size_t c = 0; c < ds->n_chunks; c++)
        n += ds->chunks[c].n;
    ds->entries = calloc(n + 1, sizeof *ds->entries);
    ds->lengths = calloc(n + 1, sizeof *ds->lengths);
    if (!ds->entries || !ds->lengths)
        return DF_FAIL(DF_NO_MEMORY, "%zu samples", n);
    for (size_t c = 0; c < ds->n_chunks; c++) {
        struct df_chunk *chunk = &ds->chunks[c];

        for (size_t i = 0; i < chunk->n; i++)
            take_entry(ds, &chunk->entries[i]);
        free(chunk->entries);
        chunk->entries = NULL;
        if (!ds->cached)
            df_chunk_clear(chunk);
    }
    return DF_OK;
}

static df_status
refuse_empty(const struct df_dataset *ds)
{
    const struct df_data_report *r = &ds->report;
    char more[32] = "", reasons[400] = "";
    int at = 0;

    if (ds->n_files > 1)
        snprintf(more, sizeof more, " and %zu more", ds->n_files - 1);
    for (size_t i = 1; i < DF_DATA_N_REASONS; i++)
        if (r->dropped[i] > 0 && at < (int) sizeof reasons - 1)
            at += snprintf(reasons + at, sizeof reasons - (size_t) at,
                           "%s %s: %llu", at > 0 ? ";" : ",",
                           df_data_reason_text((enum df_data_reason) i),
                           (unsigned long long) r->dropped[i]);
    return DF_FAIL(DF_FORMAT, "%s%s: no usable record: %llu read%s",
                   ds->names[0], more, (unsigned long long) r->records,
                   reasons);
}

static df_status
open_all(struct df_dataset *ds, const char *const *files, size_t n)
{
    DF_TRY(check_options(&ds->o));
    DF_TRY(read_vars(ds));
    DF_TRY(read_template(ds));
    DF_TRY(map_files(ds, files, n));
    DF_TRY(find_lines(ds));
    DF_TRY(df_dataset_index(ds));
    DF_TRY(merge(ds));
    return ds->n > 0 ? DF_OK : refuse_empty(ds);
}

df_status
df_dataset_open(struct df_dataset **out, const char *const *files, size_t n,
                const struct df_data_options *options)
{
    struct df_dataset *ds = calloc(1, sizeof *ds);
    df_status status;

    *out = NULL;
    if (!ds)
        return DF_FAIL(DF_NO_MEMORY, "a data set");
    ds->o = *options;
    if (options->limits) {
        ds->limits = *options->limits;
        ds->o.limits = &ds->limits;
    }
    status = open_all(ds, files, n);
    /* These were needed to open; they may not outlive this call.  */
    ds->o.chat_template = ds->o.chat_template_name = NULL;
    ds->o.template_vars = NULL;
    ds->o.progress = NULL;
    if (status != DF_OK) {
        df_dataset_free(ds);
        return status;
    }
    *out = ds;
    return DF_OK;
}

void
df_dataset_free(struct df_dataset *ds)
{
    if (!ds)
        return;
    for (size_t i = 0; i < ds->n_files; i++) {
        free(ds->names[i]);
        if (ds->files[i].data)
            df_file_unmap(&ds->files[i]);
    }
    for (size_t i = 0; ds->chunks && i < ds->n_chunks; i++)
        df_chunk_clear(&ds->chunks[i]);
    df_template_free(ds->tmpl);
    free(ds->source);
    json_decref(ds->vars);
    free(ds->names);
    free(ds->files);
    free(ds->places);
    free(ds->chunks);
    free(ds->entries);
    free(ds->lengths);
    free(ds);
}

size_t
df_dataset_size(const struct df_dataset *ds)
{
    return ds->n;
}

const uint32_t *
df_dataset_lengths(const struct df_dataset *ds)
{
    return ds->lengths;
}

const struct df_data_report *
df_dataset_report(const struct df_dataset *ds)
{
    return &ds->report;
}

bool
df_dataset_cached(const struct df_dataset *ds)
{
    return ds->cached;
}

void
df_dataset_origin(const struct df_dataset *ds, size_t i, const char **file,
                  uint64_t *line)
{
    const struct df_place *place = &ds->places[ds->entries[i].record];

    *file = ds->names[place->file];
    *line = place->line;
}

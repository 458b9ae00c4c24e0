/* Which samples are to be captured: this shard's, less those that are there.
   What is there is told by its identity, never by its number.  */
#include <config.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/message.h"
#include "dflash-capture/options.h"
#include "dflash-capture/session.h"

struct known {
    uint64_t id;
    size_t index;
};

static int
by_id(const void *a, const void *b)
{
    uint64_t x = ((const struct known *) a)->id;
    uint64_t y = ((const struct known *) b)->id;

    return x < y ? -1 : x > y;
}

/* The samples of the data set by id, to be freed.  */
static struct known *
list_ids(const struct df_dataset *ds)
{
    size_t n = df_dataset_size(ds);
    struct known *list = calloc(n, sizeof *list);

    for (size_t i = 0; list && i < n; i++)
        list[i] = (struct known){df_dataset_id(ds, i), i};
    if (list)
        qsort(list, n, sizeof *list, by_id);
    return list;
}

static df_status
mark_there(const struct df_captures *there, const struct df_dataset *ds,
           bool *done)
{
    const struct df_capture_entry *e = df_captures_entries(there);
    struct known *list = list_ids(ds);
    df_status status = DF_OK;

    if (!list)
        return DF_FAIL(DF_NO_MEMORY, "%zu samples", df_dataset_size(ds));
    for (size_t i = 0; i < df_captures_count(there) && status == DF_OK; i++) {
        const struct known key = {.id = e[i].id};
        const struct known *k =
            bsearch(&key, list, df_dataset_size(ds), sizeof key, by_id);

        if (e[i].n == 0) /* of a folder, and bad: it is captured again */
            continue;
        if (!k || k->index != e[i].index
            || df_dataset_lengths(ds)[k->index] != e[i].n)
            status =
                DF_FAIL(DF_INVALID,
                        "%s: sample %llu of %zu tokens is not in the "
                        "data: it was captured from other data or with "
                        "other options",
                        opt.output, (unsigned long long) e[i].index, e[i].n);
        else
            done[k->index] = true;
    }
    free(list);
    return status;
}

/* Whether the captures that are there were made with the options that decide
   what a sample is.  */
static df_status
compare_notes(const char *text)
{
    json_t *notes = text ? json_loads(text, 0, NULL) : NULL;
    json_t *wanted =
        json_pack("{s:I, s:s}", "max_length", (json_int_t) input.max_length,
                  "train_on", turn_names[input.train_on]);
    const char *key;
    json_t *value;
    df_status status = DF_OK;

    json_object_foreach(wanted, key, value)
    {
        const json_t *found = json_object_get(notes, key);

        if (status == DF_OK && found && !json_equal(found, value))
            status = DF_FAIL(DF_INVALID,
                             "%s: captured with another %s: captures are "
                             "resumed with the options they were begun with",
                             opt.output, key);
    }
    json_decref(notes);
    json_decref(wanted);
    return status;
}

/* What isn't committed yet is no problem: it will be captured again.  */
static void
ignore_problem(void *arg, df_status status, const char *message)
{
    (void) arg;
    (void) status;
    if (common_options.verbose)
        message_note("%s", message);
}

static df_status
compare_headers(const struct session *s, const struct df_capture_header *h)
{
    bool strict = opt.format != DF_CAPTURE_SPECULATORS; /* have no more */
    char text[256];

    if (df_capture_differs(h, &s->header, strict, text, sizeof text))
        return DF_FAIL(DF_INVALID, "%s: holds other captures: %s", opt.output,
                       text);
    return compare_notes(h->notes);
}

static df_status
look_at_output(const struct session *s, bool *done)
{
    const struct df_captures_options o = {.problem = ignore_problem};
    struct df_captures *there;
    df_status status;

    status = df_captures_open(&there, &opt.output, 1, &o);
    if (status == DF_FORMAT) /* nothing yet, or else the writer refuses it */
        return DF_OK;
    DF_TRY(status);
    status = compare_headers(s, df_captures_header(there, 0));
    if (status == DF_OK)
        status = mark_there(there, s->source.dataset, done);
    df_captures_free(there);
    return status;
}

static void
choose(struct session *s, const bool *done)
{
    const uint32_t *lengths = df_dataset_lengths(s->source.dataset);
    size_t n = df_dataset_size(s->source.dataset);

    if (opt.max_samples > 0 && (size_t) opt.max_samples < n)
        n = (size_t) opt.max_samples;
    for (size_t i = opt.shard; i < n; i += opt.shards) {
        if (done[i]) {
            s->there++;
            continue;
        }
        s->chosen[s->n] = (uint32_t) i;
        s->lengths[s->n++] = lengths[i];
        s->tokens += lengths[i];
    }
}

df_status
choose_samples(struct session *s)
{
    size_t n = df_dataset_size(s->source.dataset);
    bool *done = calloc(n, sizeof *done);
    df_status status = DF_OK;

    s->chosen = calloc(n, sizeof *s->chosen);
    s->lengths = calloc(n, sizeof *s->lengths);
    if (!done || !s->chosen || !s->lengths)
        status = DF_FAIL(DF_NO_MEMORY, "%zu samples", n);
    else if (opt.resume && access(opt.output, F_OK) == 0)
        status = look_at_output(s, done);
    if (status == DF_OK)
        choose(s, done);
    free(done);
    return status;
}

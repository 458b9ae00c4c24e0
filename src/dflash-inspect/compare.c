/* The same samples in another capture, found by their ids.  */

#include <config.h>

#include <inttypes.h>
#include <stdlib.h>

#include "dflash-inspect/options.h"
#include "dflash-inspect/session.h"

static int
by_id(const void *a, const void *b, void *arg)
{
    const struct df_capture_entry *e = arg;
    uint64_t x = e[*(const size_t *) a].id, y = e[*(const size_t *) b].id;

    return x < y ? -1 : x > y;
}

static df_status
sort_other(struct session *s)
{
    size_t n = df_captures_count(s->other);

    s->by_id = calloc(n + 1, sizeof *s->by_id);
    if (!s->by_id)
        return DF_FAIL(DF_NO_MEMORY, "%zu samples", n);
    for (size_t i = 0; i < n; i++)
        s->by_id[i] = i;
    qsort_r(s->by_id, n, sizeof *s->by_id, by_id,
            (void *) df_captures_entries(s->other));
    return DF_OK;
}

df_status
open_other(struct session *s)
{
    const struct df_captures_options o = {.verify = DF_VERIFY_OFF};

    DF_TRY(df_captures_open(&s->other, &opt.compare, 1, &o));
    if (df_captures_is_pipe(s->other))
        return DF_FAIL(DF_INVALID, "%s: only a file can be compared with",
                       opt.compare);
    DF_TRY(df_capture_scratch_new(&s->other_scratch));
    DF_TRY(sort_other(s));
    return df_compare_new(&s->compare, df_captures_header(s->captures, 0),
                          df_captures_header(s->other, 0));
}

/* The place of ID in OTHER; false if it isn't there.  */
static bool
find(const struct session *s, uint64_t id, size_t *out)
{
    const struct df_capture_entry *e = df_captures_entries(s->other);
    size_t low = 0, high = df_captures_count(s->other);

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (e[s->by_id[mid]].id < id)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == df_captures_count(s->other) || e[s->by_id[low]].id != id)
        return false;
    *out = s->by_id[low];
    return true;
}

static void
say_unequal(const struct session *s, const struct df_capture_sample *sample,
            const char *what, uint64_t token)
{
    if (s->unmatched + s->other_tokens > (uint64_t) opt.max_findings)
        return;
    if (opt.json) {
        json_t *o = json_object();

        json_object_set_new(o, "unequal", json_string(what));
        put_count(o, "sample", sample->index);
        put_count(o, "id", sample->id);
        put_count(o, "token", token);
        print_json(o);
        return;
    }
    fprintf(results(), "%s: sample %" PRIu64 " (id %" PRIu64 "): %s",
            opt.compare, sample->index, sample->id, what);
    if (s->other_tokens > 0 && what[0] == 'o')
        fprintf(results(), " from token %" PRIu64 " on", token);
    putc('\n', results());
}

df_status
compare_sample(struct session *s, const struct seen *seen)
{
    struct df_capture_sample b;
    uint64_t token;
    size_t i;

    if (!find(s, seen->sample.id, &i)) {
        s->unmatched++;
        say_unequal(s, &seen->sample, "missing", 0);
        return DF_OK;
    }
    DF_TRY(df_captures_read(s->other, i, s->other_scratch, &b));
    if (!df_compare_sample(s->compare, seen->header, &seen->sample,
                           df_captures_header(s->other, 0), &b, &token)) {
        s->other_tokens++;
        say_unequal(s, &seen->sample, "other tokens", token);
    }
    return DF_OK;
}

static void
print_distance(const struct df_capture_header *h, int k,
               const struct df_layer_distance *d)
{
    char name[32];

    if (opt.json) {
        json_t *o = json_object();

        json_object_set_new(o, "compared", json_string(opt.compare));
        put_layer(o, h, k);
        put_count(o, "rows", d->rows);
        put_count(o, "equal", d->equal);
        put_number(o, "error", d->error);
        put_number(o, "worst", d->worst);
        put_count(o, "worst_sample", d->worst_index);
        put_count(o, "worst_id", d->worst_id);
        put_count(o, "worst_token", d->worst_token);
        print_json(o);
        return;
    }
    fprintf(results(),
            "%-18s %10" PRIu64 " %10" PRIu64 "  %9.3g  %9.3g  sample %" PRIu64
            ", token %" PRIu64 "\n",
            layer_name(name, h, k), d->rows, d->equal, d->error, d->worst,
            d->worst_index, d->worst_token);
}

void
report_distances(struct session *s)
{
    const struct df_capture_header *h = df_captures_header(s->captures, 0);
    const struct df_capture_header *other = df_captures_header(s->other, 0);
    size_t slots = h->K + (h->has_last_hidden && other->has_last_hidden);

    if (!opt.json)
        fprintf(results(), "%-18s %10s %10s  %9s  %9s  %s\n", "compared",
                "rows", "equal", "error", "worst", "of");
    for (size_t k = 0; k < slots; k++) {
        struct df_layer_distance d = df_compare_layer(s->compare, k);

        s->too_far |= d.error > opt.limit || d.rows == 0;
        print_distance(h, (int) k, &d);
    }
    s->too_far |= s->unmatched > 0 || s->other_tokens > 0;
}

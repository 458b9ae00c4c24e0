#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "dflash-bench/result.h"

static df_status
grow(struct results *list)
{
    size_t room = list->room ? 2 * list->room : 64;
    struct result **items = realloc(list->items, room * sizeof *items);

    if (!items)
        return DF_FAIL(DF_NO_MEMORY, "results");
    list->items = items;
    list->room = room;
    return DF_OK;
}

df_status
result_new(struct results *list, const char *suite, const char *name,
           const char *device, size_t n, struct result **out)
{
    struct result *r;

    if (list->n == list->room)
        DF_TRY(grow(list));
    r = calloc(1, sizeof *r);
    if (!r || !(r->name = strdup(name))
        || !(r->samples = calloc(n + 1, sizeof *r->samples))
        || !(r->sorted = calloc(n + 1, sizeof *r->sorted))
        || !(r->kept = calloc(n + 1, sizeof *r->kept))) {
        result_free(r);
        return DF_FAIL(DF_NO_MEMORY, "result of %s", name);
    }
    r->suite = suite;
    r->device = device;
    r->unit = "";
    r->error = -1;
    list->items[list->n++] = r;
    *out = r;
    return DF_OK;
}

void
result_free(struct result *r)
{
    if (!r)
        return;
    free(r->name);
    free(r->samples);
    free(r->sorted);
    free(r->kept);
    for (size_t i = 0; i < r->n_series; i++)
        free(r->series[i].values);
    free(r);
}

void
results_clear(struct results *list)
{
    for (size_t i = 0; i < list->n; i++)
        result_free(list->items[i]);
    free(list->items);
}

void
result_summarize(struct result *r)
{
    if (r->n > 0)
        r->s = summarize(r->samples, r->n, r->sorted);
}

static void
swap(struct result *r)
{
    double *samples = r->samples;
    size_t n = r->n;

    r->samples = r->kept;
    r->n = r->n_kept;
    r->kept = samples;
    r->n_kept = n;
}

void
result_keep(struct result *r)
{
    swap(r);
    r->n = 0;
}

void
result_take_better(struct result *r)
{
    double median = r->s.median;

    if (r->n_kept == 0)
        return;
    swap(r);
    result_summarize(r);
    if (r->n_kept == 0 || r->s.median <= median)
        return;
    swap(r);
    result_summarize(r);
}

void
result_extra(struct result *r, const char *key, double value)
{
    if (r->n_extras < MAX_EXTRAS)
        r->extras[r->n_extras++] = (struct extra){key, value, false};
}

void
result_part(struct result *r, const char *key, double value)
{
    if (r->n_extras < MAX_EXTRAS)
        r->extras[r->n_extras++] = (struct extra){key, value, true};
}

df_status
result_series(struct result *r, const char *key, const double *values,
              size_t n)
{
    double *copy = calloc(n + 1, sizeof *copy);

    if (!copy)
        return DF_FAIL(DF_NO_MEMORY, "%s", key);
    memcpy(copy, values, n * sizeof *copy);
    r->series[r->n_series++] = (struct series){key, copy, n};
    return DF_OK;
}

double
result_get(const struct result *r, const char *key)
{
    for (size_t i = 0; i < r->n_extras; i++)
        if (strcmp(r->extras[i].key, key) == 0)
            return r->extras[i].value;
    return 0;
}

double
result_rate(const struct result *r)
{
    return r->n > 0 && r->s.median > 0 ? r->amount / r->s.median : 0;
}

const char *
result_verdict(const struct result *r)
{
    static const char *const names[] = {
        [RESULT_UNCHECKED] = "-",
        [RESULT_RIGHT] = "right",
        [RESULT_WRONG] = "WRONG",
        [RESULT_SKIPPED] = "skipped",
    };

    return names[r->verdict];
}

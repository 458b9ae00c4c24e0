#include <config.h>

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dflash-bench/baseline.h"
#include "dflash-bench/options.h"

struct old {
    char *suite, *name, *device;
    double *samples; /* [n], sorted */
    size_t n;
    struct summary s;
};

struct baseline {
    struct old *items;
    size_t n, room;
};

/* Where a reader is, for messages.  */
struct place {
    const char *path;
    size_t line;
    const struct bench *bench;
};

static df_status
bad(const struct place *p, const char *what)
{
    return DF_FAIL(DF_FORMAT, "%s:%zu: not a baseline: %s", p->path, p->line,
                   what);
}

static df_status
text(const struct place *p, const json_t *object, const char *key,
     const char **out)
{
    *out = json_string_value(json_object_get(object, key));
    if (*out)
        return DF_OK;
    return DF_FAIL(DF_FORMAT, "%s:%zu: not a baseline: no text '%s'", p->path,
                   p->line, key);
}

/* A result of another version, or of another model of a device that is
   measured on now, says nothing about this one.  */
static df_status
check_origin(const struct place *p, const json_t *object)
{
    const char *version, *device, *model;

    DF_TRY(text(p, object, "version", &version));
    DF_TRY(text(p, object, "device", &device));
    DF_TRY(text(p, object, "model", &model));
    if (strcmp(version, PACKAGE_VERSION) != 0)
        return DF_FAIL(DF_INVALID,
                       "%s:%zu: the baseline is of version %s, this is %s",
                       p->path, p->line, version, PACKAGE_VERSION);
    for (size_t i = 0; i < p->bench->devices.n; i++) {
        const struct station *st = &p->bench->stations[i];

        if (strcmp(df_device_name(st->dev), device) == 0
            && strcmp(st->info.model, model) != 0)
            return DF_FAIL(DF_INVALID,
                           "%s:%zu: in the baseline %s is '%s', here it is "
                           "'%s'",
                           p->path, p->line, device, model, st->info.model);
    }
    return DF_OK;
}

static df_status
read_samples(const struct place *p, const json_t *array, struct old *o)
{
    double *sorted;

    o->n = json_array_size(array);
    if (o->n == 0)
        return bad(p, "no samples");
    o->samples = calloc(o->n, sizeof *o->samples);
    sorted = calloc(o->n, sizeof *sorted);
    if (!o->samples || !sorted) {
        free(sorted);
        return DF_FAIL(DF_NO_MEMORY, "%s: samples", p->path);
    }
    for (size_t i = 0; i < o->n; i++)
        o->samples[i] = json_number_value(json_array_get(array, i));
    o->s = summarize(o->samples, o->n, sorted);
    free(o->samples);
    o->samples = sorted;
    if (o->s.min > 0)
        return DF_OK;
    return bad(p, "a sample is not a time");
}

static df_status
add(struct baseline *base, const struct place *p, const json_t *object)
{
    const char *suite, *name, *device;
    struct old *o;

    DF_TRY(text(p, object, "suite", &suite));
    DF_TRY(text(p, object, "case", &name));
    DF_TRY(text(p, object, "device", &device));
    if (base->n == base->room) {
        size_t room = base->room ? 2 * base->room : 64;

        o = realloc(base->items, room * sizeof *o);
        if (!o)
            return DF_FAIL(DF_NO_MEMORY, "%s: results", p->path);
        base->items = o;
        base->room = room;
    }
    o = &base->items[base->n++];
    *o = (struct old){strdup(suite), strdup(name), strdup(device), .n = 0};
    if (!o->suite || !o->name || !o->device)
        return DF_FAIL(DF_NO_MEMORY, "%s: results", p->path);
    return read_samples(p, json_object_get(object, "samples_s"), o);
}

/* One line.  What was skipped, or only checked, has no times.  */
static df_status
read_line(struct baseline *base, const struct place *p, const char *line)
{
    json_error_t error;
    json_t *object = json_loads(line, 0, &error);
    df_status status;

    if (!object)
        return bad(p, error.text);
    status = json_is_object(object) ? check_origin(p, object)
                                    : bad(p, "not an object");
    if (status == DF_OK && json_object_get(object, "samples_s"))
        status = add(base, p, object);
    json_decref(object);
    return status;
}

static df_status
read_lines(struct baseline *base, struct place *p, FILE *fp)
{
    char *line = NULL;
    size_t room = 0;
    df_status status = DF_OK;

    while (status == DF_OK && getline(&line, &room, fp) > 0) {
        p->line++;
        status = read_line(base, p, line);
    }
    free(line);
    DF_TRY(status);
    if (ferror(fp))
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", p->path, strerror(errno));
    if (base->n == 0)
        return DF_FAIL(DF_FORMAT, "%s: not a baseline: it has no times",
                       p->path);
    return DF_OK;
}

df_status
baseline_read(struct baseline **out, const char *path, const struct bench *b)
{
    struct place p = {.path = path, .bench = b};
    FILE *fp = fopen(path, "r");
    df_status status;

    if (!fp)
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", path, strerror(errno));
    *out = calloc(1, sizeof **out);
    status = *out ? read_lines(*out, &p, fp)
                  : DF_FAIL(DF_NO_MEMORY, "%s: results", path);
    fclose(fp);
    return status;
}

void
baseline_free(struct baseline *base)
{
    if (!base)
        return;
    for (size_t i = 0; i < base->n; i++) {
        free(base->items[i].suite);
        free(base->items[i].name);
        free(base->items[i].device);
        free(base->items[i].samples);
    }
    free(base->items);
    free(base);
}

static const struct old *
find(const struct baseline *base, const struct result *r)
{
    for (size_t i = 0; base && r->n > 0 && i < base->n; i++) {
        const struct old *o = &base->items[i];

        if (strcmp(o->suite, r->suite) == 0 && strcmp(o->name, r->name) == 0
            && strcmp(o->device, r->device) == 0)
            return o;
    }
    return NULL;
}

static struct comparison
compare(const struct old *o, const struct result *r)
{
    return compare_samples(r->sorted, r->n, o->samples, o->n, opt.limit / 100);
}

bool
baseline_slower(const struct baseline *base, const struct result *r)
{
    const struct old *o = find(base, r);

    return o && compare(o, r).slower;
}

static void
report(const struct old *o, const struct result *r, size_t *slower)
{
    struct comparison c = compare(o, r);

    *slower += c.slower;
    fprintf(remarks(),
            "# %-11s %-36s %-7s %10.2f %10.2f %6.3f %6.1f %6.1f %8.1e %s\n",
            r->suite, r->name, r->device, o->s.median * 1e6, r->s.median * 1e6,
            c.ratio, o->s.spread * 100, r->s.spread * 100, c.chance,
            c.slower   ? "SLOWER"
            : c.faster ? "faster"
                       : "same");
}

df_status
baseline_report(const struct baseline *base, const struct results *results,
                size_t *slower)
{
    size_t missing = 0, compared = 0;

    *slower = 0;
    fprintf(remarks(), "#\n# against %s, limit %g %%:\n", opt.baseline,
            opt.limit);
    fprintf(remarks(), "# %-11s %-36s %-7s %10s %10s %6s %6s %6s %8s\n",
            "suite", "case", "device", "old_us", "new_us", "ratio", "old_%",
            "new_%", "chance");
    for (size_t i = 0; i < results->n; i++) {
        const struct old *o = find(base, results->items[i]);

        missing += !o;
        compared += o != NULL;
        if (o)
            report(o, results->items[i], slower);
    }
    fprintf(remarks(), "# %zu compared, %zu slower; %zu not in the baseline\n",
            compared, *slower, missing);
    if (compared > 0)
        return DF_OK;
    return DF_FAIL(DF_INVALID, "%s has none of these cases", opt.baseline);
}

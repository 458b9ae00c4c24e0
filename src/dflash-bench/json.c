#include <config.h>

#include <jansson.h>
#include <string.h>

#include "dflash-bench/bench.h"

/* Set a real that may be no number: JSON has none.  */
static void
real(json_t *object, const char *key, double value)
{
    json_t *number = json_real(value);

    json_object_set_new(object, key, number ? number : json_null());
}

static void
describe(json_t *o, const struct bench *b, const struct station *st)
{
    const struct df_device_info *d = &st->info;

    json_object_set_new(o, "version", json_string(PACKAGE_VERSION));
    json_object_set_new(o, "date", json_string(b->date));
    json_object_set_new(o, "command", json_string(b->command));
    json_object_set_new(o, "device", json_string(df_device_name(st->dev)));
    json_object_set_new(o, "model", json_string(d->model));
    json_object_set_new(o, "driver", json_string(d->driver));
    json_object_set_new(o, "runtime", json_string(d->runtime));
    json_object_set_new(o, "clock_mhz", json_integer(d->clock_mhz));
    json_object_set_new(o, "max_clock_mhz", json_integer(d->max_clock_mhz));
    json_object_set_new(o, "memory_clock_mhz",
                        json_integer(d->memory_clock_mhz));
}

static void
set_array(json_t *o, const char *key, const double *values, size_t n)
{
    json_t *array = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_real(values[i]));
    json_object_set_new(o, key, array);
}

static void
set_times(json_t *o, const struct result *r)
{
    real(o, "min_s", r->s.min);
    real(o, "median_s", r->s.median);
    real(o, "p95_s", r->s.p95);
    real(o, "spread", r->s.spread);
    real(o, "rate", result_rate(r));
    json_object_set_new(o, "unit", json_string(r->unit));
    if (r->ceiling > 0)
        real(o, "of_ceiling", result_rate(r) / r->ceiling);
    set_array(o, "samples_s", r->samples, r->n);
}

static void
set_result(json_t *o, const struct result *r)
{
    json_object_set_new(o, "suite", json_string(r->suite));
    json_object_set_new(o, "case", json_string(r->name));
    json_object_set_new(o, "result", json_string(result_verdict(r)));
    if (*r->why)
        json_object_set_new(o, "why", json_string(r->why));
    if (r->error >= 0)
        real(o, "error", r->error);
    if (r->n > 0)
        set_times(o, r);
    for (size_t i = 0; i < r->n_extras; i++)
        real(o, r->extras[i].key, r->extras[i].value);
    for (size_t i = 0; i < r->n_series; i++)
        set_array(o, r->series[i].key, r->series[i].values, r->series[i].n);
}

df_status
json_write(FILE *fp, const struct bench *b, const struct result *r)
{
    json_t *o = json_object();
    size_t i = 0;
    int failed;

    while (i + 1 < b->devices.n
           && strcmp(df_device_name(b->stations[i].dev), r->device) != 0)
        i++;
    describe(o, b, &b->stations[i]);
    set_result(o, r);
    failed = json_dumpf(o, fp, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(o);
    putc('\n', fp);
    return failed ? DF_FAIL(DF_NO_MEMORY, "result of %s", r->name) : DF_OK;
}

#include <config.h>

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dflash-train/metrics.h"
#include "dflash-train/options.h"
#include "dflash-train/output.h"

/* The steps done by the end of a line, or -1.  */
static int64_t
step_of(const char *line)
{
    json_error_t err;
    json_t *json = json_loads(line, 0, &err);
    json_t *step = json_object_get(json, "step");
    int64_t n = json_is_integer(step) ? json_integer_value(step) : -1;

    json_decref(json);
    return n;
}

/* Copy the whole lines of FROM that belong to the first LAST steps.  */
static bool
copy_lines(FILE *from, FILE *to, int64_t last)
{
    char *line = NULL;
    size_t size = 0;
    bool good = true;

    while (good && getline(&line, &size, from) >= 0) {
        int64_t step = step_of(line);

        if (step >= 0 && step <= last)
            good = fputs(line, to) >= 0;
    }
    free(line);
    return good && !ferror(from) && fflush(to) == 0;
}

static df_status
cut_off(const char *path, int64_t last)
{
    FILE *from = fopen(path, "r"), *to;
    char *aside;
    bool good;

    if (!from)
        return errno == ENOENT
                   ? DF_OK
                   : DF_FAIL_ERRNO(DF_IO, "%s: %s", path, strerror(errno));
    if (asprintf(&aside, "%s.tmp", path) < 0) {
        fclose(from);
        return DF_FAIL(DF_NO_MEMORY, "%s", path);
    }
    to = fopen(aside, "w");
    good = to && copy_lines(from, to, last);
    good = (!to || fclose(to) == 0) && good;
    good = good && rename(aside, path) == 0;
    df_status status =
        good ? DF_OK : DF_FAIL_ERRNO(DF_IO, "%s: %s", aside, strerror(errno));
    if (!good)
        unlink(aside);
    free(aside);
    fclose(from);
    return status;
}

df_status
metrics_open(struct session *s)
{
    char *own = output_path("metrics.jsonl");
    const char *path = opt.metrics ? opt.metrics : own;
    df_status status = DF_OK;

    if (!path)
        return DF_FAIL(DF_NO_MEMORY, "%s", opt.output);
    if (s->resume_from)
        status = cut_off(path, s->first_step);
    if (status == DF_OK) {
        s->metrics = fopen(path, s->resume_from ? "a" : "w");
        if (!s->metrics)
            status = DF_FAIL_ERRNO(DF_IO, "%s: %s", path, strerror(errno));
    }
    free(own);
    return status;
}

/* A number as JSON has it: null stands for what is not finite.  */
static void
put(json_t *o, const char *key, double x)
{
    json_object_set_new(o, key, isfinite(x) ? json_real(x) : json_null());
}

static json_t *
slots(const struct df_record *r)
{
    json_t *list = json_array();

    for (size_t j = 1; j < r->block_size; j++)
        json_array_append_new(list, r->slot_accuracy[j] < 0
                                        ? json_null()
                                        : json_real(r->slot_accuracy[j]));
    return list;
}

void
metrics_write(FILE *fp, const struct df_record *r)
{
    bool train = r->kind == DF_BATCH_TRAIN;
    json_t *o = json_object();

    json_object_set_new(o, "step", json_integer(r->step + train));
    if (train) {
        json_object_set_new(o, "epoch", json_integer(r->epoch));
        put(o, "loss", r->loss);
        put(o, "accuracy", r->accuracy);
        put(o, "accept_length", r->accept_length);
        put(o, "learning_rate", r->learning_rate);
        put(o, "grad_norm", r->grad_norm);
        put(o, "tokens_per_second", r->tokens_per_second);
        if (r->skipped)
            json_object_set_new(o, "skipped", json_true());
    } else {
        put(o, "eval_loss", r->loss);
        put(o, "eval_accuracy", r->accuracy);
        put(o, "eval_accept_length", r->accept_length);
        json_object_set_new(o, "eval_slot_accuracy", slots(r));
    }
    json_dumpf(o, fp, JSON_COMPACT | JSON_REAL_PRECISION(17));
    putc('\n', fp);
    fflush(fp);
    json_decref(o);
}

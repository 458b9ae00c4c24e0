#include <config.h>

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dflash-train/metrics.h"
#include "dflash-train/options.h"
#include "dflash-train/output.h"

/* Whether what S does every INTERVAL steps, and after the last, is due at the
   step that it resumes at.  */
static bool
is_due(const struct session *s, long interval)
{
    return s->first_step == s->steps
           || (interval > 0 && s->first_step % interval == 0);
}

/* Whether a resumed run will write LINE again, or it isn't whole: a line of
   a step behind those done, or of an evaluation or a trial behind them.  */
static bool
comes_again(const struct session *s, const char *line, ssize_t len)
{
    json_error_t err;
    json_t *json = json_loadb(line, (size_t) len, 0, &err);
    json_t *number = json_object_get(json, "step");
    int64_t step = json_is_integer(number) ? json_integer_value(number) : -1;
    bool eval = json_object_get(json, "eval_loss") && s->eval_set.n > 0
                && is_due(s, opt.eval_interval);
    bool trial = json_object_get(json, "decoded_accept_length") && s->trial
                 && is_due(s, opt.eval_decode_interval);

    json_decref(json);
    return line[len - 1] != '\n' || step < 0 || step > s->first_step
           || (step == s->first_step && (eval || trial));
}

static bool
cut_off(const struct session *s)
{
    FILE *fp = s->metrics;
    char *line = NULL;
    size_t size = 0;
    ssize_t n;
    off_t keep = 0;

    rewind(fp);
    while ((n = getline(&line, &size, fp)) > 0 && !comes_again(s, line, n))
        keep += n;
    free(line);
    return !ferror(fp) && ftruncate(fileno(fp), keep) == 0;
}

static bool
is_regular(FILE *fp)
{
    struct stat st;

    return fstat(fileno(fp), &st) == 0 && S_ISREG(st.st_mode);
}

static df_status
open_at(struct session *s, const char *path)
{
    bool goes_on = s->resume_from != NULL;

    s->metrics = fopen(path, goes_on ? "a+" : "w");
    if (!s->metrics || (goes_on && is_regular(s->metrics) && !cut_off(s)))
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", path, strerror(errno));
    return DF_OK;
}

df_status
metrics_open(struct session *s)
{
    s->metrics_path =
        opt.metrics ? strdup(opt.metrics) : output_path("metrics.jsonl");
    if (!s->metrics_path)
        return DF_FAIL(DF_NO_MEMORY, "%s", opt.output);
    return open_at(s, s->metrics_path);
}

df_status
metrics_check(const struct session *s)
{
    return s->metrics_error ? DF_FAIL(DF_IO, "%s: %s", s->metrics_path,
                                      strerror(s->metrics_error))
                            : DF_OK;
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

static json_t *
as_json(const struct df_record *r)
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
    return o;
}

/* Write O, which is taken over, as a line.  */
static bool
write_line(struct session *s, json_t *o)
{
    bool good;

    flockfile(s->metrics);
    errno = ENOMEM;
    good =
        json_dumpf(o, s->metrics, JSON_COMPACT | JSON_REAL_PRECISION(17)) == 0
        && putc('\n', s->metrics) != EOF && fflush(s->metrics) == 0;
    if (!good && s->metrics_error == 0)
        s->metrics_error = errno;
    funlockfile(s->metrics);
    json_decref(o);
    return good;
}

bool
metrics_write(struct session *s, const struct df_record *r)
{
    return write_line(s, as_json(r));
}

bool
metrics_write_decoded(struct session *s, const struct df_decoded *d)
{
    json_t *o = json_object(), *slots = json_array();

    json_object_set_new(o, "step", json_integer(d->step));
    put(o, "decoded_accept_length", df_decode_mean_accept(&d->stats));
    json_object_set_new(o, "decoded_tokens",
                        json_integer((json_int_t) d->stats.tokens));
    for (int j = 1; j < s->drafter.block_size; j++)
        json_array_append_new(
            slots, json_real(df_decode_slot_accept(&d->stats, (size_t) j)));
    json_object_set_new(o, "decoded_slot_acceptance", slots);
    put(o, "decoding_seconds", d->stats.seconds);
    return write_line(s, o);
}

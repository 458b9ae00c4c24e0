/* Prompts to decode, and the folder best/.

   best/accept.json says how good the drafter beside it is, so that a resumed
   run knows what it has to beat.  */
#include <config.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/answer.h"
#include "common/message.h"
#include "dflash-train/metrics.h"
#include "dflash-train/options.h"
#include "dflash-train/output.h"
#include "dflash-train/trial.h"

enum {
    CONCURRENCY = 16,
    PREFILL = 512 /* tokens of prompts in a pass */
};

struct trial {
    struct df_prompt *prompts; /* [n] */
    size_t n, longest;         /* and tokens of the longest one */
    struct stop_list stops;
    size_t trials;
    double last, best; /* mean accept lengths; 0: none */
    int64_t best_step;
};

static df_status
take_prompts(struct trial *t, struct sample_source *source)
{
    for (size_t i = 0; i < t->n; i++) {
        struct df_sample sample;
        int32_t *ids;

        DF_TRY(samples_read(source, 0, (uint32_t) i, &sample));
        ids = malloc(sample.n * sizeof *ids);
        if (!ids)
            return DF_FAIL(DF_NO_MEMORY, "prompt %zu", i);
        memcpy(ids, sample.ids, sample.n * sizeof *ids);
        t->prompts[i] = (struct df_prompt){sample.id, ids, sample.n};
        if (sample.n > t->longest)
            t->longest = sample.n;
    }
    return DF_OK;
}

/* What best/ holds already, of the run that is resumed.  */
static void
find_best(struct trial *t)
{
    char *path = output_path("best/accept.json");
    json_t *json = path ? json_load_file(path, 0, NULL) : NULL;

    t->best = json_number_value(json_object_get(json, "accept_length"));
    t->best_step = json_integer_value(json_object_get(json, "step"));
    json_decref(json);
    free(path);
}

df_status
trial_open(struct session *s)
{
    struct sample_source source = {0};
    struct trial *t = calloc(1, sizeof *t);
    df_status status;

    s->trial = t;
    if (!t)
        return DF_FAIL(DF_NO_MEMORY, "prompts to decode");
    model_stops(&s->model, &t->stops);
    if (s->resume_from)
        find_best(t);
    status =
        prompts_open(&source, &s->model, &opt.eval_data, "evaluation prompts");
    if (status == DF_OK) {
        t->n = df_dataset_size(source.dataset);
        if (t->n > (size_t) opt.eval_decode)
            t->n = (size_t) opt.eval_decode;
        t->prompts = calloc(t->n, sizeof *t->prompts);
        status = t->prompts ? take_prompts(t, &source)
                            : DF_FAIL(DF_NO_MEMORY, "%zu prompts", t->n);
    }
    samples_close(&source);
    return status;
}

void
trial_close(struct trial *t)
{
    for (size_t i = 0; t && t->prompts && i < t->n; i++)
        free((void *) t->prompts[i].ids);
    if (t)
        free(t->prompts);
    free(t);
}

struct df_trial
trial_options(const struct session *s)
{
    const struct trial *t = s->trial;

    if (!t)
        return (struct df_trial){0};
    return (struct df_trial){
        .prompts = t->prompts,
        .n = t->n,
        .interval = opt.eval_decode_interval,
        .options = {.concurrency = t->n < CONCURRENCY ? t->n : CONCURRENCY,
                    .max_seqlen = t->longest + (size_t) opt.eval_decode_tokens,
                    .max_new_tokens = (size_t) opt.eval_decode_tokens,
                    .prefill_rows = PREFILL,
                    .seed = (uint64_t) input.seed,
                    .stop_ids = t->stops.ids,
                    .n_stop_ids = t->stops.n,
                    .graphs = true}
    };
}

static df_status
write_accept(const char *dir, int64_t step, double length)
{
    json_t *o = json_pack("{s:I, s:f}", "step", (json_int_t) step,
                          "accept_length", length);
    char *path;
    bool good = o && asprintf(&path, "%s/accept.json", dir) >= 0;

    if (good) {
        good = json_dump_file(o, path, JSON_INDENT(1)) == 0;
        free(path);
    }
    json_decref(o);
    return good ? DF_OK
                : DF_FAIL(DF_IO, "%s/accept.json: can't be written", dir);
}

static df_status
write_best(struct session *s, const char *dir)
{
    DF_TRY(df_run_export(s->run, dir));
    return write_accept(dir, s->trial->best_step, s->trial->best);
}

df_status
trial_decoded(void *arg, const struct df_decoded *decoded)
{
    struct session *s = arg;
    struct trial *t = s->trial;
    bool better;

    t->last = df_decode_mean_accept(&decoded->stats);
    t->trials++;
    better = t->last > t->best;
    message_note("decoding after %lld steps: accept length %.3f on %zu "
                 "prompts%s",
                 (long long) decoded->step, t->last, t->n,
                 better ? ", the best so far" : "");
    if (!metrics_write_decoded(s, decoded))
        df_run_stop(s->run);
    if (!better)
        return DF_OK;
    t->best = t->last;
    t->best_step = decoded->step;
    return output_replace("best", write_best, s);
}

void
trial_print(const struct session *s)
{
    const struct trial *t = s->trial;

    if (t && t->trials > 0)
        printf("decoded accept length: %.3f, at best %.3f after %lld steps "
               "(%s/best)\n",
               t->last, t->best, (long long) t->best_step, opt.output);
}

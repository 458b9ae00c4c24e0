#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dflash/philox.h"
#include "pipe/run_internal.h"
#include "tap/tap.h"
#include "tiny/tiny.h"

static df_status
read_sample(void *arg, size_t thread, uint32_t index, struct df_sample *out)
{
    struct tiny_run *r = arg;
    size_t n = tiny_sample(index, r->ids[thread], r->masks[thread]);

    if (r->o.no_masks)
        memset(r->masks[thread], 0, n);
    *out = (struct df_sample){index, n, r->ids[thread], r->masks[thread]};
    return DF_OK;
}

/* Evaluations have samples of their own.  */
static df_status
read_eval(void *arg, size_t thread, uint32_t index, struct df_sample *out)
{
    return read_sample(arg, thread, index + 1000, out);
}

static df_status
make_plan(struct tiny_run *r)
{
    const struct tiny_options *o = &r->o;
    uint32_t *lengths = calloc(o->samples + o->eval_samples, sizeof *lengths);
    int32_t ids[TINY_MAX_LENGTH];
    uint8_t mask[TINY_MAX_LENGTH];
    df_status status;

    for (uint32_t i = 0; i < o->samples; i++)
        lengths[i] = (uint32_t) tiny_sample(i, ids, mask);
    for (uint32_t i = 0; i < o->eval_samples; i++)
        lengths[o->samples + i] = (uint32_t) tiny_sample(1000 + i, ids, mask);
    status = df_plan_new(
        &r->plan, lengths, o->samples, lengths + o->samples, o->eval_samples,
        &(struct df_plan_options){.seed = 3,
                                  .token_budget = r->model.limits.max_tokens,
                                  .max_seqs = r->model.limits.max_seqs,
                                  .epochs = o->max_steps ? 0 : 1,
                                  .max_steps = o->max_steps,
                                  .per_step = o->per_step,
                                  .first_step = o->first_step,
                                  .eval_interval = o->eval_interval});
    free(lengths);
    return status;
}

static void
open_devices(struct tiny_run *r)
{
    size_t n = r->o.apart ? r->o.targets + r->o.drafters : 1;

    for (; r->n_devices < n; r->n_devices++) {
        char name[32];

        snprintf(name, sizeof name, "cpu:%zu", r->n_devices);
        CHECKED(df_device_open(&r->devices[r->n_devices], name));
    }
    for (size_t i = 0; i < r->o.targets; i++)
        r->targets[i] = r->devices[r->o.apart ? i : 0];
    for (size_t i = 0; i < r->o.drafters; i++)
        r->drafters[i] = r->devices[r->o.apart ? r->o.targets + i : 0];
}

static struct df_run_options
run_options(struct tiny_run *r)
{
    const struct tiny_options *o = &r->o;

    return (struct df_run_options){
        .targets = r->targets,
        .n_targets = o->targets,
        .drafters = r->drafters,
        .n_drafters = o->drafters,
        .prefetch_threads = o->prefetch,
        .depth = o->depth,
        .min_ready = o->min_ready,
        .split = !o->packed,
        .transport = o->transport,
        .train = {r,                read_sample },
        .eval = {r,                read_eval   },
        .plan = r->plan,
        .limits = r->model.limits,
        .target_config = &r->model.config,
        .target_tensors = r->model.tensors,
        .layer_ids = r->model.drafter.target_layer_ids,
        .n_layer_ids = (size_t) r->model.drafter.n_target_layer_ids,
        .drafter_config = r->model.drafter,
        .seed = 3,
        .objective = {.gamma = 7      },
        .adamw = {.beta1 = 0.9f, .beta2 = 0.999f,             .eps = 1e-8f, .max_norm = 1},
        .learning_rate = 1e-2,
        .warmup_ratio = 0.1,
        .noise = o->noise,
        .first_step = o->first_step,
        .checkpoint_dir = o->checkpoint_dir,
        .save_interval = o->save_interval,
        .keep = 0,
        .identity = "{\"seed\": 3}",
        .notes = "",
        .observer = {.arg = o->arg,                .record = o->record},
    };
}

/* Let nothing that the run computes be finite.  */
static void
poison(struct tiny_run *r)
{
    for (size_t i = 0; i < r->run->n_devices; i++) {
        struct df_embeddings *e = &r->run->embeddings[i];

        for (size_t k = 0; k < e->V * e->H; k++)
            ((float *) e->embed)[k] = NAN;
    }
}

static df_status
begin(struct tiny_run *r)
{
    char *path;

    if (r->o.first_step == 0)
        return df_run_init(r->run);
    if (asprintf(&path, "%s/step-%lld", r->o.checkpoint_dir,
                 (long long) r->o.first_step)
        < 0)
        bail("no memory");
    df_status status = df_run_resume(r->run, path);
    free(path);
    return status;
}

df_status
tiny_run_make(struct tiny_run *r, const struct tiny_options *o)
{
    struct df_run_options options;

    r->o = *o;
    r->o.targets += o->targets == 0;
    r->o.drafters += o->drafters == 0;
    r->o.prefetch += o->prefetch == 0;
    r->o.depth += o->depth == 0;
    r->o.per_step += o->per_step == 0;
    tiny_make(&r->model);
    open_devices(r);
    DF_TRY(make_plan(r));
    options = run_options(r);
    DF_TRY(df_run_new(&r->run, &options));
    DF_TRY(begin(r));
    if (o->poison)
        poison(r);
    return df_run_warm_up(r->run);
}

void
tiny_run_clear(struct tiny_run *r)
{
    df_run_free(r->run);
    df_plan_free(r->plan);
    for (size_t i = 0; i < r->n_devices; i++)
        df_device_close(r->devices[i]);
    tiny_clear(&r->model);
}

/* All that a record says but times, to the last bit.  */
static void
print_record(void *arg, const struct df_record *r)
{
    fprintf(arg, "%s %lld %lld loss %a accuracy %a accept %a norm %a%s\n",
            r->kind == DF_BATCH_EVAL ? "eval" : "step", (long long) r->step,
            (long long) r->epoch, r->loss, r->accuracy, r->accept_length,
            r->grad_norm, r->skipped ? " skipped" : "");
}

df_status
tiny_run_print(FILE *out, const struct tiny_options *options)
{
    struct tiny_options o = *options;
    struct tiny_run r = {0};
    df_status status;

    o.record = print_record;
    o.arg = out;
    status = tiny_run_make(&r, &o);
    if (status == DF_OK)
        status = df_run_train(r.run);
    if (status != DF_OK)
        fprintf(out, "%s\n", df_error_last()->message);
    tiny_run_clear(&r);
    return status;
}

char *
tiny_run_text(const struct tiny_options *options)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        bail("no memory");
    (void) tiny_run_print(out, options);
    fclose(out);
    return text;
}

char *
tiny_run_faulty(const char *program, size_t number, const char *fault)
{
    char *command, *text = calloc(1, 1 << 16);
    FILE *in;

    if (!text
        || asprintf(&command, "DFLASH_FAULT='%s' '%s' %zu", fault, program,
                    number)
               < 0)
        bail("no memory");
    in = popen(command, "r");
    if (!in)
        bail("%s: cannot be run", command);
    text[fread(text, 1, (1 << 16) - 1, in)] = '\0';
    if (pclose(in) != 0)
        strcat(strcpy(text, "failed: "), command);
    free(command);
    return text;
}

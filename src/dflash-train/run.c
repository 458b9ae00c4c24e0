/* The run as the library wants it described.  */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "dflash-train/captures.h"
#include "dflash-train/options.h"
#include "dflash-train/output.h"
#include "dflash-train/session.h"
#include "dflash-train/trial.h"

static df_status
make_plan(struct session *s)
{
    const struct sample_set *train = &s->train_set, *eval = &s->eval_set;
    struct df_plan_options o = {.seed = (uint64_t) input.seed,
                                .token_budget = (size_t) input.token_budget,
                                .max_seqs = (size_t) input.max_batch_size,
                                .epochs = opt.epochs,
                                .max_steps = opt.max_steps,
                                .per_step =
                                    (size_t) opt.accumulate * s->drafters.n,
                                .first_step = s->first_step,
                                .eval_interval = opt.eval_interval};
    df_status status;

    if (s->captures && captures_piped(s->captures))
        return captures_steps(s);
    if (o.epochs == 0 && o.max_steps == 0)
        o.epochs = 1;
    status = df_plan_new(&s->plan, train->lengths, train->n, eval->lengths,
                         eval->n, &o);
    if (status == DF_INVALID && s->resume_from)
        return DF_FAIL(DF_INVALID,
                       "%s: begun with more steps than --epochs, --max-steps "
                       "and --accumulate now give: a run is resumed with the "
                       "options it was begun with",
                       s->resume_from);
    DF_TRY(status);
    s->steps = df_plan_steps(s->plan);
    return DF_OK;
}

static df_status
begin_weights(struct session *s)
{
    if (s->resume_from)
        return df_run_resume(s->run, s->resume_from);
    if (s->init)
        return df_run_init_from(s->run, df_drafter_files_tensors(s->init));
    return df_run_init(s->run);
}

static struct df_objective
objective(void)
{
    return (struct df_objective){.dpace = opt.loss == LOSS_DPACE,
                                 .gamma = (float) opt.loss_decay_gamma,
                                 .alpha = (float) opt.dpace_alpha};
}

static struct df_adamw_options
adamw(void)
{
    return (struct df_adamw_options){.beta1 = 0.9f,
                                     .beta2 = 0.999f,
                                     .eps = 1e-8f,
                                     .weight_decay = (float) opt.weight_decay,
                                     .max_norm = opt.max_grad_norm};
}

/* Where samples come from, and what follows from that.  */
static void
choose_source(struct session *s, struct df_run_options *o)
{
    o->plan = s->plan;
    o->pipe_steps = s->steps;
    o->per_step = (size_t) opt.accumulate * s->drafters.n;
    if (s->captures) {
        o->records = (struct df_record_source){s->captures, captures_read,
                                               captures_next};
        o->eval_records =
            (struct df_record_source){s->eval_captures, captures_read, NULL};
        o->split = captures_split(s->captures);
        if (!s->plan) /* they come in order */
            o->prefetch_threads = 1;
        return;
    }
    o->train = (struct df_source){&s->train, samples_read};
    o->eval = (struct df_source){&s->eval, samples_read};
    o->split = opt.split;
}

static struct df_run_options
run_options(struct session *s)
{
    struct df_run_options o = {
        .targets = s->targets.devices,
        .n_targets = s->targets.n,
        .drafters = s->drafters.devices,
        .n_drafters = s->drafters.n,
        .prefetch_threads = (size_t) input.prefetch_threads,
        .depth = (size_t) input.depth,
        .min_ready = (size_t) opt.min_ready,
        .compile = opt.compile,
        .transport = (enum df_transport) opt.transport,
        .limits = s->limits,
        .target_config = &s->model.config,
        .target_tensors = s->model.tensors,
        .layer_ids = s->drafter.target_layer_ids,
        .n_layer_ids = (size_t) s->drafter.n_target_layer_ids,
        .drafter_config = s->drafter,
        .form = {.layout = (enum df_drafter_layout) opt.layout,
                 .verifier = opt.verifier ? opt.verifier : input.target,
                 .target = {&s->model.config, s->model.tensors}},
        .seed = (uint64_t) input.seed,
        .objective = objective(),
        .adamw = adamw(),
        .learning_rate = opt.learning_rate,
        .warmup_ratio = opt.warmup_ratio,
        .noise = (float) opt.noise,
        .first_step = s->first_step,
        .checkpoint_dir = s->checkpoint_dir,
        .save_interval = opt.save_interval,
        .keep = opt.keep,
        .identity = s->identity,
        .notes = s->notes,
    };

    o.trial = trial_options(s);
    o.observer =
        (struct df_observer){s, watch_record, watch_saved, trial_decoded};
    choose_source(s, &o);
    return o;
}

df_status
describe_run(struct session *s)
{
    struct df_run_options o;

    DF_TRY(make_plan(s));
    DF_TRY(describe_identity(s));
    o = run_options(s);
    DF_TRY(df_run_new(&s->run, &o));
    return begin_weights(s);
}

void
close_session(struct session *s)
{
    df_run_free(s->run);
    df_plan_free(s->plan);
    df_drafter_files_free(s->init);
    trial_close(s->trial);
    samples_close(&s->train);
    samples_close(&s->eval);
    captures_close(s->captures);
    captures_close(s->eval_captures);
    model_close(&s->model);
    places_close(&s->places);
    if (s->metrics)
        fclose(s->metrics);
    free(s->metrics_path);
    free(s->identity);
    free(s->notes);
    free(s->checkpoint_dir);
    free(s->resume_from);
}

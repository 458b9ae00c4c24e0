/* The run as the library wants it described.  */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "dflash-train/options.h"
#include "dflash-train/output.h"
#include "dflash-train/session.h"

static df_status
read_sample(void *arg, size_t thread, uint32_t index, struct df_sample *out)
{
    struct sample_source *source = arg;

    return df_reader_read(source->readers[thread], index, out);
}

static df_status
make_plan(struct session *s)
{
    const struct df_dataset *train = s->train.dataset;
    const struct df_dataset *eval = s->eval.dataset;
    struct df_plan_options o = {.seed = (uint64_t) opt.seed,
                                .token_budget = (size_t) opt.token_budget,
                                .max_seqs = (size_t) opt.max_batch_size,
                                .epochs = opt.epochs,
                                .max_steps = opt.max_steps,
                                .per_step =
                                    (size_t) opt.accumulate * s->n_drafters,
                                .first_step = s->first_step,
                                .eval_interval = opt.eval_interval};
    df_status status;

    if (o.epochs == 0 && o.max_steps == 0)
        o.epochs = 1;
    status = df_plan_new(&s->plan, df_dataset_lengths(train),
                         df_dataset_size(train),
                         eval ? df_dataset_lengths(eval) : NULL,
                         eval ? df_dataset_size(eval) : 0, &o);
    if (status == DF_INVALID && s->resume_from)
        return DF_FAIL(DF_INVALID,
                       "%s: begun with more steps than --epochs, --max-steps "
                       "and --accumulate now give: a run is resumed with the "
                       "options it was begun with",
                       s->resume_from);
    return status;
}

static df_status
begin_weights(struct session *s)
{
    struct df_tensors *ts;
    df_status status;

    if (s->resume_from)
        return df_run_resume(s->run, s->resume_from);
    if (!opt.init_from)
        return df_run_init(s->run);
    DF_TRY(df_tensors_open(&ts, opt.init_from));
    status = df_run_init_from(s->run, ts);
    df_tensors_free(ts);
    return status;
}

/* --init-from brings weights: what computes with them has to be alike.  */
static df_status
check_init_from(const struct session *s)
{
    struct df_drafter_config c;

    if (!opt.init_from || s->resume_from)
        return DF_OK;
    DF_TRY(df_drafter_config_load(&c, opt.init_from));
    if (c.block_size != s->drafter.block_size
        || c.mask_token_id != s->drafter.mask_token_id)
        return DF_FAIL(DF_SHAPE,
                       "%s: trained with block size %d and mask token %d, "
                       "not %d and %d",
                       opt.init_from, c.block_size, c.mask_token_id,
                       s->drafter.block_size, s->drafter.mask_token_id);
    if (c.d.num_hidden_layers != s->drafter.d.num_hidden_layers)
        return DF_FAIL(DF_SHAPE, "%s: of %d layers, not %d", opt.init_from,
                       c.d.num_hidden_layers, s->drafter.d.num_hidden_layers);
    if (c.n_target_layer_ids != s->drafter.n_target_layer_ids
        || memcmp(c.target_layer_ids, s->drafter.target_layer_ids,
                  (size_t) c.n_target_layer_ids * sizeof(int))
               != 0)
        return DF_FAIL(DF_SHAPE,
                       "%s: trained on other layers of the target: give "
                       "them with --target-layer-ids",
                       opt.init_from);
    return DF_OK;
}

static struct df_run_options
run_options(struct session *s)
{
    return (struct df_run_options){
        .targets = s->targets,
        .n_targets = s->n_targets,
        .drafters = s->drafters,
        .n_drafters = s->n_drafters,
        .prefetch_threads = (size_t) opt.prefetch_threads,
        .depth = (size_t) opt.depth,
        .min_ready = (size_t) opt.min_ready,
        .split = opt.split,
        .compile = opt.compile,
        .transport = (enum df_transport) opt.transport,
        .train = {&s->train,                        read_sample },
        .eval = {                               &s->eval,                     read_sample            },
        .plan = s->plan,
        .limits = s->limits,
        .target_config = &s->config,
        .target_tensors = s->tensors,
        .layer_ids = s->drafter.target_layer_ids,
        .n_layer_ids = (size_t) s->drafter.n_target_layer_ids,
        .drafter_config = s->drafter,
        .seed = (uint64_t) opt.seed,
        .objective = { .dpace = opt.loss == LOSS_DPACE,
                  .gamma = (float) opt.loss_decay_gamma,
                  .alpha = (float) opt.dpace_alpha},
        .adamw = {                               .beta1 = 0.9f,
                  .beta2 = 0.999f,
                  .eps = 1e-8f,
                  .weight_decay = (float) opt.weight_decay,
                  .max_norm = opt.max_grad_norm},
        .learning_rate = opt.learning_rate,
        .warmup_ratio = opt.warmup_ratio,
        .noise = (float) opt.noise,
        .first_step = s->first_step,
        .checkpoint_dir = s->checkpoint_dir,
        .save_interval = opt.save_interval,
        .keep = opt.keep,
        .identity = s->identity,
        .notes = s->notes,
        .observer = {                                                  s,                                watch_record, watch_saved}
    };
}

df_status
describe_run(struct session *s)
{
    struct df_run_options o;

    DF_TRY(check_init_from(s));
    DF_TRY(make_plan(s));
    DF_TRY(describe_identity(s));
    o = run_options(s);
    DF_TRY(df_run_new(&s->run, &o));
    return begin_weights(s);
}

static void
close_source(struct sample_source *source)
{
    for (size_t i = 0; i < MAX_PLACES; i++)
        df_reader_free(source->readers[i]);
    df_dataset_free(source->dataset);
}

void
close_session(struct session *s)
{
    df_run_free(s->run);
    df_plan_free(s->plan);
    close_source(&s->train);
    close_source(&s->eval);
    df_tokenizer_free(s->tokenizer);
    df_tensors_free(s->tensors);
    for (size_t i = 0; i < s->n_devices; i++)
        df_device_close(s->devices[i]);
    if (s->metrics)
        fclose(s->metrics);
    free(s->metrics_path);
    free(s->chat_template);
    free(s->identity);
    free(s->notes);
    free(s->checkpoint_dir);
    free(s->resume_from);
}

/* The drafter that is being trained, tried out between two steps: what it
   drafts is verified by a target of the trial's own, on the stream of its
   lane, so that nobody else's buffers are in use.  The weights are also those
   of the run's targets on this device.  */
#include <config.h>

#include "pipe/run_internal.h"

df_status
df_trial_make_target(struct df_run *run)
{
    const struct df_batch_limits limits = df_generator_limits(
        &run->o.trial.options, (size_t) run->o.drafter_config.block_size);

    return df_target_new(&run->trial.target, run->o.target_config,
                         run->o.target_tensors,
                         df_run_embeddings(run, run->o.drafters[0]), &limits,
                         run->o.target_config->d.num_hidden_layers - 1);
}

df_status
df_trial_make(struct df_run *run)
{
    struct df_lane *lane = &run->lanes[0];

    return df_generator_new(&run->trial.generator, run->trial.target,
                            lane->drafter, lane->compute,
                            &run->o.trial.options);
}

bool
df_trial_is_due(const struct df_run *run, int64_t step)
{
    const struct df_trial *t = &run->o.trial;

    return t->n > 0 && step > 0
           && (step == run->steps
               || (t->interval > 0 && step % t->interval == 0));
}

df_status
df_trial_warm_up(struct df_run *run)
{
    return df_generator_warm_up(run->trial.generator);
}

static df_status
next_prompt(void *arg, struct df_prompt *out)
{
    struct df_run *run = arg;

    if (run->trial.next == run->o.trial.n || atomic_load(&run->stop))
        return DF_END;
    *out = run->o.trial.prompts[run->trial.next++];
    return DF_OK;
}

static df_status
ignore_answer(void *arg, const struct df_answer *answer)
{
    (void) arg;
    (void) answer;
    return DF_OK;
}

/* One that df_run_stop has cut short has nothing to tell.  */
df_status
df_trial_run(struct df_run *run, int64_t step)
{
    const struct df_decode_job job = {
        .arg = run, .next = next_prompt, .done = ignore_answer};
    struct df_generator *g = run->trial.generator;
    struct df_decoded decoded = {.step = step};

    run->trial.next = 0;
    df_generator_clear_stats(g);
    DF_TRY(df_generate(g, &job));
    df_generator_get_stats(g, &decoded.stats);
    if (!run->o.observer.decoded || run->trial.next < run->o.trial.n)
        return DF_OK;
    return run->o.observer.decoded(run->o.observer.arg, &decoded);
}

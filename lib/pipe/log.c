/* The last stage: sums over the batches of a step or an evaluation, when
   their copies have arrived, and the record of it for the observer.  */
#include <config.h>

#include <math.h>

#include "pipe/run_internal.h"

static void
add_sums(struct df_loss_sums *to, const struct df_loss_sums *from)
{
    to->loss += from->loss;
    to->weight += from->weight;
    to->accept += from->accept;
    to->blocks += from->blocks;
    for (int j = 0; j < DF_MAX_BLOCK; j++) {
        to->correct[j] += from->correct[j];
        to->total[j] += from->total[j];
    }
}

/* Of nothing it is no number.  */
static double
ratio(double part, double whole)
{
    return whole > 0 ? part / whole : (double) NAN;
}

static void
fill_accuracy(struct df_record *r, const struct df_loss_sums *sums)
{
    double correct = 0, total = 0;

    for (size_t j = 0; j < r->block_size; j++) {
        correct += sums->correct[j];
        total += sums->total[j];
        r->slot_accuracy[j] =
            sums->total[j] > 0 ? sums->correct[j] / sums->total[j] : -1;
    }
    r->accuracy = ratio(correct, total);
}

static struct df_record
make_record(const struct df_run *run, const struct df_tally *t,
            const struct df_metric *m)
{
    struct df_record r = {.kind = m->kind,
                          .step = m->step,
                          .epoch = m->epoch,
                          .block_size = run->o.limits.block_size,
                          .accept_length =
                              ratio(t->sums.accept, t->sums.blocks),
                          .seconds = df_pipe_seconds(run->pipe),
                          .tokens = t->tokens};
    double denominator =
        run->o.objective.dpace ? (double) t->sequences : t->sums.weight;

    r.loss = ratio(t->sums.loss, denominator);
    fill_accuracy(&r, &t->sums);
    return r;
}

static void
fill_step(struct df_run *run, struct df_record *r, const struct df_tally *t)
{
    r->learning_rate = t->learning_rate;
    r->grad_norm = t->state.norm;
    r->skipped = t->state.skipped_in_a_row > 0;
    r->tokens_per_second =
        (double) r->tokens / (r->seconds - run->last_seconds);
    run->last_seconds = r->seconds;
    if (t->state.skipped_in_a_row > DF_SKIPS_TOLERATED)
        atomic_store(&run->diagnose, true);
}

static void
complete(struct df_run *run, struct df_tally *t, const struct df_metric *m)
{
    struct df_record r = make_record(run, t, m);

    if (m->kind == DF_BATCH_TRAIN) {
        fill_step(run, &r, t);
        atomic_fetch_add(&run->tokens, t->tokens);
    }
    if (run->o.observer.record)
        run->o.observer.record(run->o.observer.arg, &r);
    if (m->kind == DF_BATCH_TRAIN)
        atomic_store(&run->steps_logged, m->step + 1);
    *t = (struct df_tally){0};
}

df_status
df_log_work(struct df_worker *worker, struct df_item *item)
{
    struct df_run *run = df_worker_context(worker);
    struct df_metric *m = item->data;
    struct df_tally *t =
        m->kind == DF_BATCH_TRAIN ? &run->tally : &run->eval_tally;

    DF_TRY(df_worker_await(worker, m->copied.last));
    add_sums(&t->sums, m->sums);
    t->batches++;
    t->tokens += m->T;
    t->sequences += m->B;
    if (m->has_state) {
        t->state = *m->state;
        t->learning_rate = m->learning_rate;
    }
    if (t->batches == m->count)
        complete(run, t, m);
    df_freelist_give(run->free_metrics, m);
    item->data = NULL;
    return DF_OK;
}

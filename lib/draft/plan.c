#include <config.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "dflash/philox.h"
#include "dflash/plan.h"
#include "draft/order_internal.h"

struct df_plan {
    struct df_plan_options o;
    uint64_t key;
    int64_t total; /* training batches of the whole run */
    int64_t steps;
    pthread_mutex_t mutex;

    /* Where the run stands, under MUTEX: batch number BATCH of EPOCH is the
       next of training, unless evaluation batch number EVAL_BATCH comes
       first.  */
    struct df_order train, eval;
    int64_t epoch;
    size_t batch;
    int64_t done; /* training batches handed out or left out */
    bool in_eval;
    size_t eval_batch;
    uint64_t seq;
};

static df_status
check_options(const struct df_plan_options *o)
{
    if (o->token_budget < 1 || o->max_seqs < 1)
        return DF_FAIL(DF_INVALID,
                       "a plan of %zu tokens and %zu samples a batch",
                       o->token_budget, o->max_seqs);
    if (o->epochs < 0 || o->max_steps < 0 || o->first_step < 0
        || o->eval_interval < 0)
        return DF_FAIL(DF_INVALID,
                       "a plan of %lld epochs, %lld steps from %lld on, "
                       "evaluated every %lld",
                       (long long) o->epochs, (long long) o->max_steps,
                       (long long) o->first_step,
                       (long long) o->eval_interval);
    if (o->epochs == 0 && o->max_steps == 0)
        return DF_FAIL(DF_INVALID, "a plan with neither epochs nor steps");
    int64_t steps =
        o->max_steps > o->first_step ? o->max_steps : o->first_step;
    if (o->per_step < 1 || o->per_step > INT32_MAX
        || steps > INT64_MAX / INT32_MAX)
        return DF_FAIL(DF_INVALID, "a plan of %lld steps of %zu batches",
                       (long long) steps, o->per_step);
    return DF_OK;
}

/* Go through the epochs to learn how many batches the run has, and stop at
   the batch that the run resumes at.  Each epoch is cut on its own, so none
   can be known without its order.  */
static void
count_batches(struct df_plan *p)
{
    int64_t limit = p->o.max_steps * (int64_t) p->o.per_step;
    int64_t first = p->o.first_step * (int64_t) p->o.per_step;
    int64_t epoch, total = 0, made = -1;

    for (epoch = 0; (p->o.epochs == 0 || epoch < p->o.epochs)
                    && (limit == 0 || total < limit);
         epoch++) {
        df_order_shuffled(&p->train, p->key, epoch);
        made = epoch;
        if (first >= total) {
            p->epoch = epoch;
            p->batch = (size_t) (first - total);
        }
        total += (int64_t) p->train.batches;
    }
    p->total = limit > 0 && limit < total ? limit : total;
    p->steps = (p->total - 1) / (int64_t) p->o.per_step + 1;
    p->done = first;
    if (p->epoch != made)
        df_order_shuffled(&p->train, p->key, p->epoch);
}

/* Whether an evaluation follows STEP done steps.  */
static bool
is_eval_step(const struct df_plan *p, int64_t step)
{
    if (p->eval.n == 0)
        return false;
    return step == 0 || step == p->steps
           || (p->o.eval_interval > 0 && step % p->o.eval_interval == 0);
}

static df_status
prepare(struct df_plan *p, const uint32_t *lengths, size_t n,
        const uint32_t *eval_lengths, size_t n_eval)
{
    const struct df_plan_options *o = &p->o;

    if (n == 0)
        return DF_FAIL(DF_INVALID, "no sample to train on");
    DF_TRY(df_order_init(&p->train, lengths, n, o->token_budget, o->max_seqs,
                         o->window, "training sample"));
    DF_TRY(df_order_init(&p->eval, eval_lengths, n_eval, o->token_budget,
                         o->max_seqs, o->window, "evaluation sample"));
    df_order_plain(&p->eval);
    count_batches(p);
    if (o->first_step > p->steps)
        return DF_FAIL(DF_INVALID,
                       "resuming at step %lld of a run of %lld steps",
                       (long long) o->first_step, (long long) p->steps);
    p->in_eval = is_eval_step(p, o->first_step);
    return DF_OK;
}

df_status
df_plan_new(struct df_plan **out, const uint32_t *lengths, size_t n,
            const uint32_t *eval_lengths, size_t n_eval,
            const struct df_plan_options *options)
{
    struct df_plan *p;
    df_status status;

    *out = NULL;
    DF_TRY(check_options(options));
    p = calloc(1, sizeof *p);
    if (!p)
        return DF_FAIL(DF_NO_MEMORY, "a plan");
    pthread_mutex_init(&p->mutex, NULL);
    p->o = *options;
    if (p->o.window == 0)
        p->o.window = 32 * p->o.max_seqs;
    p->key = df_key(p->o.seed, DF_KEY_ORDER);
    status = prepare(p, lengths, n, eval_lengths, n_eval);
    if (status != DF_OK) {
        df_plan_free(p);
        return status;
    }
    *out = p;
    return DF_OK;
}

void
df_plan_free(struct df_plan *p)
{
    if (!p)
        return;
    df_order_clear(&p->train);
    df_order_clear(&p->eval);
    pthread_mutex_destroy(&p->mutex);
    free(p);
}

int64_t
df_plan_steps(const struct df_plan *p)
{
    return p->steps;
}

/* Copy the samples of batch number BATCH of ORDER.  */
static void
fill(struct df_plan_item *item, const struct df_order *order, size_t batch)
{
    size_t from = order->starts[batch];

    item->n = order->starts[batch + 1] - from;
    memcpy(item->samples, order->samples + from,
           item->n * sizeof *item->samples);
}

static void
next_eval(struct df_plan *p, struct df_plan_item *item)
{
    size_t per_step = p->o.per_step;

    fill(item, &p->eval, p->eval_batch);
    item->kind = DF_BATCH_EVAL;
    item->step = (p->done + (int64_t) per_step - 1) / (int64_t) per_step;
    item->epoch = 0;
    item->index = p->eval_batch++;
    item->count = p->eval.batches;
    if (p->eval_batch == item->count) {
        p->in_eval = false;
        p->eval_batch = 0;
    }
}

static void
next_train(struct df_plan *p, struct df_plan_item *item)
{
    int64_t per_step = (int64_t) p->o.per_step;

    if (p->batch == p->train.batches) {
        df_order_shuffled(&p->train, p->key, ++p->epoch);
        p->batch = 0;
    }
    fill(item, &p->train, p->batch++);
    item->kind = DF_BATCH_TRAIN;
    item->step = p->done / per_step;
    item->epoch = p->epoch;
    item->index = (size_t) (p->done++ % per_step);
    item->count = (size_t) (p->total - item->step * per_step < per_step
                                ? p->total - item->step * per_step
                                : per_step);
    p->in_eval =
        item->index + 1 == item->count && is_eval_step(p, item->step + 1);
}

df_status
df_plan_next(struct df_plan *p, struct df_plan_item *item)
{
    df_status status = DF_OK;

    pthread_mutex_lock(&p->mutex);
    if (p->in_eval)
        next_eval(p, item);
    else if (p->done < p->total)
        next_train(p, item);
    else
        status = DF_END;
    if (status == DF_OK)
        item->seq = p->seq++;
    pthread_mutex_unlock(&p->mutex);
    return status;
}

/* plan.h - which samples go into which batch of which step.

   The plan of an epoch follows from the samples' lengths and the seed
   alone: never from threads, devices or time.  So a run resumes at any step
   without reading what came before it, and the number of steps is known
   before the first.

   An epoch: the samples in an order drawn by (seed, epoch); cut into
   windows; in a window sorted by length, so that similar lengths come
   together; batches filled up to the token budget and the maximal number of
   sequences; the window's batches shuffled.

   Batches run on across epochs: optimizer step s takes the batches
   s*per_step .. (s+1)*per_step-1 of the whole run; the last step of the run
   may have fewer.  Evaluations come between steps; the batches of each are
   the same.  */

#ifndef DFLASH_PLAN_H
#define DFLASH_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "dflash/batch.h"
#include "dflash/error.h"

DF_BEGIN_DECLS

struct df_plan;

struct df_plan_options {
    uint64_t seed;
    size_t token_budget, max_seqs;
    size_t window;         /* samples sorted together; 0: 32 * max_seqs */
    int64_t epochs;        /* 0: as many as max_steps needs */
    int64_t max_steps;     /* 0: as the epochs give.  Of both, the one that
                              ends first; at least one isn't 0 */
    size_t per_step;       /* batches an optimizer step, at least 1 */
    int64_t first_step;    /* resume here: what comes before it is left out;
                              an evaluation due at it, which the run may
                              have been stopped before, is not */
    int64_t eval_interval; /* steps between evaluations, 0: only the first
                              (before step 0) and the last (after the run) */
};

/* A plan for N training samples of LENGTHS[n] tokens and N_EVAL samples for
   evaluation (may be 0); the arrays are copied.  This goes through the
   orders of all epochs, to count the steps.  DF_INVALID: no training sample,
   one without tokens or with more than the budget, options out of range, or
   first_step beyond the end of the run.  */
DF_EXPORT DF_MUST_USE df_status
df_plan_new(struct df_plan **out, const uint32_t *lengths, size_t n,
            const uint32_t *eval_lengths, size_t n_eval,
            const struct df_plan_options *options);
DF_EXPORT void df_plan_free(struct df_plan *plan);

/* Optimizer steps of the whole run.  */
DF_EXPORT int64_t df_plan_steps(const struct df_plan *plan);

/* One entry of the schedule.  */
struct df_plan_item {
    uint64_t seq; /* from 0, without holes, in the order of the run */
    enum df_batch_kind kind;
    int64_t step;      /* see struct df_batch */
    int64_t epoch;     /* of an evaluation 0, so that its anchors stay */
    size_t index;      /* number of the batch within its step, or of its
                          evaluation */
    size_t count;      /* batches of that step, or of that evaluation */
    size_t n;          /* samples */
    uint32_t *samples; /* [n] indexes into LENGTHS or EVAL_LENGTHS; room
                          for max_seqs, the caller's */
};

/* Take the next entry.  Safe from several threads at once.  DF_END after the
   last.  */
DF_EXPORT DF_MUST_USE df_status df_plan_next(struct df_plan *plan,
                                             struct df_plan_item *item);

DF_END_DECLS
#endif

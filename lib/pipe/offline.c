/* Training from captures as one table:

     captures -> [read xP] -> hidden -> [drafter xM] -> metrics -> [log]
                              reservoir  lanes          by number

   A reader takes a slot and fills it with the plan's next batch; the second
   half is that of live training.  From a pipe, one reader takes the batches
   as they were captured.  */
#include <config.h>

#include <string.h>

#include "pipe/run_internal.h"

enum {
    HIDDEN,
    METRICS
};

static df_status
acquire(struct df_worker *worker)
{
    struct df_run *run = df_worker_context(worker);
    struct df_reader_state *r = df_worker_state(worker);
    void *slot;

    DF_TRY(df_freelist_take(run->free_slots, worker, &slot));
    r->slot = slot;
    DF_TRY(df_event_wait(r->slot->own.free.last));
    return df_prefetch_acquire(worker);
}

/* Copy the N rows of SAMPLE behind the FIRST that are in MEMORY.  */
static void
copy_rows(const struct df_hidden_layout *l, void *memory, size_t first,
          const struct df_capture_sample *sample)
{
    for (size_t k = 0; k < (l->split ? l->K : 1); k++) {
        size_t ld = df_hidden_ld(l, k);

        memcpy(df_hidden_layer(l, memory, k) + first * ld, sample->hidden[k],
               sample->n * ld * sizeof(uint16_t));
    }
}

static df_status
add(struct df_run *run, struct df_reader_state *r,
    const struct df_capture_sample *s)
{
    size_t first = r->box->batch->T;

    DF_TRY(df_batch_add(r->box->batch,
                        &(struct df_sample){.id = s->id,
                                            .n = s->n,
                                            .ids = s->ids,
                                            .loss_mask = s->loss_mask}));
    copy_rows(&run->layout, r->slot->own.memory, first, s);
    return DF_OK;
}

static df_status
read_planned(struct df_run *run, size_t thread, struct df_reader_state *r,
             struct df_plan_item *item)
{
    const struct df_record_source *source;
    struct df_capture_sample sample;

    DF_TRY(df_plan_next(run->o.plan, item));
    source =
        item->kind == DF_BATCH_EVAL ? &run->o.eval_records : &run->o.records;
    for (size_t i = 0; i < item->n; i++) {
        DF_TRY(source->read(source->arg, thread, item->samples[i], &sample));
        if (sample.n > 0)
            DF_TRY(add(run, r, &sample));
    }
    return DF_OK;
}

/* The sample that begins the next batch; ended when the pipe ended, or when
   whoever reads it gave up: then the run is stopped, and ends where a pipe
   would.  */
static df_status
peek(struct df_run *run)
{
    struct df_pipe_input *p = &run->pipe_input;

    if (p->has_next || p->ended)
        return DF_OK;
    df_status status = run->o.records.next(run->o.records.arg, &p->next);
    p->has_next = status == DF_OK;
    p->ended = status == DF_END || status == DF_CANCELED;
    if (status == DF_CANCELED)
        atomic_store(&run->stopped, true);
    return p->ended ? DF_OK : status;
}

static bool
fits(const struct df_batch *batch, const struct df_capture_sample *s)
{
    return batch->B == 0
           || (batch->B < batch->limits.max_seqs
               && batch->T + s->n <= batch->limits.max_tokens);
}

/* The samples of the batch that was captured next, as far as they fit: two
   batches of one number may meet, where captures were joined.  */
static df_status
read_pipe(struct df_run *run, struct df_reader_state *r,
          struct df_plan_item *item)
{
    struct df_pipe_input *p = &run->pipe_input;
    int64_t per_step = (int64_t) run->o.per_step;
    int64_t number = (int64_t) p->batches;

    DF_TRY(peek(run));
    if (p->ended || number >= run->o.pipe_steps * per_step) {
        atomic_store(&run->steps, (number + per_step - 1) / per_step);
        return DF_END;
    }
    for (uint64_t batch = p->next.batch; p->has_next && p->next.batch == batch
                                         && fits(r->box->batch, &p->next);) {
        DF_TRY(add(run, r, &p->next));
        p->has_next = false;
        DF_TRY(peek(run));
    }
    item->seq = p->batches++;
    item->kind = DF_BATCH_TRAIN;
    item->step = number / per_step;
    item->epoch = 0;
    item->index = (size_t) (number % per_step);
    item->count = p->ended ? item->index + 1 : (size_t) per_step;
    return DF_OK;
}

static df_status
read_batch(struct df_worker *worker, struct df_item *item)
{
    struct df_run *run = df_worker_context(worker);
    struct df_reader_state *r = df_worker_state(worker);
    struct df_plan_item next = {.samples = r->samples};
    struct df_slot *slot = r->slot;

    DF_TRY(df_slot_move(slot, DF_SLOT_FREE, DF_SLOT_FILLING));
    df_batch_clear(r->box->batch);
    DF_TRY(run->o.plan ? read_planned(run, df_worker_index(worker), r, &next)
                       : read_pipe(run, r, &next));
    DF_TRY(df_prefetch_conclude(run, r->box->batch, &next));
    slot->box = r->box;
    DF_TRY(df_slot_move(slot, DF_SLOT_FILLING, DF_SLOT_COPYING));
    DF_TRY(df_slot_move(slot, DF_SLOT_COPYING, DF_SLOT_READY));
    item->seq = next.seq;
    item->data = slot;
    return DF_OK;
}

/* clang-format off */
void
df_run_draw_offline(struct df_run *run)
{
    const struct df_run_options *o = &run->o;
    const struct df_channel_def channels[] = {
        {"hidden", DF_DEALT, run->n_slots, o->min_ready},
        {"metrics", DF_ORDERED, df_run_metrics_room(run), 0},
    };
    const struct df_stage_def stages[] = {
        {"read", -1, HIDDEN, o->prefetch_threads,
         acquire, read_batch, NULL, run->reader_states},
        {"drafter", HIDDEN, METRICS, o->n_drafters,
         df_lane_acquire, df_lane_work, df_lane_finish, run->lane_states},
        {"log", METRICS, -1, 1, NULL, df_log_work, NULL, NULL},
    };

    df_run_draw(run, channels, sizeof channels / sizeof *channels, stages,
                sizeof stages / sizeof *stages);
}
/* clang-format on */

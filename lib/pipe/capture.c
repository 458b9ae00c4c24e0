/* Capturing as one table:

     JSONL -> [prefetch xP] -> batches -> [target xN] -> packed
     -> [postprocess xN] -> hidden -> [write]

   The first half is that of live training.  The writer gets the samples in
   the order of the plan, as live training would, whichever target was
   first.  */
#include <config.h>

#include "pipe/run_internal.h"

enum {
    BATCHES,
    PACKED,
    HIDDEN
};

/* The sequence number I of BATCH, whose rows begin at FIRST in MEMORY.  */
static struct df_capture_sample
sample_of(const struct df_run *run, const struct df_batch *batch, size_t i,
          void *memory)
{
    const struct df_hidden_layout *l = &run->layout;
    size_t first = (size_t) batch->host.cu_seqlens[i];
    size_t end = (size_t) batch->host.cu_seqlens[i + 1];
    const uint64_t *checks = df_hidden_check(l, memory);
    struct df_capture_sample s = {.index = batch->indexes[i],
                                  .id = batch->sample_ids[i],
                                  .batch = batch->seq,
                                  .n = end - first,
                                  .ids = batch->host.ids + first,
                                  .loss_mask = batch->loss_mask + first,
                                  .checks =
                                      checks + first * df_hidden_checks(l)};

    for (size_t k = 0; k < (l->split ? l->K : 1); k++)
        s.hidden[k] =
            df_hidden_layer(l, memory, k) + first * df_hidden_ld(l, k);
    if (l->last)
        s.last = df_hidden_layer(l, memory, l->K) + first * l->H;
    return s;
}

static df_status
write_slot(struct df_worker *worker, struct df_item *item)
{
    struct df_run *run = df_worker_context(worker);
    struct df_slot *slot = item->data;
    const struct df_batch *batch = slot->box->batch;

    DF_TRY(df_slot_move(slot, DF_SLOT_READY, DF_SLOT_CONSUMING));
    for (size_t i = 0; i < batch->B; i++) {
        struct df_capture_sample s =
            sample_of(run, batch, i, slot->own.memory);

        DF_TRY(run->o.sink.write(run->o.sink.arg, &s));
    }
    atomic_fetch_add(&run->tokens, batch->T);
    DF_TRY(df_slot_move(slot, DF_SLOT_CONSUMING, DF_SLOT_FREE));
    df_freelist_give(run->free_boxes, slot->box);
    df_freelist_give(run->free_slots, slot);
    item->data = NULL;
    if (!atomic_load(&run->stop))
        return DF_OK;
    atomic_store(&run->stopped, true);
    return DF_END;
}

/* clang-format off */
void
df_run_draw_capture(struct df_run *run)
{
    const struct df_run_options *o = &run->o;
    const struct df_channel_def channels[] = {
        {"batches", DF_ORDERED, o->n_targets + 1, 0},
        {"packed", DF_LANES, o->depth, 0},
        {"hidden", DF_ORDERED, run->n_slots, 0},
    };
    const struct df_stage_def stages[] = {
        {"prefetch", -1, BATCHES, o->prefetch_threads,
         df_prefetch_acquire, df_prefetch_work, NULL, run->reader_states},
        {"target", BATCHES, PACKED, o->n_targets,
         df_target_acquire, df_target_work, NULL, run->target_states},
        {"postprocess", PACKED, HIDDEN, o->n_targets,
         NULL, df_postprocess_work, NULL, run->target_states},
        {"write", HIDDEN, -1, 1, NULL, write_slot, NULL, NULL},
    };

    df_run_draw(run, channels, sizeof channels / sizeof *channels, stages,
                sizeof stages / sizeof *stages);
}
/* clang-format on */

/* The target's stage: forward pass, and the wanted layers packed on the same
   stream, so that the next pass cannot overwrite what is being packed.  */
#include <config.h>

#include "base/fault_internal.h"
#include "pipe/run_internal.h"

struct packing {
    struct df_run *run;
    const struct df_batch *batch;
    const struct df_batch_arrays *arrays;
    struct df_buffer *buffer;
};

struct df_noise
df_run_noise(const struct df_run *run, const struct df_batch *batch,
             const struct df_batch_arrays *arrays)
{
    bool eval = batch->kind == DF_BATCH_EVAL;

    return (struct df_noise){
        .amplitude = eval ? 0 : run->o.noise,
        .key = df_key(run->noise_key, (uint64_t) batch->epoch),
        .sample = arrays->sample,
        .token = arrays->pos,
    };
}

/* Which of the captured layers LAYER is, or K.  */
static size_t
captured(const struct df_run_options *o, int layer)
{
    size_t k = 0;

    while (k < o->n_layer_ids && o->layer_ids[k] != layer)
        k++;
    return k;
}

/* Queue layer K's rows X into their place.  */
static df_status
pack_layer(struct packing *p, size_t k, const void *x,
           struct df_stream *stream)
{
    const struct df_hidden_layout *l = &p->run->layout;
    uint64_t *checks = df_hidden_check(l, p->buffer->memory);
    struct df_noise none = {0};

    return df_pack_hidden(
        stream,
        &(struct df_pack_hidden_args){
            .out = df_hidden_layer(l, p->buffer->memory, k),
            .x = x,
            .T = p->batch->T,
            .H = l->H,
            .ldo = df_hidden_ld(l, k),
            .feature = k * l->H,
            .noise =
                l->split ? none : df_run_noise(p->run, p->batch, p->arrays),
            .check = checks ? checks + k : NULL,
            .ldcheck = df_hidden_checks(l)});
}

/* Packing takes as long as a fault says; it waits for the buffer.  */
static df_status
begin_packing(struct packing *p, struct df_stream *stream)
{
    double stall = df_fault_stall("pack", p->batch->seq);

    DF_TRY(df_stream_wait(stream, p->buffer->free.last));
    return stall > 0 ? df_stall(stream, stall) : DF_OK;
}

static df_status
pack_places(struct packing *p, int layer, const void *x,
            struct df_stream *stream)
{
    const struct df_hidden_layout *l = &p->run->layout;
    size_t k = captured(&p->run->o, layer);
    bool last =
        l->last && layer + 1 == p->run->o.target_config->d.num_hidden_layers;

    if (k == 0)
        DF_TRY(begin_packing(p, stream));
    if (k < l->K)
        DF_TRY(pack_layer(p, k, x, stream));
    return last ? pack_layer(p, l->K, x, stream) : DF_OK;
}

static df_status
pack(void *arg, int layer, const void *x, struct df_stream *stream)
{
    struct df_device *dev = df_stream_device(stream);
    df_status status;

    df_range_begin(dev, "pack", (uint64_t) layer);
    status = pack_places(arg, layer, x, stream);
    df_range_end(dev);
    return status;
}

/* The checks go where they are wanted at once, ahead of the next pass and not
   with the states: if those are overwritten before they are copied, what
   comes with them isn't the check of what took their place.  */
static df_status
bring_checks(const struct df_run *run, struct df_target_state *t,
             struct df_buffer *from, struct df_buffer *to, size_t T)
{
    const struct df_hidden_layout *l = &run->layout;

    if (!l->checks || from == to)
        return DF_OK;
    DF_TRY(df_stream_wait(t->compute, to->free.last));
    return df_copy(t->compute, df_hidden_check(l, to->memory),
                   df_hidden_check(l, from->memory),
                   T * df_hidden_checks(l) * sizeof(uint64_t));
}

df_status
df_run_forward(struct df_run *run, struct df_target_state *t,
               const struct df_batch *batch, struct df_mirror *mirror,
               struct df_buffer *buffer, struct df_buffer *own)
{
    struct packing p = {run, batch, &mirror->arrays, buffer};

    DF_TRY(df_copy(t->compute, mirror->memory, batch->memory, batch->bytes));
    DF_TRY(df_target_forward(t->target, t->compute, batch, &mirror->arrays,
                             pack, &p));
    DF_TRY(bring_checks(run, t, buffer, own, batch->T));
    DF_TRY(df_fence_record(&buffer->full, t->compute));
    return df_event_record(mirror->done, t->compute);
}

/* A slot and a buffer first, then the batch: so slots are taken in the order
   of the batches, and the batch that is next never lacks one.  A buffer is
   free when the passes before it are done, or nearly: that is waiting for
   this stage's device, not for the next stage.  */
df_status
df_target_acquire(struct df_worker *worker)
{
    struct df_run *run = df_worker_context(worker);
    struct df_target_state *t = df_worker_state(worker);
    void *slot, *buffer = NULL;

    DF_TRY(df_freelist_take(run->free_slots, worker, &slot));
    t->slot = slot;
    if (run->transport != DF_TRANSPORT_LOCAL) {
        DF_TRY(df_worker_use(worker, t->mirrors[t->turn % DF_IN_TURN].done));
        DF_TRY(df_freelist_take(t->free_buffers, worker, &buffer));
    }
    t->buffer = buffer;
    return DF_OK;
}

df_status
df_target_work(struct df_worker *worker, struct df_item *item)
{
    struct df_run *run = df_worker_context(worker);
    struct df_target_state *t = df_worker_state(worker);
    struct df_mirror *mirror = &t->mirrors[t->turn % DF_IN_TURN];
    struct df_slot *slot = t->slot;

    DF_TRY(df_slot_move(slot, DF_SLOT_FREE, DF_SLOT_FILLING));
    slot->box = item->data;
    slot->packed = t->buffer ? t->buffer : &slot->own;
    t->turn++;
    DF_TRY(df_event_wait(mirror->done));
    DF_TRY(df_run_forward(run, t, slot->box->batch, mirror, slot->packed,
                          &slot->own));
    DF_TRY(df_slot_move(slot, DF_SLOT_FILLING, DF_SLOT_COPYING));
    item->data = slot;
    return DF_OK;
}

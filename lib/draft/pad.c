/* Batches in rounded sizes.  */
#include <config.h>

#include "dflash/batch.h"

enum {
    SIZES = 32,   /* that a batch's rows are rounded to */
    ALIGNMENT = 8 /* of rows, which products like */
};

static size_t
round_up(size_t n, size_t step)
{
    return (n + step - 1) / step * step;
}

/* The step that rows, of at most MOST, are rounded up to.  */
static size_t
step_of(size_t most)
{
    return round_up((most + SIZES - 1) / SIZES, ALIGNMENT);
}

/* Blocks that BATCH needs so that SLOTS more have a place: slot 0 of its own
   blocks, which is the anchor's and never supervised, then all of others.  */
static size_t
blocks_for(const struct df_batch *batch, size_t slots)
{
    size_t b = batch->limits.block_size;
    size_t others = slots > batch->N ? slots - batch->N : 0;

    return batch->N + (others + b - 1) / b;
}

/* The place of added slot number I: its block and slot.  */
static size_t
place(const struct df_batch *batch, size_t i)
{
    size_t b = batch->limits.block_size;

    return i < batch->N ? i * b : batch->N * b + (i - batch->N);
}

/* The larger one of A and B, but at most MOST.  */
static size_t
clamp(size_t a, size_t b, size_t most)
{
    size_t n = a > b ? a : b;

    return n < most ? n : most;
}

/* Slots that are added are fewer than a step of slots, which is one of
   blocks.  */
struct df_batch_room
df_batch_room(const struct df_batch_limits *l)
{
    struct df_batch_room room = {l->max_tokens, l->max_seqs,
                                 df_batch_max_blocks(l),
                                 df_batch_max_slots(l)};
    size_t step = step_of(room.N);

    if (!l->padded)
        return room;
    room.T = round_up(room.T, step_of(room.T));
    room.R = round_up(room.N, step) * (l->block_size - 1);
    room.N = round_up(room.N + step, step);
    room.B++;
    return room;
}

struct df_batch
df_batch_padded(const struct df_batch *batch)
{
    const struct df_batch_limits *l = &batch->limits;
    size_t blocks = step_of(df_batch_max_blocks(l));
    size_t tokens = step_of(l->max_tokens), slots = l->block_size - 1;
    struct df_batch p = *batch;

    p.T = round_up(batch->T, tokens);
    p.R = round_up(batch->R, blocks * slots);
    p.N = round_up(blocks_for(batch, p.R - batch->R), blocks);
    p.B = l->max_seqs + 1;
    p.max_seqlen = clamp(l->max_seqlen, tokens, p.T);
    p.max_blocks = clamp(l->num_anchors, 2 * blocks, p.N);
    return p;
}

void
df_batch_pad(struct df_batch *batch)
{
    struct df_batch p = df_batch_padded(batch);
    struct df_batch_arrays *h = &batch->host;
    size_t b = batch->limits.block_size;

    for (size_t t = batch->T; t < p.T; t++) {
        h->sample[t] = 0;
        h->ids[t] = h->pos[t] = 0;
    }
    for (size_t s = batch->B; s < p.B; s++) {
        h->cu_seqlens[s + 1] = (int32_t) p.T;
        h->cu_blocks[s + 1] = (int32_t) p.N;
    }
    for (size_t n = batch->N; n < p.N; n++)
        h->begin[n] = h->anchor[n] = (int32_t) batch->T;
    for (size_t i = batch->N * b; i < p.N * b; i++)
        h->block_ids[i] = h->block_pos[i] = 0;
    for (size_t i = 0; i < p.R - batch->R; i++) {
        h->slot[batch->R + i] = (int32_t) place(batch, i);
        h->labels[batch->R + i] = 0;
    }
}

#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "dflash/batch.h"

enum {
    ALIGNMENT = 256
};

size_t
df_batch_max_blocks(const struct df_batch_limits *l)
{
    size_t per_seq =
        l->num_anchors < l->max_seqlen ? l->num_anchors : l->max_seqlen;

    /* Anchors are rows, so there are no more of them than tokens.  */
    return per_seq > l->max_tokens / l->max_seqs ? l->max_tokens
                                                 : per_seq * l->max_seqs;
}

size_t
df_batch_max_slots(const struct df_batch_limits *l)
{
    return df_batch_max_blocks(l) * (l->block_size - 1);
}

/* Set one pointer of the layout, BYTES long at *AT, and go past it.  */
static void *
place(uintptr_t memory, size_t *at, size_t bytes)
{
    void *p = (void *) (memory + *at);

    *at += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return p;
}

static size_t
lay_out(const struct df_batch_limits *l, void *memory,
        struct df_batch_arrays *a)
{
    struct df_batch_room room = df_batch_room(l);
    size_t T = room.T, B = room.B, N = room.N, R = room.R;
    size_t Nb = N * l->block_size, at = 0;
    uintptr_t m = (uintptr_t) memory;

    a->sample = place(m, &at, T * sizeof *a->sample);
    a->ids = place(m, &at, T * sizeof *a->ids);
    a->pos = place(m, &at, T * sizeof *a->pos);
    a->cu_seqlens = place(m, &at, (B + 1) * sizeof *a->cu_seqlens);
    a->cu_blocks = place(m, &at, (B + 1) * sizeof *a->cu_blocks);
    a->begin = place(m, &at, N * sizeof *a->begin);
    a->anchor = place(m, &at, N * sizeof *a->anchor);
    a->block_ids = place(m, &at, Nb * sizeof *a->block_ids);
    a->block_pos = place(m, &at, Nb * sizeof *a->block_pos);
    a->slot = place(m, &at, R * sizeof *a->slot);
    a->labels = place(m, &at, R * sizeof *a->labels);
    return at;
}

size_t
df_batch_bytes(const struct df_batch_limits *limits)
{
    struct df_batch_arrays unused;

    return lay_out(limits, NULL, &unused);
}

void
df_batch_layout(const struct df_batch_limits *limits, void *memory,
                struct df_batch_arrays *out)
{
    lay_out(limits, memory, out);
}

static df_status
check_limits(const struct df_batch_limits *l)
{
    if (l->max_tokens < 1 || l->max_tokens > INT32_MAX)
        return DF_FAIL(DF_INVALID,
                       "batch: %zu tokens, not within 1 and 2147483647",
                       l->max_tokens);
    if (l->max_seqs < 1 || l->max_seqs > l->max_tokens)
        return DF_FAIL(DF_INVALID,
                       "batch: %zu sequences in %zu tokens, not within 1 "
                       "and as many as tokens",
                       l->max_seqs, l->max_tokens);
    if (l->max_seqlen < 1 || l->max_seqlen > l->max_tokens)
        return DF_FAIL(DF_INVALID,
                       "batch: sequences of %zu tokens, not within 1 and "
                       "the batch's %zu",
                       l->max_seqlen, l->max_tokens);
    if (l->block_size < 2 || l->block_size > DF_MAX_BLOCK)
        return DF_FAIL(DF_INVALID, "block size %zu, not within 2 and %d",
                       l->block_size, DF_MAX_BLOCK);
    if (l->num_anchors < 1)
        return DF_FAIL(DF_INVALID, "number of anchors is 0");
    if (l->mask_token_id < 0)
        return DF_FAIL(DF_INVALID, "mask token id %d is negative",
                       l->mask_token_id);
    if (df_batch_room(l).N > INT32_MAX / l->block_size)
        return DF_FAIL(DF_INVALID,
                       "batch: %zu blocks of %zu slots are more than "
                       "2147483647 slots",
                       df_batch_room(l).N, l->block_size);
    return DF_OK;
}

static df_status
allocate(struct df_batch *batch)
{
    size_t B = batch->limits.max_seqs, T = batch->limits.max_tokens;

    batch->sample_ids = malloc(B * sizeof *batch->sample_ids);
    batch->indexes = malloc(B * sizeof *batch->indexes);
    batch->loss_mask = malloc(T);
    if (batch->device)
        DF_TRY(df_device_alloc(batch->device, DF_MEM_HOST, batch->bytes,
                               &batch->memory));
    else
        batch->memory = aligned_alloc(ALIGNMENT, batch->bytes);
    if (!batch->sample_ids || !batch->indexes || !batch->loss_mask
        || !batch->memory)
        return DF_FAIL(DF_NO_MEMORY, "a batch of %zu bytes", batch->bytes);
    return DF_OK;
}

df_status
df_batch_new(struct df_batch **out, const struct df_batch_limits *limits,
             struct df_device *dev)
{
    struct df_batch *batch;
    df_status status;

    *out = NULL;
    DF_TRY(check_limits(limits));
    batch = calloc(1, sizeof *batch);
    if (!batch)
        return DF_FAIL(DF_NO_MEMORY, "a batch");
    batch->limits = *limits;
    batch->device = dev;
    batch->bytes = df_batch_bytes(limits);
    status = allocate(batch);
    if (status != DF_OK) {
        df_batch_free(batch);
        return status;
    }
    /* What lies past the end is copied too; let it be defined.  */
    memset(batch->memory, 0, batch->bytes);
    df_batch_layout(limits, batch->memory, &batch->host);
    df_batch_clear(batch);
    *out = batch;
    return DF_OK;
}

void
df_batch_free(struct df_batch *batch)
{
    if (!batch)
        return;
    if (batch->device)
        df_device_free(batch->device, DF_MEM_HOST, batch->memory);
    else
        free(batch->memory);
    free(batch->sample_ids);
    free(batch->indexes);
    free(batch->loss_mask);
    free(batch);
}

void
df_batch_clear(struct df_batch *batch)
{
    batch->T = batch->B = batch->N = batch->R = 0;
    batch->max_seqlen = batch->max_blocks = 0;
    batch->host.cu_seqlens[0] = 0;
    batch->host.cu_blocks[0] = 0;
}

df_status
df_batch_add(struct df_batch *batch, const struct df_sample *sample)
{
    const struct df_batch_limits *l = &batch->limits;
    size_t n = sample->n, T = batch->T;

    if (n < 1 || n > l->max_seqlen)
        return DF_FAIL(DF_SHAPE,
                       "sample %llu: %zu tokens, not within 1 and %zu",
                       (unsigned long long) sample->id, n, l->max_seqlen);
    if (batch->B == l->max_seqs || n > l->max_tokens - T)
        return DF_FAIL(DF_SHAPE,
                       "sample %llu: %zu tokens don't fit behind %zu of %zu "
                       "tokens, %zu of %zu sequences",
                       (unsigned long long) sample->id, n, T, l->max_tokens,
                       batch->B, l->max_seqs);
    memcpy(batch->host.ids + T, sample->ids, n * sizeof *sample->ids);
    memcpy(batch->loss_mask + T, sample->loss_mask, n);
    for (size_t t = 0; t < n; t++) {
        batch->host.sample[T + t] = sample->id;
        batch->host.pos[T + t] = (int32_t) t;
    }
    batch->indexes[batch->B] = 0;
    batch->sample_ids[batch->B++] = sample->id;
    batch->T = T + n;
    batch->host.cu_seqlens[batch->B] = (int32_t) batch->T;
    if (n > batch->max_seqlen)
        batch->max_seqlen = n;
    return DF_OK;
}

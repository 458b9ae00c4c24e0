#include <config.h>

#include <math.h>

#include "dflash/philox.h"
#include "draft/anchors_internal.h"

/* Make the block at place P of the sequence whose rows are [FIRST, END).  */
static void
add_block(struct df_batch *batch, size_t first, size_t end, size_t p)
{
    struct df_batch_arrays *h = &batch->host;
    size_t n = batch->N++, b = batch->limits.block_size, row = first + p;

    h->begin[n] = (int32_t) first;
    h->anchor[n] = (int32_t) row;
    for (size_t j = 0; j < b; j++) {
        h->block_ids[n * b + j] =
            j == 0 ? h->ids[row] : batch->limits.mask_token_id;
        h->block_pos[n * b + j] = (int32_t) (p + j);
        if (j == 0 || row + j >= end || !batch->loss_mask[row + j])
            continue;
        h->slot[batch->R] = (int32_t) (n * b + j);
        h->labels[batch->R++] = h->ids[row + j];
    }
}

/* Make the COUNT blocks of sequence number S at the places ANCHORS.  These
   may lie in the batch's own anchor array, where the first block of S will
   be: a place is read before the block's row is written over it.  */
static void
add_blocks(struct df_batch *batch, size_t s, const int32_t *anchors,
           size_t count)
{
    size_t first = (size_t) batch->host.cu_seqlens[s];
    size_t end = (size_t) batch->host.cu_seqlens[s + 1];

    for (size_t i = 0; i < count; i++)
        add_block(batch, first, end, (size_t) anchors[i]);
    batch->host.cu_blocks[s + 1] = (int32_t) batch->N;
    if (count > batch->max_blocks)
        batch->max_blocks = count;
}

static void
begin_blocks(struct df_batch *batch)
{
    batch->N = batch->R = batch->max_blocks = 0;
    batch->host.cu_blocks[0] = 0;
}

df_status
df_batch_finish(struct df_batch *batch, uint64_t seed, int64_t epoch)
{
    const int32_t *cu = batch->host.cu_seqlens;
    uint64_t key = df_key(seed, DF_KEY_ANCHORS);

    begin_blocks(batch);
    for (size_t s = 0; s < batch->B; s++) {
        int32_t *anchors = batch->host.anchor + batch->N;
        size_t count = df_anchors_draw(
            anchors, batch->loss_mask + cu[s], (size_t) (cu[s + 1] - cu[s]),
            &batch->limits, key, batch->sample_ids[s], epoch);

        add_blocks(batch, s, anchors, count);
    }
    return DF_OK;
}

/* Whether ANCHORS[count] are ascending places of sequence number S.  */
static df_status
check_anchors(const struct df_batch *batch, size_t s, const int32_t *anchors,
              size_t count)
{
    const int32_t *cu = batch->host.cu_seqlens;
    int32_t n = cu[s + 1] - cu[s], before = -1;

    if (count > batch->limits.num_anchors)
        return DF_FAIL(DF_SHAPE, "sequence %zu: %zu anchors, at most %zu", s,
                       count, batch->limits.num_anchors);
    for (size_t i = 0; i < count; i++) {
        if (anchors[i] <= before || anchors[i] >= n)
            return DF_FAIL(DF_SHAPE,
                           "sequence %zu: anchor %zu is %d, not within %d "
                           "and %d",
                           s, i, anchors[i], before + 1, n - 1);
        before = anchors[i];
    }
    return DF_OK;
}

df_status
df_batch_finish_with(struct df_batch *batch, const int32_t *anchors,
                     const size_t *counts)
{
    begin_blocks(batch);
    for (size_t s = 0; s < batch->B; s++) {
        DF_TRY(check_anchors(batch, s, anchors, counts[s]));
        add_blocks(batch, s, anchors, counts[s]);
        anchors += counts[s];
    }
    return DF_OK;
}

double
df_batch_weight(const struct df_batch *batch, float gamma)
{
    size_t counts[DF_MAX_BLOCK] = {0}, b = batch->limits.block_size;
    double sum = 0;

    if (gamma == 0)
        return (double) batch->R;
    for (size_t r = 0; r < batch->R; r++)
        counts[(size_t) batch->host.slot[r] % b]++;
    for (size_t j = 1; j < b; j++)
        sum += (double) counts[j] * exp(-(double) (j - 1) / (double) gamma);
    return sum;
}

struct df_block_map
df_batch_block_map(const struct df_batch *batch,
                   const struct df_batch_arrays *arrays)
{
    return (struct df_block_map){
        .cu_seqlens = arrays->cu_seqlens,
        .cu_blocks = arrays->cu_blocks,
        .begin = arrays->begin,
        .anchor = arrays->anchor,
        .B = batch->B,
        .N = batch->N,
        .b = batch->limits.block_size,
        .T = batch->T,
        .max_seqlen = batch->max_seqlen,
        .max_blocks = batch->max_blocks,
    };
}

/* batch.h - what one micro-batch is made of, before any hidden state.

   Sequences are packed behind each other without padding.  A batch is built
   on the host from samples, in memory of a fixed layout, so that one copy
   brings it to a device: the arrays there have the same offsets.

       df_batch_clear, df_batch_add *, df_batch_finish
           -> target: ids, pos, cu_seqlens
           -> drafter: those and the blocks

   Letters as in ops.h: T tokens, B sequences, N blocks, b slots a block, R
   supervised slots.  */

#ifndef DFLASH_BATCH_H
#define DFLASH_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dflash/device.h"
#include "dflash/error.h"
#include "dflash/ops.h"

DF_BEGIN_DECLS

/* The largest batch, and how blocks are made.  */
struct df_batch_limits {
    size_t max_tokens;      /* T, at least 1 */
    size_t max_seqs;        /* B, at least 1 */
    size_t max_seqlen;      /* tokens of one sequence, <= max_tokens */
    size_t num_anchors;     /* blocks a sequence, at least 1 */
    size_t block_size;      /* b, 2..DF_MAX_BLOCK */
    int32_t mask_token_id;  /* of slots 1..b-1 */
    bool whole_blocks_only; /* of the candidates only p < sequence length - b,
                               as speculators does */
    bool padded;            /* leave room for df_batch_pad */
};

/* One sample.  LOSS_MASK[t] is 1 where token t is supervised.  */
struct df_sample {
    uint64_t id; /* the same in every epoch, run and capture */
    size_t n;
    const int32_t *ids;       /* [n] */
    const uint8_t *loss_mask; /* [n], 0 or 1 */
};

/* Pointers into host or device memory, per the same layout.  Row counts are
   in struct df_batch.  */
struct df_batch_arrays {
    uint64_t *sample;    /* [T] id of the sample that a row belongs to */
    int32_t *ids;        /* [T] */
    int32_t *pos;        /* [T] place in its sequence, from 0 */
    int32_t *cu_seqlens; /* [B+1] */
    int32_t *cu_blocks;  /* [B+1] */
    int32_t *begin;      /* [N] first row of the block's sequence */
    int32_t *anchor;     /* [N] row of the anchor; ascending */
    int32_t *block_ids;  /* [N*b] anchor token, then masks */
    int32_t *block_pos;  /* [N*b] place of the slot, may pass the end */
    int32_t *slot;       /* [R] supervised slots, n*b + j, ascending */
    int32_t *labels;     /* [R] the token that is there */
};

enum df_batch_kind {
    DF_BATCH_TRAIN,
    DF_BATCH_EVAL
};

struct df_batch {
    /* Where it stands in the schedule; plan.h.  */
    uint64_t seq; /* number among all batches of the run */
    enum df_batch_kind kind;
    int64_t step;  /* optimizer step it belongs to, from 0; of an evaluation:
                      steps done before it */
    int64_t epoch; /* of an evaluation 0 */
    size_t index;  /* number within its step, or evaluation, of COUNT */
    size_t count;

    size_t T, B, N, R;
    size_t max_seqlen, max_blocks; /* of one sequence in it */
    uint64_t *sample_ids;          /* [B] */
    uint64_t *indexes;  /* [B] places in the data set: the caller's to set */
    uint8_t *loss_mask; /* [T], host only */

    struct df_batch_limits limits;
    struct df_batch_arrays host; /* all in MEMORY */
    void *memory;
    size_t bytes;             /* of MEMORY */
    struct df_device *device; /* that MEMORY was got from, or NULL */
};

/* Bytes that the arrays need, and the arrays at MEMORY (256-aligned).  */
DF_EXPORT size_t df_batch_bytes(const struct df_batch_limits *limits);
DF_EXPORT void df_batch_layout(const struct df_batch_limits *limits,
                               void *memory, struct df_batch_arrays *out);

/* Most blocks and supervised slots that a batch of LIMITS can have.  */
DF_EXPORT size_t df_batch_max_blocks(const struct df_batch_limits *limits);
DF_EXPORT size_t df_batch_max_slots(const struct df_batch_limits *limits);

/* Rows that the arrays, and buffers for them, have room for: those of the
   largest batch, padded if LIMITS say so.  */
struct df_batch_room {
    size_t T, B, N, R;
};
DF_EXPORT struct df_batch_room
df_batch_room(const struct df_batch_limits *limits);

/* An empty batch; its memory is DEV's host memory (pinned), or plain memory
   if DEV is NULL.  Nothing is allocated after this.  */
DF_EXPORT DF_MUST_USE df_status
df_batch_new(struct df_batch **out, const struct df_batch_limits *limits,
             struct df_device *dev);
DF_EXPORT void df_batch_free(struct df_batch *batch);

DF_EXPORT void df_batch_clear(struct df_batch *batch);

/* Append SAMPLE, which is copied.  DF_SHAPE when it doesn't fit.  */
DF_EXPORT DF_MUST_USE df_status df_batch_add(struct df_batch *batch,
                                             const struct df_sample *sample);

/* Make the blocks of all sequences: min(num_anchors, candidates) anchors,
   uniform without replacement, ascending, drawn by (SEED, sample id, EPOCH).
   Slot j of a block at p is supervised iff j > 0, p + j lies within the
   sequence and is supervised there.  A block may run past the end; a
   sequence without candidates has no block.  */
DF_EXPORT DF_MUST_USE df_status df_batch_finish(struct df_batch *batch,
                                                uint64_t seed, int64_t epoch);

/* As df_batch_finish, with the anchors given: COUNTS[B] of them for each
   sequence, as ascending places within it, whatever its mask says.  DF_SHAPE
   for places outside, out of order, or more than num_anchors.  */
DF_EXPORT DF_MUST_USE df_status df_batch_finish_with(struct df_batch *batch,
                                                     const int32_t *anchors,
                                                     const size_t *counts);

/* BATCH, which is finished, in sizes that few batches differ in: T, N and R
   rounded up to one of some thirty, B, max_seqlen and max_blocks the most
   there can be.  It shares BATCH's arrays, where df_batch_pad writes what
   stands behind the end: a sequence of its own, which has blocks without
   context, and slots that are not supervised: BATCH's anchors, then those of
   the blocks that are added.  Nothing of BATCH sees it.  LIMITS.padded must
   be set.  */
DF_EXPORT struct df_batch df_batch_padded(const struct df_batch *batch);
DF_EXPORT void df_batch_pad(struct df_batch *batch);

/* How many places of MASK[n] may be anchors: those supervised whose next
   token is supervised too.  A sample without any is of no use.  */
DF_EXPORT size_t df_anchor_candidates(const uint8_t *mask, size_t n,
                                      const struct df_batch_limits *limits);

/* Sum of the dflash weights of BATCH's supervised slots.  */
DF_EXPORT double df_batch_weight(const struct df_batch *batch, float gamma);

/* The map of the blocks for the operations, over ARRAYS on a device.  */
DF_EXPORT struct df_block_map
df_batch_block_map(const struct df_batch *batch,
                   const struct df_batch_arrays *arrays);

DF_END_DECLS
#endif

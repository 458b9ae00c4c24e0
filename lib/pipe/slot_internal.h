/* slot_internal.h - where the hidden states of one batch are, and who may
   touch them.

        FREE -> FILLING -> COPYING -> READY -> CONSUMING -> FREE
               a target    copied    in the    a drafter
               packs       to host   reservoir reads

   A slot changes hands on the host at once, long before the devices are
   done with it: what keeps a buffer from being overwritten too early are
   its fences.  A buffer is written only behind its fence FREE, and read
   only behind its fence FULL; whoever takes it next must find the fence
   recorded already.  */

#ifndef DF_SLOT_INTERNAL_H
#define DF_SLOT_INTERNAL_H

#include "dflash/batch.h"
#include "dflash/device.h"
#include "pipe/fence_internal.h"

enum df_slot_state {
    DF_SLOT_FREE,
    DF_SLOT_FILLING,
    DF_SLOT_COPYING,
    DF_SLOT_READY,
    DF_SLOT_CONSUMING
};

/* Memory with the fences behind which it may be read and written.  */
struct df_buffer {
    void *memory; /* hidden states, as df_hidden_layout says */
    struct df_fence full;
    struct df_fence free;
};

/* A batch and the fence behind which its memory is free again.  */
struct df_box {
    struct df_batch *batch;
    struct df_fence free;
};

struct df_slot {
    size_t index;
    uint64_t generation; /* how often it was filled */
    enum df_slot_state state;
    struct df_box *box;       /* from FILLING on */
    struct df_buffer *packed; /* what the target packed into, until its copy
                                 is queued */
    struct df_buffer own;     /* host memory; with peer and local transport
                                 the first drafter's device's */
};

/* Move SLOT on; DF_INVALID, naming both states, if it isn't in FROM: a
   mistake of the pipe that must not go unnoticed.  */
DF_MUST_USE df_status df_slot_move(struct df_slot *slot,
                                   enum df_slot_state from,
                                   enum df_slot_state to);

/* Hidden states of K layers of width H, up to MAX_T rows, in one buffer:
   split, layer k is [T,H] at element k * MAX_T * H; packed, row t is [K*H]
   at element t * K * H.  Behind them, if wanted, the last hidden state as
   layer K, [T,H], and the checks of all, [T,K] or [T,K+1].  */
struct df_hidden_layout {
    bool split;
    bool last, checks;
    size_t max_T, K, H;
};

/* Checks of a row.  */
static inline size_t
df_hidden_checks(const struct df_hidden_layout *l)
{
    return l->checks ? l->K + l->last : 0;
}

/* Bytes of MAX_T rows in front of the last hidden state; of the checks; of
   all.  The checks are aligned.  */
static inline size_t
df_hidden_offset_last(const struct df_hidden_layout *l)
{
    return l->max_T * l->K * l->H * sizeof(uint16_t);
}
static inline size_t
df_hidden_offset_checks(const struct df_hidden_layout *l)
{
    size_t bytes = l->max_T * (l->K + l->last) * l->H * sizeof(uint16_t);

    return (bytes + 255) / 256 * 256;
}
static inline size_t
df_hidden_bytes(const struct df_hidden_layout *l)
{
    return df_hidden_offset_checks(l)
           + l->max_T * df_hidden_checks(l) * sizeof(uint64_t);
}

/* Where layer K of MEMORY begins, K itself being the last hidden state, and
   the elements from row to row.  */
static inline uint16_t *
df_hidden_layer(const struct df_hidden_layout *l, void *memory, size_t k)
{
    bool apart = l->split || k == l->K;

    return (uint16_t *) memory + k * l->H * (apart ? l->max_T : 1);
}

static inline size_t
df_hidden_ld(const struct df_hidden_layout *l, size_t k)
{
    return l->split || k == l->K ? l->H : l->K * l->H;
}

/* The checks in MEMORY, df_hidden_checks a row; NULL if there are none.  */
static inline uint64_t *
df_hidden_check(const struct df_hidden_layout *l, void *memory)
{
    char *at = memory;

    return l->checks ? (uint64_t *) (at + df_hidden_offset_checks(l)) : NULL;
}

/* Queue the copy of T rows from SRC to DST, both of layout L, without their
   checks.  */
DF_MUST_USE df_status df_hidden_copy(const struct df_hidden_layout *l,
                                     struct df_stream *stream, void *dst,
                                     const void *src, size_t T);

#endif

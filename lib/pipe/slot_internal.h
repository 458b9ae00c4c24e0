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
    struct df_buffer own;     /* host memory; with local transport the
                                 device's, and nothing is copied */
};

/* Move SLOT on; DF_INVALID, naming both states, if it isn't in FROM: a
   mistake of the pipe that must not go unnoticed.  */
DF_MUST_USE df_status df_slot_move(struct df_slot *slot,
                                   enum df_slot_state from,
                                   enum df_slot_state to);

/* Hidden states of K layers of width H, up to MAX_T rows, in one buffer:
   split, layer k is [T,H] at element k * MAX_T * H; packed, row t is [K*H]
   at element t * K * H.  */
struct df_hidden_layout {
    bool split;
    size_t max_T, K, H;
};

static inline size_t
df_hidden_bytes(const struct df_hidden_layout *l)
{
    return l->max_T * l->K * l->H * sizeof(uint16_t);
}

/* The part of MEMORY that layer K (of T rows) begins at, and the elements
   from row to row.  */
static inline uint16_t *
df_hidden_layer(const struct df_hidden_layout *l, void *memory, size_t k)
{
    return (uint16_t *) memory + k * l->H * (l->split ? l->max_T : 1);
}

static inline size_t
df_hidden_ld(const struct df_hidden_layout *l)
{
    return l->split ? l->H : l->K * l->H;
}

/* Queue the copy of T rows from SRC to DST, both of layout L.  */
DF_MUST_USE df_status df_hidden_copy(const struct df_hidden_layout *l,
                                     struct df_stream *stream, void *dst,
                                     const void *src, size_t T);

#endif

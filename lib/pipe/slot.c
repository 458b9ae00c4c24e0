#include <config.h>

#include "pipe/slot_internal.h"

static const char *const state_names[] = {
    [DF_SLOT_FREE] = "free",
    [DF_SLOT_FILLING] = "being filled",
    [DF_SLOT_COPYING] = "being copied",
    [DF_SLOT_READY] = "ready",
    [DF_SLOT_CONSUMING] = "being consumed",
};

df_status
df_slot_move(struct df_slot *slot, enum df_slot_state from,
             enum df_slot_state to)
{
    if (slot->state != from)
        return DF_FAIL(DF_INVALID,
                       "slot %zu, generation %llu, is %s instead of %s",
                       slot->index, (unsigned long long) slot->generation,
                       state_names[slot->state], state_names[from]);
    slot->state = to;
    if (to == DF_SLOT_FILLING)
        slot->generation++;
    return DF_OK;
}

df_status
df_hidden_copy(const struct df_hidden_layout *l, struct df_stream *stream,
               void *dst, const void *src, size_t T)
{
    size_t layers = l->split ? l->K : 1, row = l->H * sizeof(uint16_t);
    size_t bytes = T * row * (l->split ? 1 : l->K), step = bytes;
    size_t last = df_hidden_offset_last(l);
    const char *from = src;
    char *to = dst;

#ifdef DF_TEST_SLOWER /* a mistake that tests must notice: row by row */
    step = l->split ? row : bytes;
#endif
    for (size_t k = 0; k < layers; k++)
        for (size_t at = k * l->max_T * row, end = at + bytes; at < end;
             at += step)
            DF_TRY(df_copy(stream, to + at, from + at, step));
    if (l->last)
        return df_copy(stream, to + last, from + last, T * row);
    return DF_OK;
}

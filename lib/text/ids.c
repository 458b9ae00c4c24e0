#include <config.h>

#include <stdlib.h>

#include "text/vocab_internal.h"

df_status
df_ids_push(struct df_ids *ids, int32_t id, uint32_t start, uint32_t end)
{
    size_t cap[3] = {ids->cap, ids->cap, ids->cap};

    if (ids->n == ids->cap) {
        DF_TRY(df_grow(&ids->data, &cap[0], ids->n + 1, sizeof *ids->data));
        DF_TRY(
            df_grow(&ids->starts, &cap[1], ids->n + 1, sizeof *ids->starts));
        DF_TRY(df_grow(&ids->ends, &cap[2], ids->n + 1, sizeof *ids->ends));
        ids->cap = cap[0];
    }
    ids->data[ids->n] = id;
    ids->starts[ids->n] = start;
    ids->ends[ids->n++] = end;
    return DF_OK;
}

void
df_ids_clear(struct df_ids *ids)
{
    ids->n = 0;
}

void
df_ids_free(struct df_ids *ids)
{
    free(ids->data);
    free(ids->starts);
    free(ids->ends);
    *ids = (struct df_ids){0};
}

size_t
df_ids_from_byte(const struct df_ids *ids, size_t first, size_t boundary)
{
    size_t i = first;

    while (i < ids->n && ids->ends[i] <= boundary)
        i++;
    return i;
}

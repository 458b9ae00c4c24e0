/* A set of ids: open addressing, at most half full.  */

#include <config.h>

#include <stdlib.h>

#include "base/hash_internal.h"
#include "store/sample_internal.h"

/* The slot that has ID or could take it.  */
static size_t
find(const struct df_id_set *set, uint64_t id)
{
    size_t i = df_hash_u64(id) & (set->size - 1);

    while (set->used[i] && set->slots[i] != id)
        i = (i + 1) & (set->size - 1);
    return i;
}

bool
df_id_set_has(const struct df_id_set *set, uint64_t id)
{
    return set->size > 0 && set->used[find(set, id)];
}

static df_status
grow(struct df_id_set *set)
{
    struct df_id_set wide = {.size = set->size ? set->size * 2 : 1024};

    wide.slots = calloc(wide.size, sizeof *wide.slots);
    wide.used = calloc(wide.size, sizeof *wide.used);
    if (!wide.slots || !wide.used) {
        df_id_set_clear(&wide);
        return DF_FAIL(DF_NO_MEMORY, "a set of %zu ids", set->count);
    }
    for (size_t i = 0; i < set->size; i++)
        if (set->used[i]) {
            size_t at = find(&wide, set->slots[i]);

            wide.slots[at] = set->slots[i];
            wide.used[at] = true;
        }
    wide.count = set->count;
    df_id_set_clear(set);
    *set = wide;
    return DF_OK;
}

df_status
df_id_set_add(struct df_id_set *set, uint64_t id)
{
    if (set->count * 2 >= set->size)
        DF_TRY(grow(set));
    size_t at = find(set, id);
    set->count += !set->used[at];
    set->slots[at] = id;
    set->used[at] = true;
    return DF_OK;
}

void
df_id_set_clear(struct df_id_set *set)
{
    free(set->slots);
    free(set->used);
    *set = (struct df_id_set){0};
}

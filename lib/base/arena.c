#include <config.h>

#include "base/arena_internal.h"

enum {
    ALIGNMENT = 256
};

void *
df_arena_take(struct df_arena *a, size_t count, size_t size)
{
    char *at = a->base ? a->base + a->used : NULL;

    a->used += (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

df_status
df_arena_make(struct df_arena *a, struct df_device *dev, enum df_memory kind,
              df_layout_fn *layout, void *owner)
{
    void *base;

    *a = (struct df_arena){.dev = dev, .kind = kind};
    layout(a, owner);
    DF_TRY(df_device_alloc(dev, kind, a->used, &base));
    a->base = base;
    a->used = 0;
    layout(a, owner);
    return DF_OK;
}

void
df_arena_free(struct df_arena *a)
{
    if (a->base)
        df_device_free(a->dev, a->kind, a->base);
    a->base = NULL;
}

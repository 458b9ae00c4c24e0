/* arena_internal.h - one allocation for many buffers.

   An owner has one function that takes all its buffers from the arena.  It
   runs twice: first to find the size, then to hand out the pointers.  So
   what is planned is what is used, and nothing is allocated later.

       static void
       layout(struct df_arena *a, void *owner)
       {
           struct thing *t = owner;
           t->x = df_arena_take(a, T * H, sizeof *t->x);
       }
*/

#ifndef DF_ARENA_INTERNAL_H
#define DF_ARENA_INTERNAL_H

#include "dflash/device.h"

struct df_arena {
    struct df_device *dev;
    enum df_memory kind;
    char *base; /* NULL while planning */
    size_t used;
};

typedef void df_layout_fn(struct df_arena *arena, void *owner);

/* COUNT elements of SIZE bytes, aligned to 256; NULL while planning.  */
void *df_arena_take(struct df_arena *arena, size_t count, size_t size);

/* Allocate what LAYOUT takes, and let it take that.  */
DF_MUST_USE df_status df_arena_make(struct df_arena *arena,
                                    struct df_device *dev, enum df_memory kind,
                                    df_layout_fn *layout, void *owner);
void df_arena_free(struct df_arena *arena);

#endif

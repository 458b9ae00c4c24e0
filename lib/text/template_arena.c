#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "text/template_value_internal.h"

struct df_tpl_block {
    struct df_tpl_block *next;
    size_t used, size;
    _Alignas(16) char data[];
};

enum {
    BLOCK_SIZE = 32 << 10
};

static struct df_tpl_block *
grow(struct df_tpl_arena *arena, size_t size)
{
    struct df_tpl_block *block;

    if (size < BLOCK_SIZE)
        size = BLOCK_SIZE;
    if (size > DF_TPL_MAX_ARENA - arena->total) {
        arena->status = DF_UNSUPPORTED;
        return NULL;
    }
    block = calloc(1, sizeof *block + size);
    if (!block) {
        arena->status = DF_NO_MEMORY;
        return NULL;
    }
    block->size = size;
    block->next = arena->blocks;
    arena->blocks = block;
    arena->total += size;
    return block;
}

void *
df_tpl_alloc(struct df_tpl_arena *arena, size_t size)
{
    struct df_tpl_block *block = arena->blocks;
    void *p;

    if (size > DF_TPL_MAX_ARENA)
        size = (size_t) DF_TPL_MAX_ARENA + 1; /* which grow refuses */
    size = (size + 15) & ~(size_t) 15;
    if (!block || size > block->size - block->used)
        block = grow(arena, size);
    if (!block)
        return NULL;
    p = block->data + block->used;
    block->used += size;
    return p;
}

df_status
df_tpl_no_room(const struct df_tpl_arena *arena, const char *name, int line)
{
    if (arena->status == DF_NO_MEMORY)
        return DF_FAIL(DF_NO_MEMORY, "%s:%d: no memory", name, line);
    return DF_FAIL(DF_UNSUPPORTED, "%s:%d: more than %d MiB are needed", name,
                   line, DF_TPL_MAX_ARENA >> 20);
}

char *
df_tpl_copy(struct df_tpl_arena *arena, const char *text, size_t len)
{
    char *p = df_tpl_alloc(arena, len + 1);

    if (p)
        memcpy(p, text, len);
    return p;
}

void
df_tpl_arena_free(struct df_tpl_arena *arena)
{
    while (arena->blocks) {
        struct df_tpl_block *next = arena->blocks->next;

        free(arena->blocks);
        arena->blocks = next;
    }
}

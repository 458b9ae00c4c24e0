#include <config.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cpu/pool_internal.h"

struct block {
    size_t bytes;
    void *data;
};

/* A thread's memory; freed when it ends.  */
struct scratch {
    struct block task, op;
};

static struct {
    pthread_once_t once;
    pthread_key_t key;
    bool no_key;
    _Atomic uint64_t allocations;
    _Atomic size_t most; /* bytes that any thread has had in a task */
} all = {.once = PTHREAD_ONCE_INIT};

static void
free_scratch(void *arg)
{
    struct scratch *s = arg;

    free(s->task.data);
    free(s->op.data);
    free(s);
}

static void
make_key(void)
{
    all.no_key = pthread_key_create(&all.key, free_scratch) != 0;
}

/* The calling thread's, or NULL.  */
static struct scratch *
mine(void)
{
    struct scratch *s;

    pthread_once(&all.once, make_key);
    if (all.no_key)
        return NULL;
    s = pthread_getspecific(all.key);
    if (s)
        return s;
    s = calloc(1, sizeof *s);
    if (s && pthread_setspecific(all.key, s)) {
        free(s);
        return NULL;
    }
    return s;
}

/* Make B at least BYTES; its contents are lost.  */
static bool
grow(struct block *b, size_t bytes)
{
    if (b->bytes >= bytes)
        return true;
    if (bytes > SIZE_MAX - 63)
        return false;
    free(b->data);
    b->bytes = (bytes + 63) / 64 * 64;
    b->data = aligned_alloc(64, b->bytes);
    atomic_fetch_add(&all.allocations, 1);
    if (!b->data)
        b->bytes = 0;
    return b->data != NULL;
}

df_status
df_scratch(size_t bytes, void **out)
{
    struct scratch *s = mine();
    size_t most = atomic_load(&all.most);

    if (!s || !grow(&s->task, bytes))
        return DF_FAIL(DF_NO_MEMORY, "scratch of %zu bytes", bytes);
    while (most < bytes
           && !atomic_compare_exchange_weak(&all.most, &most, bytes))
        ;
    *out = s->task.data;
    return DF_OK;
}

df_status
df_op_scratch(size_t bytes, void **out)
{
    struct scratch *s = mine();

    if (!s || !grow(&s->op, bytes))
        return DF_FAIL(DF_NO_MEMORY, "scratch of %zu bytes", bytes);
    *out = s->op.data;
    return DF_OK;
}

uint64_t
df_scratch_allocations(void)
{
    return atomic_load(&all.allocations);
}

void
df_scratch_keep_up(void)
{
    struct scratch *s = mine();

    if (s)
        (void) grow(&s->task, atomic_load(&all.most));
}

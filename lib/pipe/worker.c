/* What a stage's work may call: its place, waiting, free lists, barriers.  */
#include <config.h>

#include <assert.h>
#include <stdlib.h>

#include "pipe/pipe_internal.h"

size_t
df_worker_index(const struct df_worker *w)
{
    return w->index;
}

void *
df_worker_state(const struct df_worker *w)
{
    return w->def->states ? w->def->states[w->index] : NULL;
}

void *
df_worker_context(const struct df_worker *w)
{
    return w->pipe->def->context;
}

df_status
df_worker_await(struct df_worker *w, struct df_event *event)
{
    double start = df_now();
    df_status status = df_event_wait(event);
    double waited = df_now() - start;

    w->waited += waited;
    pthread_mutex_lock(&w->pipe->lock);
    w->times.starved += waited;
    pthread_mutex_unlock(&w->pipe->lock);
    return status;
}

df_status
df_worker_use(struct df_worker *w, struct df_event *event)
{
    double start = df_now();
    df_status status = df_event_wait(event);

    pthread_mutex_lock(&w->pipe->lock);
    w->times.busy += df_now() - start;
    pthread_mutex_unlock(&w->pipe->lock);
    return status;
}

df_status
df_worker_barrier(struct df_worker *w)
{
    struct df_pipe *p = w->pipe;
    size_t *arrived = &p->arrived[w->stage];
    uint64_t *rounds = &p->rounds[w->stage];
    double start = df_now();
    df_status status;

    pthread_mutex_lock(&p->lock);
    uint64_t round = *rounds;
    if (++*arrived == w->def->threads) {
        *arrived = 0;
        ++*rounds;
        pthread_cond_broadcast(&p->moved);
    }
    while (*rounds == round && !df_worker_stopped(w))
        pthread_cond_wait(&p->moved, &p->lock);
    status = *rounds == round ? DF_CANCELED : DF_OK;
    w->times.blocked += df_now() - start;
    w->waited += df_now() - start;
    pthread_mutex_unlock(&p->lock);
    return status;
}

df_status
df_worker_wait(struct df_worker *w, bool (*is_true)(const void *),
               const void *arg)
{
    struct df_pipe *p = w->pipe;
    double start = df_now();
    df_status status;

    pthread_mutex_lock(&p->lock);
    while (!is_true(arg) && !df_worker_stopped(w))
        pthread_cond_wait(&p->moved, &p->lock);
    status = is_true(arg) ? DF_OK : DF_CANCELED;
    w->times.blocked += df_now() - start;
    w->waited += df_now() - start;
    pthread_mutex_unlock(&p->lock);
    return status;
}

struct df_freelist {
    struct df_pipe *pipe;
    size_t capacity;
    size_t len; /* this and THINGS: under the pipe's lock */
    void *things[];
};

df_status
df_freelist_new(struct df_freelist **out, struct df_pipe *pipe,
                size_t capacity)
{
    struct df_freelist *list =
        calloc(1, sizeof *list + capacity * sizeof *list->things);

    *out = list;
    if (!list)
        return DF_FAIL(DF_NO_MEMORY, "free list of %zu", capacity);
    list->pipe = pipe;
    list->capacity = capacity;
    return DF_OK;
}

void
df_freelist_free(struct df_freelist *list)
{
    free(list);
}

void
df_freelist_give(struct df_freelist *list, void *thing)
{
    pthread_mutex_lock(&list->pipe->lock);
    assert(list->len < list->capacity);
    list->things[list->len++] = thing;
    pthread_cond_broadcast(&list->pipe->moved);
    pthread_mutex_unlock(&list->pipe->lock);
}

df_status
df_freelist_take(struct df_freelist *list, struct df_worker *w, void **out)
{
    struct df_pipe *p = w->pipe;
    double start = df_now();
    df_status status = DF_OK;

    pthread_mutex_lock(&p->lock);
    while (list->len == 0 && !df_worker_stopped(w))
        pthread_cond_wait(&p->moved, &p->lock);
    if (df_worker_stopped(w))
        status = DF_CANCELED;
    else
        *out = list->things[--list->len];
    w->times.blocked += df_now() - start;
    w->waited += df_now() - start;
    pthread_mutex_unlock(&p->lock);
    return status;
}

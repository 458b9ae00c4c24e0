#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "pipe/pipe_internal.h"

df_status
df_channel_init(struct channel *c, const struct df_channel_def *def,
                size_t producers, size_t takers)
{
    c->def = def;
    c->producers = producers;
    c->n_takers = takers;
    c->n_lanes = def->order == DF_LANES ? producers : 1;
    c->lanes = calloc(c->n_lanes, sizeof *c->lanes);
    c->dealt = calloc(takers, sizeof *c->dealt);
    if (!c->lanes || !c->dealt)
        return DF_FAIL(DF_NO_MEMORY, "channel %s", def->name);
    for (size_t i = 0; i < takers; i++)
        c->dealt[i] = i;
    for (size_t i = 0; i < c->n_lanes; i++) {
        c->lanes[i].items = calloc(def->capacity, sizeof(struct df_item));
        if (!c->lanes[i].items)
            return DF_FAIL(DF_NO_MEMORY, "channel %s", def->name);
    }
    return DF_OK;
}

void
df_channel_clear(struct channel *c)
{
    for (size_t i = 0; c->lanes && i < c->n_lanes; i++)
        free(c->lanes[i].items);
    free(c->lanes);
    free(c->dealt);
}

static struct lane *
lane_of(struct channel *c, const struct df_worker *w)
{
    return &c->lanes[c->def->order == DF_LANES ? w->index : 0];
}

/* The least number that hasn't gone out.  */
static uint64_t
oldest(const struct channel *c)
{
    uint64_t least = c->next;

    if (c->def->order == DF_DEALT) {
        least = c->dealt[0];
        for (size_t i = 1; i < c->n_takers; i++)
            if (c->dealt[i] < least)
                least = c->dealt[i];
    }
    return least;
}

/* An ordered channel keeps room for the items that go out first: one that
   comes early waits outside.  */
static bool
has_room(const struct channel *c, const struct lane *lane,
         const struct df_item *item)
{
    if (c->def->order == DF_ORDERED || c->def->order == DF_DEALT)
        return item->seq < oldest(c) + c->def->capacity;
    return lane->len < c->def->capacity;
}

/* Where the worker's next item lies in LANE, or LEN.  */
static size_t
find(const struct channel *c, const struct lane *lane,
     const struct df_worker *w)
{
    uint64_t seq = c->def->order == DF_ORDERED ? c->next : c->dealt[w->index];
    size_t i = 0;

    if (c->def->order == DF_ORDERED || c->def->order == DF_DEALT)
        while (i < lane->len && lane->items[i].seq != seq)
            i++;
    return i;
}

static bool
serves(struct channel *c, const struct lane *lane)
{
    if (lane->len >= c->def->min_ready || c->producers == 0)
        c->serving = true;
    return c->serving;
}

df_status
df_channel_put(struct channel *c, struct df_worker *w,
               const struct df_item *item)
{
    struct df_pipe *p = w->pipe;
    struct lane *lane = lane_of(c, w);
    double start = df_now();
    df_status status = DF_OK;

    pthread_mutex_lock(&p->lock);
    while (!df_worker_stopped(w) && !has_room(c, lane, item))
        pthread_cond_wait(&p->moved, &p->lock);
    if (df_worker_stopped(w)) {
        status = DF_CANCELED;
    } else {
        lane->items[lane->len++] = *item;
        pthread_cond_broadcast(&p->moved);
    }
    w->times.blocked += df_now() - start;
    pthread_mutex_unlock(&p->lock);
    return status;
}

/* Take item I out of LANE.  */
static void
pull(struct channel *c, struct lane *lane, size_t i, struct df_worker *w,
     struct df_item *item)
{
    *item = lane->items[i];
    lane->len--;
    memmove(&lane->items[i], &lane->items[i + 1],
            (lane->len - i) * sizeof *lane->items);
    c->next++;
    c->dealt[w->index] += c->n_takers;
}

df_status
df_channel_take(struct channel *c, struct df_worker *w, struct df_item *item)
{
    struct df_pipe *p = w->pipe;
    struct lane *lane = lane_of(c, w);
    double start = df_now();
    df_status status = DF_OK;
    size_t i;

    pthread_mutex_lock(&p->lock);
    for (;;) {
        i = find(c, lane, w);
        if (df_worker_stopped(w) || (i < lane->len && serves(c, lane))
            || c->producers == 0)
            break;
        pthread_cond_wait(&p->moved, &p->lock);
    }
    if (df_worker_stopped(w)) {
        status = DF_CANCELED;
    } else if (i == lane->len) {
        status = DF_END;
    } else {
        pull(c, lane, i, w, item);
        pthread_cond_broadcast(&p->moved);
    }
    w->times.starved += df_now() - start;
    pthread_mutex_unlock(&p->lock);
    return status;
}

void
df_channel_close(struct channel *c, struct df_pipe *p)
{
    pthread_mutex_lock(&p->lock);
    c->producers--;
    pthread_cond_broadcast(&p->moved);
    pthread_mutex_unlock(&p->lock);
}

/* pipe_internal.h - a pipe from the inside.

   One lock guards all that moves, and one condition tells that something
   moved: items are large and few, a hundred a second at most, so finer
   locks would only hide mistakes.  */

#ifndef DF_PIPE_INTERNAL_H
#define DF_PIPE_INTERNAL_H

#include <pthread.h>

#include "dflash/pipe.h"

/* A sorted ring would be quicker than this list to search; there are a few
   items at most.  */
struct channel {
    const struct df_channel_def *def;
    struct lane {
        struct df_item *items; /* [capacity], the first LEN are in use, in
                                  the order they go out */
        size_t len;
    } * lanes;
    size_t n_lanes;
    uint64_t next;    /* DF_ORDERED: the number that goes out next */
    uint64_t *dealt;  /* DF_DEALT: the same of each taker */
    size_t n_takers;  /* threads of the stage that takes */
    size_t producers; /* threads that may still put */
    bool serving;     /* min_ready was reached once */
};

struct worker_times {
    double starved, blocked, busy;
};

struct df_worker {
    struct df_pipe *pipe;
    const struct df_stage_def *def;
    size_t stage, index;
    pthread_t thread;
    double waited;             /* by this item's work so far */
    struct worker_times times; /* under the lock */
    uint64_t items;            /* under the lock */
};

struct df_pipe {
    const struct df_pipe_def *def;
    struct channel *channels;
    struct df_worker *workers; /* of all stages, in order */
    size_t n_workers;

    pthread_mutex_t lock; /* guards all below, and what moves in channels,
                             free lists and workers */
    pthread_cond_t moved;
    double started; /* 0: not yet */
    bool failed;
    df_error error;   /* of the first failure */
    size_t enough;    /* stages before this one have to stop */
    size_t *arrived;  /* [n_stages] threads waiting at the barrier */
    uint64_t *rounds; /* [n_stages] barriers passed */
};

double df_now(void);

/* Whether WORKER has to stop.  Under the lock.  */
bool df_worker_stopped(const struct df_worker *worker);

/* Put ITEM; wait for room.  Take the worker's next item; DF_END after the
   last.  Both return DF_CANCELED when the worker has to stop, and book their
   waiting.  */
df_status df_channel_put(struct channel *c, struct df_worker *w,
                         const struct df_item *item);
df_status df_channel_take(struct channel *c, struct df_worker *w,
                          struct df_item *item);
/* One producer has put its last.  */
void df_channel_close(struct channel *c, struct df_pipe *pipe);

df_status df_channel_init(struct channel *c, const struct df_channel_def *def,
                          size_t producers, size_t takers);
void df_channel_clear(struct channel *c);

#endif

/* pipe.h - stages joined by channels.

   A pipe is one table, and reads as it is drawn:

       [prefetch xP] --> batches --> [target xN] --> packed --> ...

   A stage is a number of threads that all do the same: take an item from
   the channel IN, work on it, put the result into the channel OUT.  The
   loop, the waiting, the end, failures and the statistics live here, once;
   a stage is a function of one item.

   Order: every item has a number.  An ordered channel hands its items out
   by number, whatever order they came in; so the threads of a stage may
   overtake each other without changing what follows.

   What an item will need (a buffer, a slot) is taken from a free list before
   the item itself is: so the item that is next in order can never wait for
   what a later one holds, and memory is bounded.

   End: the first stage's work returns DF_END, and the channels close one
   after another.  A later stage of which a thread returns DF_END has had
   enough: the stages before it stop, its other threads get what has reached
   their channel, and the stages behind it finish.  Failure: the first one
   wins, all wake, df_pipe_run returns its status with its message.  */

#ifndef DFLASH_PIPE_H
#define DFLASH_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dflash/device.h"
#include "dflash/error.h"

DF_BEGIN_DECLS

struct df_pipe;
struct df_worker;

struct df_item {
    uint64_t seq; /* its number, from 0, without holes */
    void *data;
};

enum df_channel_order {
    DF_FIFO,    /* as they come */
    DF_ORDERED, /* by number, to any taker */
    DF_DEALT,   /* by number; taker i of n gets the numbers i, i+n, ... */
    DF_LANES    /* as they come, from thread i to thread i of the next stage;
                   both have as many threads */
};

struct df_channel_def {
    const char *name;
    enum df_channel_order order;
    size_t capacity;  /* items, at least 1; of each lane */
    size_t min_ready; /* hands nothing out before so many are there or its
                         input ended; at most the capacity */
};

/* Get what the next item will need into the worker's own structure, before
   the item is taken.  DF_CANCELED when the pipe stops; DF_END when the stage
   has had enough.  */
typedef df_status df_acquire_fn(struct df_worker *worker);

/* Work on ITEM and leave the result in it.  In the first stage, ITEM is
   empty, and DF_END says that there is no more.  Setting item->data to NULL
   passes nothing on.  */
typedef df_status df_work_fn(struct df_worker *worker, struct df_item *item);

/* The input has ended, and this worker had its last item.  */
typedef df_status df_finish_fn(struct df_worker *worker);

struct df_stage_def {
    const char *name;
    int in, out; /* channels; -1: none */
    size_t threads;
    df_acquire_fn *acquire; /* or NULL */
    df_work_fn *work;
    df_finish_fn *finish; /* or NULL */
    void *const *states;  /* [threads], df_worker_state of each; or NULL */
};

struct df_pipe_def {
    const struct df_channel_def *channels;
    size_t n_channels;
    const struct df_stage_def *stages; /* in the order of the flow */
    size_t n_stages;
    void *context;              /* df_worker_context of all */
    struct df_device *profiled; /* whose profiles show the stages; or NULL */
};

/* What the threads of a stage did, summed over them, in seconds.  */
struct df_stage_stats {
    uint64_t items;
    double busy;    /* in WORK */
    double starved; /* waiting for input */
    double blocked; /* waiting for what ACQUIRE gets, or for room in OUT */
};

/* A pipe, not yet running; DEF and what it points to must outlive it.  */
DF_EXPORT DF_MUST_USE df_status df_pipe_new(struct df_pipe **out,
                                            const struct df_pipe_def *def);
DF_EXPORT void df_pipe_free(struct df_pipe *pipe);

/* Run to the end or the first failure; all threads have ended then.  Once a
   pipe.  */
DF_EXPORT DF_MUST_USE df_status df_pipe_run(struct df_pipe *pipe);

/* Whether it failed.  From any thread.  */
DF_EXPORT bool df_pipe_failed(struct df_pipe *pipe);

/* Numbers of stage STAGE so far, from any thread; seconds since the run
   began.  */
DF_EXPORT void df_pipe_get_stats(struct df_pipe *pipe, size_t stage,
                                 struct df_stage_stats *out);
DF_EXPORT double df_pipe_seconds(struct df_pipe *pipe);

/* For use within a stage.  */
DF_EXPORT size_t df_worker_index(const struct df_worker *worker);
DF_EXPORT void *df_worker_state(const struct df_worker *worker);
DF_EXPORT void *df_worker_context(const struct df_worker *worker);

/* df_event_wait, booked as waiting for input instead of work.  */
DF_EXPORT DF_MUST_USE df_status df_worker_await(struct df_worker *worker,
                                                struct df_event *event);

/* The same, of the stage's own device, while something is acquired: booked
   as work.  */
DF_EXPORT DF_MUST_USE df_status df_worker_use(struct df_worker *worker,
                                              struct df_event *event);

/* Free lists: things that are taken and given back, by any thread.  Taking
   waits until there is one.  A list doesn't own its things; the first ones
   are given before the run.  */
struct df_freelist;
DF_EXPORT DF_MUST_USE df_status df_freelist_new(struct df_freelist **out,
                                                struct df_pipe *pipe,
                                                size_t capacity);
DF_EXPORT void df_freelist_free(struct df_freelist *list);
DF_EXPORT void df_freelist_give(struct df_freelist *list, void *thing);
/* DF_CANCELED when the worker's stage has to stop.  */
DF_EXPORT DF_MUST_USE df_status df_freelist_take(struct df_freelist *list,
                                                 struct df_worker *worker,
                                                 void **out);

/* Wait until all threads of the worker's stage have come here, then go on
   together.  DF_CANCELED when the stage has to stop.  */
DF_EXPORT DF_MUST_USE df_status df_worker_barrier(struct df_worker *worker);

/* Wait until IS_TRUE(ARG), which is asked whenever something moves in the
   pipe and must not wait itself.  DF_CANCELED when the stage has to stop.  */
DF_EXPORT DF_MUST_USE df_status df_worker_wait(struct df_worker *worker,
                                               bool (*is_true)(const void *),
                                               const void *arg);

DF_END_DECLS
#endif

#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fault_internal.h"
#include "pipe/pipe_internal.h"

double
df_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

bool
df_worker_stopped(const struct df_worker *w)
{
    return w->pipe->failed || w->stage < w->pipe->enough;
}

/* P fails with the calling thread's last error.  */
static void
fail(struct df_pipe *p)
{
    pthread_mutex_lock(&p->lock);
    if (!p->failed) {
        p->failed = true;
        p->error = *df_error_last();
    }
    pthread_cond_broadcast(&p->moved);
    pthread_mutex_unlock(&p->lock);
}

bool
df_pipe_failed(struct df_pipe *p)
{
    pthread_mutex_lock(&p->lock);
    bool failed = p->failed;
    pthread_mutex_unlock(&p->lock);
    return failed;
}

/* The worker is at its end, or had enough: the stages before it needn't make
   more.  */
static void
stop_upstream(struct df_worker *w)
{
    struct df_pipe *p = w->pipe;

    pthread_mutex_lock(&p->lock);
    if (p->enough < w->stage)
        p->enough = w->stage;
    pthread_cond_broadcast(&p->moved);
    pthread_mutex_unlock(&p->lock);
}

static struct channel *
channel_of(struct df_pipe *p, int i)
{
    return i < 0 ? NULL : &p->channels[i];
}

/* Call WORK on ITEM, and book its time less what it spent waiting.  The
   first stage numbers its items itself, so its faults come after.  */
static df_status
work(struct df_worker *w, struct df_item *item)
{
    struct df_device *profiled = w->pipe->def->profiled;
    double start = df_now();
    bool first = w->def->in < 0;
    df_status status = first ? DF_OK : df_fault(w->def->name, item->seq);

    w->waited = 0;
    df_range_begin(profiled, w->def->name, item->seq);
    if (status == DF_OK)
        status = w->def->work(w, item);
    df_range_end(profiled);
    if (status == DF_OK && first)
        status = df_fault(w->def->name, item->seq);
    pthread_mutex_lock(&w->pipe->lock);
    w->times.busy += df_now() - start - w->waited;
    w->items += status == DF_OK;
    pthread_mutex_unlock(&w->pipe->lock);
    return status;
}

/* One turn of the loop: an item from IN through the work to OUT.  */
static df_status
turn(struct df_worker *w, struct channel *in, struct channel *out)
{
    struct df_item item = {0};

    if (w->def->acquire)
        DF_TRY(w->def->acquire(w));
    if (in)
        DF_TRY(df_channel_take(in, w, &item));
    DF_TRY(work(w, &item));
    return out && item.data ? df_channel_put(out, w, &item) : DF_OK;
}

static void *
run_worker(void *arg)
{
    struct df_worker *w = arg;
    struct channel *in = channel_of(w->pipe, w->def->in);
    struct channel *out = channel_of(w->pipe, w->def->out);
    df_status status;

    do
        status = turn(w, in, out);
    while (status == DF_OK);
    if (status == DF_END)
        stop_upstream(w);
    if (status == DF_END && w->def->finish)
        status = w->def->finish(w);
    if (status != DF_OK && status != DF_END && status != DF_CANCELED)
        fail(w->pipe);
    if (out)
        df_channel_close(out, w->pipe);
    return NULL;
}

/* Threads of the stage that puts into (or takes from) channel C.  */
static size_t
threads_at(const struct df_pipe_def *def, int c, bool putting)
{
    for (size_t i = 0; i < def->n_stages; i++)
        if ((putting ? def->stages[i].out : def->stages[i].in) == c)
            return def->stages[i].threads;
    return 1;
}

static df_status
make_workers(struct df_pipe *p)
{
    struct df_worker *w;

    for (size_t i = 0; i < p->def->n_stages; i++)
        p->n_workers += p->def->stages[i].threads;
    w = p->workers = calloc(p->n_workers, sizeof *p->workers);
    if (!w)
        return DF_FAIL(DF_NO_MEMORY, "%zu pipe threads", p->n_workers);
    for (size_t i = 0; i < p->def->n_stages; i++)
        for (size_t k = 0; k < p->def->stages[i].threads; k++, w++)
            *w = (struct df_worker){
                .pipe = p, .def = &p->def->stages[i], .stage = i, .index = k};
    return DF_OK;
}

static df_status
make_channels(struct df_pipe *p)
{
    const struct df_pipe_def *def = p->def;

    p->channels = calloc(def->n_channels, sizeof *p->channels);
    p->arrived = calloc(def->n_stages, sizeof *p->arrived);
    p->rounds = calloc(def->n_stages, sizeof *p->rounds);
    if (!p->channels || !p->arrived || !p->rounds)
        return DF_FAIL(DF_NO_MEMORY, "pipe of %zu stages", def->n_stages);
    for (size_t i = 0; i < def->n_channels; i++)
        DF_TRY(df_channel_init(&p->channels[i], &def->channels[i],
                               threads_at(def, (int) i, true),
                               threads_at(def, (int) i, false)));
    return DF_OK;
}

df_status
df_pipe_new(struct df_pipe **out, const struct df_pipe_def *def)
{
    struct df_pipe *p = calloc(1, sizeof *p);
    df_status status;

    *out = NULL;
    if (!p)
        return DF_FAIL(DF_NO_MEMORY, "pipe of %zu stages", def->n_stages);
    p->def = def;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->moved, NULL);
    status = make_workers(p);
    if (status == DF_OK)
        status = make_channels(p);
    if (status != DF_OK)
        df_pipe_free(p);
    else
        *out = p;
    return status;
}

void
df_pipe_free(struct df_pipe *p)
{
    if (!p)
        return;
    for (size_t i = 0; p->channels && i < p->def->n_channels; i++)
        df_channel_clear(&p->channels[i]);
    free(p->channels);
    free(p->arrived);
    free(p->rounds);
    free(p->workers);
    pthread_cond_destroy(&p->moved);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static void
report_thread_failure(struct df_worker *w, int err)
{
    (void) DF_FAIL(DF_NO_MEMORY, "thread %zu of stage %s: %s", w->index,
                   w->def->name, strerror(err));
    fail(w->pipe);
}

df_status
df_pipe_run(struct df_pipe *p)
{
    size_t started = 0;

    pthread_mutex_lock(&p->lock);
    p->started = df_now();
    pthread_mutex_unlock(&p->lock);
    for (; started < p->n_workers; started++) {
        struct df_worker *w = &p->workers[started];
        int err = pthread_create(&w->thread, NULL, run_worker, w);

        if (err) {
            report_thread_failure(w, err);
            break;
        }
    }
    for (size_t i = 0; i < started; i++)
        pthread_join(p->workers[i].thread, NULL);
    return p->failed ? df_error_set(&p->error) : DF_OK;
}

void
df_pipe_get_stats(struct df_pipe *p, size_t stage, struct df_stage_stats *out)
{
    *out = (struct df_stage_stats){0};
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < p->n_workers; i++) {
        const struct df_worker *w = &p->workers[i];

        if (w->stage != stage)
            continue;
        out->items += w->items;
        out->busy += w->times.busy;
        out->starved += w->times.starved;
        out->blocked += w->times.blocked;
    }
    pthread_mutex_unlock(&p->lock);
}

double
df_pipe_seconds(struct df_pipe *p)
{
    pthread_mutex_lock(&p->lock);
    double started = p->started;
    pthread_mutex_unlock(&p->lock);
    return started > 0 ? df_now() - started : 0;
}

#include <config.h>

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu/stream_internal.h"

enum {
    RING = 1024 /* entries */
};

/* How far a stream is.  Apart from the stream, since events and the waits
   of other streams may outlive it; the last of them frees it.  */
struct progress {
    _Atomic int refs;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* DONE grew */
    /* Under the lock: */
    uint64_t queued, done; /* entries */
    uint64_t failed;       /* number of the entry that failed, or 0 */
    df_error error;        /* its failure */
};

struct entry {
    df_entry_fn *fn;
    _Alignas(max_align_t) unsigned char args[DF_MAX_ARGS];
};

struct cpu_stream {
    struct df_stream base;
    struct progress *progress;
    pthread_t thread;
    pthread_cond_t work; /* an entry came, or STOP; with progress->lock */
    bool stop;           /* under progress->lock */
    struct entry *ring;  /* entry S at S % RING; the thread owns entry
                            done + 1, the queuing side the others */
};

struct cpu_event {
    struct df_event base;
    pthread_mutex_t lock;
    struct progress *progress; /* as last recorded; NULL: never was */
    uint64_t number;           /* entries of it that must have run */
    double at; /* when a timed one was reached; the streams' threads' */
};

/* A place in a stream's order: an event as recorded at some time.  */
struct point {
    struct progress *progress;
    uint64_t number;
};

static struct progress *
progress_new(void)
{
    struct progress *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    atomic_init(&p->refs, 1);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    return p;
}

static struct progress *
keep(struct progress *p)
{
    if (p)
        atomic_fetch_add(&p->refs, 1);
    return p;
}

static void
drop(struct progress *p)
{
    if (!p || atomic_fetch_sub(&p->refs, 1) > 1)
        return;
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* Wait until NUMBER entries have run, and return the failure among them.
   Called with the lock.  */
static df_status
reach(struct progress *p, uint64_t number)
{
    while (p->done < number)
        pthread_cond_wait(&p->changed, &p->lock);
    if (p->failed == 0 || p->failed > number)
        return DF_OK;
    return df_error_set(&p->error);
}

/* Wait for POINT and let it go.  */
static df_status
reach_point(const void *args)
{
    struct point point;
    df_status status;

    memcpy(&point, args, sizeof point);
    pthread_mutex_lock(&point.progress->lock);
    status = reach(point.progress, point.number);
    pthread_mutex_unlock(&point.progress->lock);
    drop(point.progress);
    return status;
}

/* Run E unless an earlier entry failed.  Waits let go of their point in any
   case.  Called without the lock, by the stream's thread, the only one that
   changes FAILED.  */
static void
run_entry(struct progress *p, const struct entry *e)
{
    df_status status;

    if (p->failed) {
        struct point point;

        if (e->fn != reach_point)
            return;
        memcpy(&point, e->args, sizeof point);
        drop(point.progress);
        return;
    }
    status = e->fn(e->args);
    if (status == DF_OK)
        return;
    pthread_mutex_lock(&p->lock);
    p->failed = p->done + 1;
    p->error = *df_error_last();
    p->error.status = status;
    pthread_mutex_unlock(&p->lock);
}

static void *
run(void *arg)
{
    struct cpu_stream *s = arg;
    struct progress *p = s->progress;

    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (p->done == p->queued && !s->stop)
            pthread_cond_wait(&s->work, &p->lock);
        if (p->done == p->queued)
            break;
        struct entry *e = &s->ring[(p->done + 1) % RING];

        pthread_mutex_unlock(&p->lock);
        run_entry(p, e);
        pthread_mutex_lock(&p->lock);
        p->done++;
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

df_status
df_cpu_queue(struct df_stream *stream, df_entry_fn *fn, const void *args,
             size_t bytes)
{
    struct cpu_stream *s = (struct cpu_stream *) stream;
    struct progress *p = s->progress;

    assert(bytes <= DF_MAX_ARGS);
    pthread_mutex_lock(&p->lock);
    while (p->queued - p->done == RING)
        pthread_cond_wait(&p->changed, &p->lock);
    struct entry *e = &s->ring[++p->queued % RING];

    e->fn = fn;
    memcpy(e->args, args, bytes);
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&p->lock);
    return DF_OK;
}

df_status
df_cpu_stream_new(struct df_stream **out, struct df_device *dev,
                  const char *name)
{
    struct cpu_stream *s = calloc(1, sizeof *s);
    int err;

    if (!s || !(s->ring = malloc(RING * sizeof *s->ring))
        || !(s->progress = progress_new())) {
        if (s)
            free(s->ring);
        free(s);
        return DF_FAIL(DF_NO_MEMORY, "stream %s of %s", name, dev->name);
    }
    pthread_cond_init(&s->work, NULL);
    err = pthread_create(&s->thread, NULL, run, s);
    if (err) {
        pthread_cond_destroy(&s->work);
        drop(s->progress);
        free(s->ring);
        free(s);
        return DF_FAIL(DF_DEVICE, "stream %s of %s: no thread: %s", name,
                       dev->name, strerror(err));
    }
    *out = &s->base;
    return DF_OK;
}

void
df_cpu_stream_free(struct df_stream *stream)
{
    struct cpu_stream *s = (struct cpu_stream *) stream;

    pthread_mutex_lock(&s->progress->lock);
    s->stop = true;
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->progress->lock);
    pthread_join(s->thread, NULL);
    pthread_cond_destroy(&s->work);
    drop(s->progress);
    free(s->ring);
    free(s);
}

df_status
df_cpu_stream_sync(struct df_stream *stream)
{
    struct progress *p = ((struct cpu_stream *) stream)->progress;
    df_status status;

    pthread_mutex_lock(&p->lock);
    status = reach(p, p->queued);
    pthread_mutex_unlock(&p->lock);
    return status;
}

df_status
df_cpu_event_new(struct df_event **out, struct df_device *dev, bool timed)
{
    struct cpu_event *e = calloc(1, sizeof *e);

    (void) timed;
    if (!e)
        return DF_FAIL(DF_NO_MEMORY, "event of %s", dev->name);
    pthread_mutex_init(&e->lock, NULL);
    *out = &e->base;
    return DF_OK;
}

void
df_cpu_event_free(struct df_event *event)
{
    struct cpu_event *e = (struct cpu_event *) event;

    drop(e->progress);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

static df_status
take_time(const void *args)
{
    struct cpu_event *e = *(struct cpu_event *const *) args;
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    e->at = (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
    return DF_OK;
}

df_status
df_cpu_event_record(struct df_event *event, struct df_stream *stream)
{
    struct cpu_event *e = (struct cpu_event *) event;

    if (event->timed)
        DF_TRY(df_cpu_queue(stream, take_time, &e, sizeof e));
    struct progress *p = keep(((struct cpu_stream *) stream)->progress);

    pthread_mutex_lock(&e->lock);
    struct progress *old = e->progress;

    e->progress = p;
    pthread_mutex_lock(&p->lock);
    e->number = p->queued;
    pthread_mutex_unlock(&p->lock);
    pthread_mutex_unlock(&e->lock);
    drop(old);
    return DF_OK;
}

/* EVENT as recorded by now.  The caller lets go of its progress, which is
   NULL if it never was recorded.  */
static struct point
current_point(struct df_event *event)
{
    struct cpu_event *e = (struct cpu_event *) event;

    pthread_mutex_lock(&e->lock);
    struct point point = {keep(e->progress), e->number};

    pthread_mutex_unlock(&e->lock);
    return point;
}

df_status
df_cpu_stream_wait(struct df_stream *stream, struct df_event *event)
{
    struct point point = current_point(event);

    if (!point.progress)
        return DF_OK;
    if (point.progress == ((struct cpu_stream *) stream)->progress) {
        drop(point.progress); /* a stream is in order anyway */
        return DF_OK;
    }
    return df_cpu_queue(stream, reach_point, &point, sizeof point);
}

df_status
df_cpu_event_wait(struct df_event *event)
{
    struct point point = current_point(event);

    return point.progress ? reach_point(&point) : DF_OK;
}

bool
df_cpu_event_reached(struct df_event *event)
{
    struct point point = current_point(event);
    bool reached = true;

    if (point.progress) {
        pthread_mutex_lock(&point.progress->lock);
        reached = point.progress->done >= point.number;
        pthread_mutex_unlock(&point.progress->lock);
        drop(point.progress);
    }
    return reached;
}

df_status
df_cpu_event_seconds(struct df_event *from, struct df_event *to,
                     double *seconds)
{
    struct cpu_event *a = (struct cpu_event *) from;
    struct cpu_event *b = (struct cpu_event *) to;

    if (!a->progress || !b->progress)
        return DF_FAIL(DF_INVALID, "%s: an event was never recorded",
                       from->dev->name);
    *seconds = b->at - a->at;
    return DF_OK;
}

#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/pool_internal.h"

/* One call of df_pool_run, on its caller's stack.  */
struct job {
    df_task_fn *fn;
    void *arg;
    size_t n;
    _Atomic size_t next; /* first task that nobody has taken */
    atomic_bool failed;
    df_error error;   /* of the first failure; under the lock */
    int helpers;      /* that work on it; under the lock */
    struct job *link; /* under the lock */
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work; /* a job came, a thread went idle, or stop */
    pthread_cond_t done; /* a helper left its job */
    struct job *jobs;    /* that may have tasks left */
    int users, cores, n_threads;
    int computing;  /* threads in a job now */
    uint64_t round; /* of df_pool_settle; helpers begin in round 0 */
    int behind;     /* helpers that aren't through with the round */
    bool stop;
    pthread_t *threads;
} pool = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .work = PTHREAD_COND_INITIALIZER,
    .done = PTHREAD_COND_INITIALIZER,
};

static void
work_on(struct job *job)
{
    size_t i;

    while (!atomic_load(&job->failed)
           && (i = atomic_fetch_add(&job->next, 1)) < job->n) {
        if (job->fn(job->arg, i) == DF_OK)
            continue;
        pthread_mutex_lock(&pool.lock);
        if (!atomic_exchange(&job->failed, true))
            job->error = *df_error_last();
        pthread_mutex_unlock(&pool.lock);
    }
}

/* A job with tasks left, if one more thread may compute.  */
static struct job *
find_job(void)
{
    if (pool.computing >= pool.cores)
        return NULL;
    for (struct job *j = pool.jobs; j; j = j->link)
        if (atomic_load(&j->next) < j->n && !atomic_load(&j->failed))
            return j;
    return NULL;
}

/* Under the lock, let go meanwhile: get what scratch others have needed, and
   say so to df_pool_settle.  *SEEN is the round that this thread was in.  */
static void
keep_up(uint64_t *seen)
{
    uint64_t round = pool.round;

    pthread_mutex_unlock(&pool.lock);
    df_scratch_keep_up();
    pthread_mutex_lock(&pool.lock);
    if (*seen != round && round == pool.round) {
        *seen = round;
        pool.behind--;
        pthread_cond_broadcast(&pool.done);
    }
}

static void *
help(void *unused)
{
    struct job *job;
    uint64_t seen = 0;

    (void) unused;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (!(job = find_job()) && !pool.stop) {
            keep_up(&seen);
            if ((job = find_job()) || pool.stop)
                break;
            if (seen == pool.round)
                pthread_cond_wait(&pool.work, &pool.lock);
        }
        if (!job)
            break;
        job->helpers++;
        pool.computing++;
        pthread_mutex_unlock(&pool.lock);
        work_on(job);
        pthread_mutex_lock(&pool.lock);
        pool.computing--;
        job->helpers--;
        pthread_cond_broadcast(&pool.done);
    }
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

static void
enter(struct job *job)
{
    pthread_mutex_lock(&pool.lock);
    job->link = pool.jobs;
    pool.jobs = job;
    pool.computing++;
    if (job->n > 1)
        pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.lock);
}

static void
leave(struct job *job)
{
    struct job **at = &pool.jobs;

    pthread_mutex_lock(&pool.lock);
    while (*at != job)
        at = &(*at)->link;
    *at = job->link;
    pool.computing--;
    if (find_job())
        pthread_cond_broadcast(&pool.work);
    while (job->helpers > 0)
        pthread_cond_wait(&pool.done, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
}

df_status
df_pool_run(df_task_fn *fn, void *arg, size_t n)
{
    struct job job = {.fn = fn, .arg = arg, .n = n};

    df_scratch_keep_up();
    enter(&job);
    work_on(&job);
    leave(&job);
    return atomic_load(&job.failed) ? df_error_set(&job.error) : DF_OK;
}

void
df_pool_settle(void)
{
    df_scratch_keep_up();
    pthread_mutex_lock(&pool.lock);
    pool.round++;
    pool.behind = pool.n_threads;
    pthread_cond_broadcast(&pool.work);
    while (pool.behind > 0)
        pthread_cond_wait(&pool.done, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
}

int
df_pool_cores(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    return 1;
}

/* End N helpers.  Called without the lock.  */
static void
stop_threads(int n)
{
    pthread_mutex_lock(&pool.lock);
    pool.stop = true;
    pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; i < n; i++)
        pthread_join(pool.threads[i], NULL);
    free(pool.threads);
    pool.threads = NULL;
    pool.stop = false;
}

static df_status
start_threads(void)
{
    pool.cores = df_pool_cores();
    pool.n_threads = pool.cores - 1;
    pool.round = 0;
    pool.threads = calloc((size_t) pool.cores, sizeof *pool.threads);
    if (!pool.threads)
        return DF_FAIL(DF_NO_MEMORY, "pool of %d threads", pool.cores);
    for (int i = 0; i < pool.n_threads; i++) {
        int err = pthread_create(&pool.threads[i], NULL, help, NULL);

        if (err) {
            stop_threads(i);
            return DF_FAIL(DF_NO_MEMORY, "thread %d of the pool: %s", i,
                           strerror(err));
        }
    }
    return DF_OK;
}

/* Users come and go one at a time: opening a device is no hot path.  */
static pthread_mutex_t users_lock = PTHREAD_MUTEX_INITIALIZER;

df_status
df_pool_acquire(void)
{
    df_status status = DF_OK;

    pthread_mutex_lock(&users_lock);
    if (pool.users == 0)
        status = start_threads();
    if (status == DF_OK)
        pool.users++;
    pthread_mutex_unlock(&users_lock);
    return status;
}

void
df_pool_release(void)
{
    pthread_mutex_lock(&users_lock);
    if (--pool.users == 0)
        stop_threads(pool.n_threads);
    pthread_mutex_unlock(&users_lock);
}

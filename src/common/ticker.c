#include <config.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "common/progress.h"
#include "common/ticker.h"

static struct {
    pthread_t thread;
    atomic_bool stop;
    void (*look)(void *arg);
} ticker;

static void *
tick(void *arg)
{
    const struct timespec pause = {.tv_nsec = 100000000};

    while (!atomic_load(&ticker.stop)) {
        ticker.look(arg);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

df_status
ticker_start(void (*look)(void *arg), void *arg)
{
    int err;

    ticker.look = look;
    err = pthread_create(&ticker.thread, NULL, tick, arg);
    return err ? DF_FAIL(DF_NO_MEMORY, "a thread: %s", strerror(err)) : DF_OK;
}

void
ticker_stop(void)
{
    atomic_store(&ticker.stop, true);
    pthread_join(ticker.thread, NULL);
    progress_end();
}

/* Gates of the CPU device.  */

#include <config.h>

#include <pthread.h>
#include <stdlib.h>

#include "cpu/stream_internal.h"

struct cpu_gate {
    struct df_gate base;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t opened; /* how often; under the lock */
};

struct hold_args {
    struct cpu_gate *gate;
    uint64_t ticket; /* how often it must have been opened */
};

df_status
df_cpu_gate_new(struct df_gate **out, struct df_device *dev)
{
    struct cpu_gate *g = calloc(1, sizeof *g);

    if (!g)
        return DF_FAIL(DF_NO_MEMORY, "gate of %s", dev->name);
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->changed, NULL);
    *out = &g->base;
    return DF_OK;
}

void
df_cpu_gate_free(struct df_gate *gate)
{
    struct cpu_gate *g = (struct cpu_gate *) gate;

    pthread_cond_destroy(&g->changed);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

static df_status
run_hold(const void *args)
{
    const struct hold_args *a = args;
    struct cpu_gate *g = a->gate;

    pthread_mutex_lock(&g->lock);
    while (g->opened < a->ticket)
        pthread_cond_wait(&g->changed, &g->lock);
    pthread_mutex_unlock(&g->lock);
    return DF_OK;
}

df_status
df_cpu_gate_hold(struct df_gate *gate, struct df_stream *stream)
{
    struct hold_args args = {.gate = (struct cpu_gate *) gate};

    pthread_mutex_lock(&args.gate->lock);
    args.ticket = args.gate->opened + 1;
    pthread_mutex_unlock(&args.gate->lock);
    return df_cpu_queue(stream, run_hold, &args, sizeof args);
}

void
df_cpu_gate_open(struct df_gate *gate)
{
    struct cpu_gate *g = (struct cpu_gate *) gate;

    pthread_mutex_lock(&g->lock);
    g->opened++;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

#include <config.h>

#include "pipe/run_internal.h"

void
df_run_get_stats(struct df_run *run, struct df_run_stats *out)
{
    *out = (struct df_run_stats){.seconds = df_pipe_seconds(run->pipe),
                                 .saving = atomic_load(&run->saving),
                                 .tokens = atomic_load(&run->tokens),
                                 .host_waits = atomic_load(&run->host_waits),
                                 .n_stages = run->def.n_stages};
    for (size_t i = 0; i < run->n_devices; i++) {
        struct df_device_stats s;

        df_device_get_stats(run->devices[i], &s);
        out->flops += s.flops;
        out->allocations += s.allocations;
        out->device_bytes += s.device_bytes;
        out->host_bytes += s.host_bytes;
    }
    out->flops -= run->flops;
    out->allocations -= run->allocations;
    for (size_t i = 0; i < run->def.n_stages; i++) {
        out->stage_names[i] = run->stages[i].name;
        out->stage_threads[i] = run->stages[i].threads;
        df_pipe_get_stats(run->pipe, i, &out->stages[i]);
    }
}

size_t
df_run_bottleneck(const struct df_run_stats *stats)
{
    size_t most = 0;

    for (size_t i = 1; i < stats->n_stages; i++)
        if (stats->stages[i].busy / (double) stats->stage_threads[i]
            > stats->stages[most].busy / (double) stats->stage_threads[most])
            most = i;
    return most;
}

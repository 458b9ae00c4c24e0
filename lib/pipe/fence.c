#include <config.h>

#include <stdlib.h>

#include "pipe/fence_internal.h"

df_status
df_fence_make(struct df_fence *fence, struct df_device *const *devices,
              size_t n)
{
    fence->events = calloc(n, sizeof(struct df_event *));
    if (!fence->events)
        return DF_FAIL(DF_NO_MEMORY, "a fence of %zu events", n);
    for (; fence->n < n; fence->n++)
        DF_TRY(df_event_new(&fence->events[fence->n], devices[fence->n]));
    fence->devices = devices;
    fence->last = fence->events[0];
    return DF_OK;
}

void
df_fence_clear(struct df_fence *fence)
{
    for (size_t i = 0; i < fence->n; i++)
        df_event_free(fence->events[i]);
    free(fence->events);
    *fence = (struct df_fence){0};
}

df_status
df_fence_record(struct df_fence *fence, struct df_stream *stream)
{
    size_t i = 0;

    while (i < fence->n && fence->devices[i] != df_stream_device(stream))
        i++;
    if (i == fence->n)
        return DF_FAIL(DF_INVALID, "a fence without an event on %s",
                       df_device_name(df_stream_device(stream)));
    fence->last = fence->events[i];
    return df_event_record(fence->last, stream);
}

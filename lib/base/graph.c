/* Graphs of a device's work.  What is recorded isn't counted as queued work,
   what is launched is.  */
#include <config.h>

#include <assert.h>

#include "base/device_internal.h"

df_status
df_graph_begin(struct df_stream *stream)
{
    assert(stream);
    if (!stream->dev->vt->graph_begin)
        return DF_FAIL(DF_UNSUPPORTED, "device %s has no graphs",
                       stream->dev->name);
    atomic_store(&stream->graph_from, atomic_load(&stream->flops));
    return stream->dev->vt->graph_begin(stream);
}

df_status
df_graph_end(struct df_stream *stream, struct df_graph **out)
{
    uint64_t flops =
        atomic_load(&stream->flops) - atomic_load(&stream->graph_from);

    *out = NULL;
    atomic_fetch_sub(&stream->dev->flops, flops);
    DF_TRY(stream->dev->vt->graph_end(stream, out));
    (*out)->dev = stream->dev;
    (*out)->stream = stream;
    (*out)->flops = flops;
    return DF_OK;
}

void
df_graph_free(struct df_graph *graph)
{
    if (graph)
        graph->dev->vt->graph_free(graph);
}

df_status
df_graph_launch(struct df_graph *graph)
{
    atomic_fetch_add(&graph->dev->flops, graph->flops);
    return graph->dev->vt->graph_launch(graph);
}

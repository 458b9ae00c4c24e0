/* graph.cu - work recorded from a stream, to be queued again at once.

   A recording has the addresses of its stream's scratch and workspace in it:
   these only grow when a size is queued that none before had, so that a
   graph of sizes which have been queued stays good.  Should the scratch move
   after all, launching says so.  */

#include <stdlib.h>

#include "cuda_internal.cuh"

struct cuda_graph {
    struct df_graph base;
    cudaGraphExec_t exec;
    const void *scratch;
};

/* Relaxed: other threads may allocate meanwhile, and this one looks at
   attributes of kernels and pointers.  */
df_status
df_cuda_graph_begin(struct df_stream *stream)
{
    struct cuda_stream *s = (struct cuda_stream *) stream;

    DF_CUDA(cudaSetDevice(cuda_device_of(s)->index));
    DF_CUDA(cudaStreamBeginCapture(s->cu, cudaStreamCaptureModeRelaxed));
    return DF_OK;
}

df_status
df_cuda_graph_end(struct df_stream *stream, struct df_graph **out)
{
    struct cuda_stream *s = (struct cuda_stream *) stream;
    struct cuda_graph *g;
    cudaGraph_t recorded;
    cudaGraphExec_t exec;
    cudaError_t err;

    DF_CUDA(cudaSetDevice(cuda_device_of(s)->index));
    DF_CUDA(cudaStreamEndCapture(s->cu, &recorded));
    err = cudaGraphInstantiateWithFlags(&exec, recorded, 0);
    (void) cudaGraphDestroy(recorded);
    DF_CUDA(err);
    g = (struct cuda_graph *) calloc(1, sizeof *g);
    if (!g) {
        (void) cudaGraphExecDestroy(exec);
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory for a graph",
                       stream->dev->name);
    }
    g->exec = exec;
    g->scratch = s->scratch;
    *out = &g->base;
    return DF_OK;
}

void
df_cuda_graph_free(struct df_graph *graph)
{
    (void) cudaSetDevice(((struct cuda_device *) graph->dev)->index);
    (void) cudaGraphExecDestroy(((struct cuda_graph *) graph)->exec);
    (void) cudaGetLastError();
    free(graph);
}

df_status
df_cuda_graph_launch(struct df_graph *graph)
{
    struct cuda_stream *s = (struct cuda_stream *) graph->stream;
    struct cuda_graph *g = (struct cuda_graph *) graph;

    if (s->scratch != g->scratch)
        return DF_FAIL(DF_INVALID,
                       "%s: a graph was recorded before the scratch of its "
                       "stream grew",
                       s->base.dev->name);
    DF_CUDA(cudaSetDevice(cuda_device_of(s)->index));
    DF_CUDA(cudaGraphLaunch(g->exec, s->cu));
    return DF_OK;
}

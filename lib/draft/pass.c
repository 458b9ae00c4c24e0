/* A training pass in rounded sizes, as graphs where these have come before.

   Two graphs: to the gradients of the supervised slots, and from there back.
   Between them the objective looks at the batch's own slots alone; the
   weights of those that are added are 0, and so is all that comes of them:
   zero rows of gradients add 0 to those of weights.  */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "draft/drafter_internal.h"

enum {
    MOST = 64 /* sizes that are remembered */
};

/* What a graph has in it.  */
struct key {
    size_t T, N, R;
    const void *arrays;
};

struct pass {
    struct key key;
    uint64_t used; /* when; 0: never */
    struct df_graph *there, *back;
};

struct df_passes {
    struct pass pass[MOST];
    uint64_t now;
};

typedef df_status part_fn(struct df_drafter *d, struct df_stream *stream,
                          const struct df_batch *batch,
                          const struct df_batch_arrays *a);

static void
forget(struct pass *p)
{
    df_graph_free(p->there);
    df_graph_free(p->back);
    *p = (struct pass){0};
}

void
df_drafter_forget_passes(struct df_drafter *d)
{
    for (size_t i = 0; d->passes && i < MOST; i++)
        forget(&d->passes->pass[i]);
    free(d->passes);
    d->passes = NULL;
}

df_status
df_drafter_compile(struct df_drafter *d)
{
    if (df_device_is_cpu(d->dev))
        return DF_FAIL(DF_UNSUPPORTED,
                       "device %s: a drafter can be compiled for GPUs only",
                       df_device_name(d->dev));
    if (!d->passes)
        d->passes = calloc(1, sizeof *d->passes);
    if (!d->passes)
        return DF_FAIL(DF_NO_MEMORY, "graphs of a drafter");
    return DF_OK;
}

/* The pass of KEY, or the one that wasn't used for longest, emptied.  */
static struct pass *
find_pass(struct df_passes *passes, const struct key *key)
{
    struct pass *oldest = passes->pass;

    for (struct pass *p = passes->pass; p < passes->pass + MOST; p++) {
        if (p->used > 0 && memcmp(&p->key, key, sizeof *key) == 0)
            return p;
        if (p->used < oldest->used)
            oldest = p;
    }
    forget(oldest);
    oldest->key = *key;
    return oldest;
}

static df_status
there(struct df_drafter *d, struct df_stream *s, const struct df_batch *batch,
      const struct df_batch_arrays *a)
{
    DF_TRY(df_drafter_forward(d, s, batch, a));
    return df_drafter_score(d, s, batch, a, true);
}

static df_status
record(struct df_graph **graph, part_fn *part, struct df_drafter *d,
       struct df_stream *s, const struct df_batch *batch,
       const struct df_batch_arrays *a)
{
    df_status status, ended;
    df_error error;

    DF_TRY(df_graph_begin(s));
    status = part(d, s, batch, a);
    error = *df_error_last();
    ended = df_graph_end(s, graph);
    return status == DF_OK ? ended : df_error_set(&error);
}

/* Queue PART, by *GRAPH if there is one.  RECORD: there shall be one.  */
static df_status
queue(struct df_graph **graph, bool wanted, part_fn *part,
      struct df_drafter *d, struct df_stream *s, const struct df_batch *batch,
      const struct df_batch_arrays *a)
{
    if (!wanted)
        return part(d, s, batch, a);
    if (!*graph)
        DF_TRY(record(graph, part, d, s, batch, a));
    return df_graph_launch(*graph);
}

/* Clear N elements of SIZE bytes at number FIRST of ARRAY.  */
static df_status
clear(struct df_stream *s, void *array, size_t first, size_t n, size_t size)
{
    return df_fill(s, (char *) array + first * size, 0, n * size);
}

/* The first time, a pass isn't recorded: most that come once come no more,
   and whatever is to be looked up or allocated is then.  */
df_status
df_drafter_pass(struct df_drafter *d, struct df_stream *s,
                const struct df_batch *batch, const struct df_batch_arrays *a,
                const struct df_objective *objective,
                struct df_loss_sums *sums)
{
    const struct df_batch padded = df_batch_padded(batch);
    struct key key = {padded.T, padded.N, padded.R, a->ids};
    struct pass none = {0}, *p = &none;
    bool again = false;

    if (d->passes) {
        p = find_pass(d->passes, &key);
        again = p->used > 0;
        p->used = ++d->passes->now;
    }
    DF_TRY(clear(s, d->features, batch->T, padded.T - batch->T,
                 d->K * d->H * df_act_size(d)));
    DF_TRY(queue(&p->there, again, there, d, s, &padded, a));
    DF_TRY(
        clear(s, d->weight, batch->R, padded.R - batch->R, sizeof *d->weight));
    DF_TRY(df_drafter_weigh(d, s, batch, a, objective, sums));
    return queue(&p->back, again, df_drafter_return, d, s, &padded, a);
}

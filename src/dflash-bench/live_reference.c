/* The losses of a run without overlap: all hidden states are captured into
   memory first, then the drafters are trained from there.  */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "dflash-bench/live.h"

/* Captured samples, [n], split, with memory of their own.  */
struct store {
    struct df_capture_sample *samples;
    size_t n, room, next;
    size_t K, H;
};

struct losses {
    double *values; /* [LIVE_CHECKED] */
};

static df_status
store_open(struct store *s, const struct live *l)
{
    const struct workload *w = l->b->workload;

    s->K = w->layers.n;
    s->H = (size_t) w->model.config.d.hidden_size;
    s->room = LIVE_CHECKED * l->place->n_drafters * l->shape.seqs;
    s->samples = calloc(s->room, sizeof *s->samples);
    return s->samples ? DF_OK : DF_FAIL(DF_NO_MEMORY, "captured samples");
}

static void
store_close(struct store *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free((void *) s->samples[i].ids);
        free((void *) s->samples[i].loss_mask);
        for (size_t k = 0; k < s->K; k++)
            free((void *) s->samples[i].hidden[k]);
    }
    free(s->samples);
}

static void *
copy_of(const void *data, size_t bytes)
{
    void *copy = malloc(bytes);

    return copy ? memcpy(copy, data, bytes) : NULL;
}

/* Of a df_sink.  */
static df_status
put(void *arg, const struct df_capture_sample *sample)
{
    struct store *s = arg;
    struct df_capture_sample *to = &s->samples[s->n];
    bool whole;

    if (s->n == s->room)
        return DF_FAIL(DF_INVALID, "more than %zu samples", s->room);
    *to = *sample;
    to->checks = NULL;
    to->ids = copy_of(sample->ids, sample->n * sizeof *sample->ids);
    to->loss_mask = copy_of(sample->loss_mask, sample->n);
    whole = to->ids && to->loss_mask;
    for (size_t k = 0; k < s->K; k++) {
        to->hidden[k] =
            copy_of(sample->hidden[k], sample->n * s->H * sizeof(uint16_t));
        whole = whole && to->hidden[k];
    }
    s->n++;
    return whole ? DF_OK : DF_FAIL(DF_NO_MEMORY, "a captured sample");
}

/* Of a df_record_source.  */
static df_status
next(void *arg, struct df_capture_sample *out)
{
    struct store *s = arg;

    if (s->next == s->n)
        return DF_END;
    *out = s->samples[s->next++];
    return DF_OK;
}

static void
note(void *arg, const struct df_record *record)
{
    struct losses *losses = arg;

    if (record->step < LIVE_CHECKED)
        losses->values[record->step] = record->loss;
}

/* WEIGHTS: of the drafters, if there are any.  */
static df_status
finish(struct df_run *run, const struct df_tensors *weights)
{
    df_status status = weights ? df_run_init_from(run, weights) : DF_OK;

    if (status == DF_OK)
        status = df_run_warm_up(run);
    if (status == DF_OK)
        status = df_run_train(run);
    df_run_free(run);
    return status;
}

static df_status
capture(const struct live *l, struct feed *feed, struct store *store)
{
    struct df_run_options o = feed_options(feed);
    struct df_run *run;

    o.targets = l->place->targets;
    o.n_targets = 1;
    o.split = true;
    o.transport = DF_TRANSPORT_HOST;
    o.sink = (struct df_sink){store, put};
    DF_TRY(df_run_new(&run, &o));
    return finish(run, NULL);
}

static df_status
train(const struct live *l, struct feed *feed, int64_t steps,
      struct store *store, double *values)
{
    struct df_run_options o = feed_options(feed);
    struct losses losses = {values};
    struct df_run *run;

    o.drafters = l->place->drafters;
    o.n_drafters = l->place->n_drafters;
    o.split = true;
    o.transport = DF_TRANSPORT_HOST;
    o.prefetch_threads = 1; /* samples come in order */
    o.plan = NULL;
    o.pipe_steps = steps;
    o.per_step = l->place->n_drafters;
    o.records = (struct df_record_source){.arg = store, .next = next};
    o.observer = (struct df_observer){.arg = &losses, .record = note};
    DF_TRY(df_run_new(&run, &o));
    return finish(run, l->b->workload->weights);
}

df_status
live_know(const struct live *l, int64_t steps, struct live_reference *ref)
{
    size_t lanes = l->place->n_drafters;
    struct store store = {0};
    struct feed feed = {0};
    df_status status;

    if (ref->known && ref->shape.seqs == l->shape.seqs
        && ref->shape.length == l->shape.length)
        return DF_OK;
    status = store_open(&store, l);
    if (status == DF_OK)
        status =
            feed_open(&feed, l->b->workload, l->shape, (size_t) steps * lanes,
                      (int64_t) (LIVE_CHECKED * lanes), 1);
    if (status == DF_OK)
        status = capture(l, &feed, &store);
    if (status == DF_OK)
        status = train(l, &feed, steps, &store, ref->losses);
    feed_close(&feed);
    store_close(&store);
    ref->known = status == DF_OK;
    ref->shape = l->shape;
    return status;
}

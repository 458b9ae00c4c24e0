/* What is behind a target: pack, copy to the host, publish, by depth.

       compute: [forward] [pack i] (packed i) [forward] [pack i+1] ...
       copy:                       (wait) [copy i] (copied i)
       host:    before batch i+DEPTH is queued: wait for copied i, publish

   As in the pipeline: packing is on the target's stream, DEPTH batches are in
   flight at most, and the next forward begins before the copy is done.  A
   matrix product repeated until it takes as long as the copy stands for the
   forward pass.  */

#include <config.h>

#include <string.h>

#include "dflash-bench/bench.h"
#include "dflash-bench/load.h"
#include "dflash-bench/packing.h"

enum {
    MAX_DEPTH = 8,
    MAX_PRODUCTS = 64,
    BATCHES = 16 /* the least, for the pipeline to fill */
};

struct slot {
    void *host;
    struct df_event *begun, *packed, *copied; /* timed */
    bool in_flight;
};

struct post_work {
    struct packing p;
    size_t depth, products;
    struct load load;
    struct df_stream *compute, *copy;
    struct slot slots[MAX_DEPTH];
    size_t slots_made;      /* at least two */
    bool copies;            /* false: all but copies is done, to compare */
    double alone;           /* sum over RUNS, seconds a batch without copies */
    double latency, target; /* sums over PUBLISHED batches, seconds */
    size_t runs, published;
};

static df_status
open_slot(struct slot *s, struct df_device *dev, size_t bytes)
{
    DF_TRY(df_device_alloc(dev, DF_MEM_HOST, bytes, &s->host));
    DF_TRY(df_event_new_timed(&s->begun, dev));
    DF_TRY(df_event_new_timed(&s->packed, dev));
    return df_event_new_timed(&s->copied, dev);
}

static df_status
queue_forward(struct post_work *w, size_t i)
{
    DF_TRY(df_event_record(w->slots[i].begun, w->compute));
    for (size_t k = 0; k < w->products; k++)
        DF_TRY(load_queue(&w->load, w->compute));
    DF_TRY(packing_queue(&w->p, i, w->compute));
    return df_event_record(w->slots[i].packed, w->compute);
}

/* Split states are as many copies as there are layers.  */
static df_status
queue_copy(struct post_work *w, size_t i)
{
    struct slot *s = &w->slots[i];
    size_t states = packing_states(&w->p), bytes = packing_bytes(&w->p);
    size_t parts = w->p.split ? w->p.K : 1, part = states / parts;
    char *from = (char *) w->p.out[i], *to = s->host;

    DF_TRY(df_stream_wait(w->copy, s->packed));
    for (size_t k = 0; k < parts; k++)
        DF_TRY(df_copy(w->copy, to + k * part, from + k * part, part));
    DF_TRY(df_copy(w->copy, to + states, from + states, bytes - states));
    return df_event_record(s->copied, w->copy);
}

/* Wait for slot I and take its times.  */
static df_status
publish(struct post_work *w, size_t i)
{
    struct slot *s = &w->slots[i];
    double latency, target;

    if (!s->in_flight)
        return DF_OK;
    s->in_flight = false;
    if (!w->copies)
        return df_event_wait(s->packed);
    DF_TRY(df_event_seconds(s->packed, s->copied, &latency));
    DF_TRY(df_event_seconds(s->begun, s->packed, &target));
    w->latency += latency;
    w->target += target;
    w->published++;
    return DF_OK;
}

/* Seconds of BATCHES batches.  */
static df_status
run_some(struct post_work *w, size_t batches, double *seconds)
{
    double start = now_seconds();

    for (size_t n = 0; n < batches; n++) {
        size_t i = n % w->depth;

        DF_TRY(publish(w, i));
        DF_TRY(queue_forward(w, i));
        if (w->copies)
            DF_TRY(queue_copy(w, i));
        w->slots[i].in_flight = true;
    }
    for (size_t n = batches; n < batches + w->depth; n++)
        DF_TRY(publish(w, n % w->depth));
    *seconds = now_seconds() - start;
    return DF_OK;
}

/* A sample, and behind it one without copies, with two batches in flight, so
   that the target's stream never waits.  */
static df_status
run_batches(void *arg, size_t calls, double *seconds)
{
    struct post_work *w = arg;
    size_t batches = calls < BATCHES ? BATCHES : calls, depth = w->depth;
    double alone;

    DF_TRY(run_some(w, batches, seconds));
    *seconds *= (double) calls / (double) batches;
    w->copies = false;
    w->depth = depth < 2 ? 2 : depth;
    DF_TRY(run_some(w, batches, &alone));
    w->copies = true;
    w->depth = depth;
    w->alone += alone / (double) batches;
    w->runs++;
    return DF_OK;
}

/* So many products that they take as long as a copy, and a little more.  */
static df_status
calibrate(struct post_work *w)
{
    double copy, product;

    for (int n = 0; n < 3; n++) {
        w->products = 0;
        DF_TRY(queue_forward(w, 0));
        DF_TRY(queue_copy(w, 0));
        DF_TRY(
            df_event_seconds(w->slots[0].packed, w->slots[0].copied, &copy));
        DF_TRY(df_event_record(w->slots[0].begun, w->compute));
        DF_TRY(load_queue(&w->load, w->compute));
        DF_TRY(df_event_record(w->slots[0].packed, w->compute));
        DF_TRY(
            df_event_seconds(w->slots[0].begun, w->slots[0].packed, &product));
    }
    w->products = (size_t) (1.2 * copy / product) + 1;
    if (w->products > MAX_PRODUCTS)
        w->products = MAX_PRODUCTS;
    return DF_OK;
}

static df_status
open_post(void *arg)
{
    struct post_work *w = arg;
    struct df_device *dev = w->p.dev;

    w->copies = true;
    w->p.n_buffers = w->slots_made = w->depth < 2 ? 2 : w->depth;
    DF_TRY(packing_open(&w->p));
    DF_TRY(load_open(&w->load, dev));
    DF_TRY(df_stream_new(&w->compute, dev, "compute"));
    DF_TRY(df_stream_new(&w->copy, dev, "copy"));
    for (size_t i = 0; i < w->slots_made; i++)
        DF_TRY(open_slot(&w->slots[i], dev, packing_bytes(&w->p)));
    return calibrate(w);
}

static void
close_post(void *arg)
{
    struct post_work *w = arg;

    df_stream_free(w->compute);
    df_stream_free(w->copy);
    for (size_t i = 0; i < w->slots_made; i++) {
        df_event_free(w->slots[i].begun);
        df_event_free(w->slots[i].packed);
        df_event_free(w->slots[i].copied);
        df_device_free(w->p.dev, DF_MEM_HOST, w->slots[i].host);
    }
    load_close(&w->load);
    packing_close(&w->p);
}

/* What was published is what was packed.  */
static df_status
check_post(void *arg, double *error)
{
    struct post_work *w = arg;
    double seconds;

    for (size_t i = 0; i < w->depth; i++)
        memset(w->slots[i].host, 0xa5, packing_bytes(&w->p));
    DF_TRY(run_some(w, w->depth, &seconds));
    for (size_t i = 0; i < w->depth; i++)
        DF_TRY(packing_check(&w->p, w->slots[i].host));
    w->latency = w->target = w->alone = 0;
    w->published = w->runs = 0;
    *error = 0;
    return DF_OK;
}

static void
finish_post(void *arg, struct result *r)
{
    struct post_work *w = arg;
    double n = (double) w->published, alone = w->alone / (double) w->runs;

    result_extra(r, "depth", (double) w->depth);
    result_extra(r, "latency_us", w->latency / n * 1e6);
    result_part(r, "alone_us", alone * 1e6);
    result_part(r, "stolen_us", (r->s.median - alone) * 1e6);
    result_extra(r, "slowed_us", (w->target / n - alone) * 1e6);
    result_extra(r, "bytes", (double) packing_bytes(&w->p));
}

static df_status
measure_post(struct bench *b, struct df_device *dev, size_t depth, bool split)
{
    bool cpu = df_device_is_cpu(dev);
    struct post_work w = {
        .p = {.dev = dev,
              .T = cpu ? 1024 : 8192,
              .K = cpu ? 3 : 5,
              .H = cpu ? 512 : 4096,
              .split = split,
              .noise = !split,
              .checks = true},
        .depth = depth
    };
    char name[80];
    struct bench_case c = {.name = name,
                           .dev = dev,
                           .arg = &w,
                           .unit = "tokens/s",
                           .amount = (double) w.p.T,
                           .open = open_post,
                           .close = close_post,
                           .run = run_batches,
                           .check = check_post,
                           .finish = finish_post};

    snprintf(name, sizeof name, "%zux%zux%zu/%s/depth%zu", w.p.T, w.p.K, w.p.H,
             split ? "split" : "packed", depth);
    return bench_case(b, &c);
}

df_status
bench_postprocess(struct bench *b)
{
    for (size_t i = 0; i < b->devices.n; i++)
        for (int split = 0; split < 2; split++)
            for (size_t depth = 1; depth <= MAX_DEPTH; depth++)
                DF_TRY(measure_post(b, b->devices.devices[i], depth, split));
    return DF_OK;
}

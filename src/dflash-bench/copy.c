/* Copies: to the host, to the device, both at once, within a device, from
   one to another; by size and by how many are in flight.

   The host is part of what is measured: it queues a copy as soon as fewer
   than DEPTH are in flight, as the pipeline does, so its clock counts.  */

#include <config.h>

#include "dflash-bench/bench.h"
#include "dflash-bench/copy_buffers.h"
#include "dflash-bench/load.h"

enum {
    MAX_DEPTH = 8,
    LOAD_MOST = 400,    /* products that are queued at once */
    COMPARED = 32 << 20 /* bytes at either end */
};

static const size_t depths[] = {1, 2, 3, 4, MAX_DEPTH};
static const size_t smallest = 4 << 10, largest = 1 << 30;
static const size_t largest_cpu = 16 << 20; /* beyond any cache */
static const size_t loaded_from = 1 << 20;

enum copy_kind {
    COPY_D2H,
    COPY_H2D,
    COPY_BOTH,
    COPY_D2D,
    COPY_PEER
};
static const char *const kind_names[] = {"d2h", "h2d", "both", "d2d", "peer"};

/* What all cases of a device share.  */
struct copy_suite {
    struct bench *bench;
    struct df_device *dev;
    size_t room; /* bytes of a buffer */
    struct copy_buffers buffers;
};

struct copy_lane {
    struct df_stream *stream;
    struct df_event *done[MAX_DEPTH];
};

struct copy_work {
    struct copy_suite *suite;
    enum copy_kind kind;
    struct df_device *other; /* of a peer */
    enum copy_memory memory; /* on the host's side */
    size_t size, depth, lanes;
    size_t places; /* in the buffers, that copies take turns in */
    bool loaded;   /* beside a matrix product */
    struct copy_lane lane[COPY_MAX_LANES];

    struct load load;
    struct df_stream *compute;
    struct df_event *begin, *end; /* timed, around COUNTED products */
    struct df_event *last;        /* of all products */
    size_t counted;
    double product_alone, copy_alone; /* seconds of one */
    double product_loaded;            /* sum over runs, seconds of one */
    size_t runs;
};

static df_status
open_areas(struct copy_work *w)
{
    struct copy_suite *s = w->suite;
    struct copy_area device = {s->dev, MEMORY_DEVICE, NULL};
    struct copy_area host = {s->dev, w->memory, NULL};
    struct copy_area peer = {w->other, MEMORY_DEVICE, NULL};
    struct copy_area src[COPY_MAX_LANES] = {device, host};
    struct copy_area dst[COPY_MAX_LANES] = {host, device};

    if (w->kind == COPY_H2D) {
        src[0] = host;
        dst[0] = device;
    } else if (w->kind == COPY_D2D) {
        dst[0] = device;
    } else if (w->kind == COPY_PEER) {
        dst[0] = peer;
    }
    return copy_buffers_open(&s->buffers, src, dst, w->lanes, s->room);
}

static df_status
open_lane(struct copy_lane *lane, struct df_device *dev, size_t depth)
{
    DF_TRY(df_stream_new(&lane->stream, dev, "copy"));
    for (size_t i = 0; i < depth; i++)
        DF_TRY(df_event_new(&lane->done[i], dev));
    return DF_OK;
}

/* Seconds of a product when nothing else runs.  */
static df_status
time_product(struct copy_work *w)
{
    for (int i = 0; i < 3; i++) {
        double seconds;

        DF_TRY(df_event_record(w->begin, w->compute));
        DF_TRY(load_queue(&w->load, w->compute));
        DF_TRY(df_event_record(w->end, w->compute));
        DF_TRY(df_event_seconds(w->begin, w->end, &seconds));
        if (i == 0 || seconds < w->product_alone)
            w->product_alone = seconds;
    }
    return DF_OK;
}

static df_status copy_some(struct copy_work *w, size_t calls, double *seconds);

static df_status
open_load(struct copy_work *w)
{
    struct df_device *dev = w->suite->dev;
    double seconds;

    DF_TRY(load_open(&w->load, dev));
    DF_TRY(df_stream_new(&w->compute, dev, "product"));
    DF_TRY(df_event_new_timed(&w->begin, dev));
    DF_TRY(df_event_new_timed(&w->end, dev));
    DF_TRY(df_event_new(&w->last, dev));
    DF_TRY(time_product(w));
    DF_TRY(copy_some(w, w->depth, &seconds));
    DF_TRY(copy_some(w, w->depth, &seconds));
    w->copy_alone = seconds / (double) w->depth;
    return DF_OK;
}

static df_status
open_copy(void *arg)
{
    struct copy_work *w = arg;

    DF_TRY(open_areas(w));
    w->places = w->suite->buffers.bytes / w->size;
    if (w->places > w->depth)
        w->places = w->depth;
    for (size_t i = 0; i < w->lanes; i++)
        DF_TRY(open_lane(&w->lane[i], w->suite->dev, w->depth));
    return w->loaded ? open_load(w) : DF_OK;
}

static void
close_copy(void *arg)
{
    struct copy_work *w = arg;

    for (size_t i = 0; i < w->lanes; i++) {
        df_stream_free(w->lane[i].stream);
        for (size_t k = 0; k < w->depth; k++)
            df_event_free(w->lane[i].done[k]);
    }
    df_stream_free(w->compute);
    df_event_free(w->begin);
    df_event_free(w->end);
    df_event_free(w->last);
    load_close(&w->load);
}

/* Queue copy number N of each lane behind number N - DEPTH.  */
static df_status
queue_copies(struct copy_work *w, size_t n)
{
    const struct copy_buffers *b = &w->suite->buffers;
    size_t at = n % w->places * w->size;

    for (size_t i = 0; i < w->lanes; i++) {
        struct copy_lane *lane = &w->lane[i];
        struct df_event *done = lane->done[n % w->depth];

        DF_TRY(df_event_wait(done));
        DF_TRY(df_copy(lane->stream, (char *) b->dst[i].data + at,
                       (char *) b->src[i].data + at, w->size));
        DF_TRY(df_event_record(done, lane->stream));
    }
    return DF_OK;
}

static df_status
copy_some(struct copy_work *w, size_t calls, double *seconds)
{
    double start = now_seconds();

    for (size_t n = 0; n < calls; n++)
        DF_TRY(queue_copies(w, n));
    for (size_t i = 0; i < w->lanes; i++)
        DF_TRY(df_stream_sync(w->lane[i].stream));
    *seconds = now_seconds() - start;
    return DF_OK;
}

/* Queue N products, timing as many as certainly run beside the copies.  */
static df_status
queue_products(struct copy_work *w, size_t n)
{
    DF_TRY(df_event_record(w->begin, w->compute));
    for (size_t i = 0; i < n; i++) {
        DF_TRY(load_queue(&w->load, w->compute));
        if (i + 1 == w->counted)
            DF_TRY(df_event_record(w->end, w->compute));
    }
    return df_event_record(w->last, w->compute);
}

/* CALLS copies, or more, so that some products take place beside them, and
   products until the copies are done.  */
static df_status
copy_beside(struct copy_work *w, size_t calls, double *seconds)
{
    double least = 4 * w->product_alone / w->copy_alone, span;
    size_t copies = calls > least ? calls : (size_t) least + 1;
    double wanted = (double) copies * w->copy_alone / w->product_alone;
    bool beside = false;

    w->counted =
        wanted / 2 > LOAD_MOST / 2 ? LOAD_MOST / 2 : (size_t) (wanted / 2) + 1;
    for (size_t n = (size_t) (1.5 * wanted) + 2; !beside; n *= 2) {
        size_t most = n < LOAD_MOST ? n : LOAD_MOST;

        DF_TRY(queue_products(w, most));
        DF_TRY(copy_some(w, copies, seconds));
        beside = !df_event_reached(w->last) || most == LOAD_MOST;
        DF_TRY(df_stream_sync(w->compute));
    }
    DF_TRY(df_event_seconds(w->begin, w->end, &span));
    w->product_loaded += span / (double) w->counted;
    w->runs++;
    *seconds *= (double) calls / (double) copies;
    return DF_OK;
}

static df_status
run_copies(void *arg, size_t calls, double *seconds)
{
    struct copy_work *w = arg;

    return w->loaded ? copy_beside(w, calls, seconds)
                     : copy_some(w, calls, seconds);
}

/* The beginning of what is copied, and its end.  */
static df_status
check_copies(void *arg, double *error)
{
    struct copy_work *w = arg;
    const struct copy_buffers *b = &w->suite->buffers;
    size_t bytes = w->size < COMPARED ? w->size : COMPARED;
    size_t last = w->places * w->size - bytes;
    double seconds;

    DF_TRY(copy_buffers_spoil(b, 0, bytes));
    DF_TRY(copy_buffers_spoil(b, last, bytes));
    DF_TRY(run_copies(w, w->depth, &seconds));
    for (size_t i = 0; i < w->lanes; i++) {
        DF_TRY(copy_buffers_compare(b, i, 0, bytes));
        DF_TRY(copy_buffers_compare(b, i, last, bytes));
    }
    *error = 0;
    return DF_OK;
}

/* What a plot needs, and what the product paid.  */
static void
finish_copies(void *arg, struct result *r)
{
    struct copy_work *w = arg;

    result_extra(r, "bytes", (double) w->size);
    result_extra(r, "depth", (double) w->depth);
    if (!w->loaded || w->runs == 0)
        return;
    result_extra(r, "product_alone_us", w->product_alone * 1e6);
    result_extra(r, "product_beside_us",
                 w->product_loaded / (double) w->runs * 1e6);
}

static void
name_case(const struct copy_work *w, char *name, size_t bytes)
{
    static const char *const memories[] = {"", "/pinned", "/pageable"};
    static const char *const units[] = {"KiB", "MiB", "GiB"};
    size_t size = w->size >> 10, unit = 0;

    for (; size >= 1024; size >>= 10)
        unit++;
    snprintf(name, bytes, "%s%s%s%s/%zu%s/depth%zu%s", kind_names[w->kind],
             w->kind == COPY_PEER ? "/" : "",
             w->kind == COPY_PEER ? df_device_name(w->other) : "",
             memories[w->memory], size, units[unit], w->depth,
             w->loaded ? "/product" : "");
}

static df_status
measure_copies(const struct copy_work *like)
{
    struct copy_work w = *like;
    char name[80];
    struct bench_case c = {.name = name,
                           .dev = w.suite->dev,
                           .arg = &w,
                           .bytes = (double) w.size,
                           .open = open_copy,
                           .close = close_copy,
                           .run = run_copies,
                           .check = check_copies,
                           .finish = finish_copies};

    w.lanes = w.kind == COPY_BOTH ? 2 : 1;
    if (w.kind == COPY_D2D) {
        c.bytes *= 2;
        c.ceiling = CEILING_COPY;
    }
    name_case(&w, name, sizeof name);
    return bench_case(w.suite->bench, &c);
}

static df_status
measure_depths(struct copy_work *w)
{
    size_t n =
        w->memory == MEMORY_PAGEABLE ? 2 : sizeof depths / sizeof *depths;

    for (size_t i = 0; i < n; i++) {
        w->depth = depths[i];
        DF_TRY(measure_copies(w));
    }
    return DF_OK;
}

static df_status
measure_kind(struct copy_suite *s, enum copy_kind kind,
             struct df_device *other, enum copy_memory memory, bool loaded)
{
    size_t most = df_device_is_cpu(s->dev) ? largest_cpu : largest;

    if (most > s->room)
        most = s->room;
    for (size_t size = loaded ? loaded_from : smallest; size <= most;
         size *= 4) {
        struct copy_work w = {.suite = s,
                              .kind = kind,
                              .other = other,
                              .memory = memory,
                              .size = size,
                              .loaded = loaded};

        DF_TRY(measure_depths(&w));
    }
    return DF_OK;
}

static df_status
measure_peers(struct copy_suite *s)
{
    struct bench *b = s->bench;

    for (size_t i = 0; i < b->devices.n; i++)
        if (b->devices.devices[i] != s->dev)
            DF_TRY(measure_kind(s, COPY_PEER, b->devices.devices[i],
                                MEMORY_DEVICE, false));
    return DF_OK;
}

static df_status
measure_device(struct copy_suite *s)
{
    for (int kind = COPY_D2H; kind <= COPY_BOTH; kind++)
        DF_TRY(measure_kind(s, kind, NULL, MEMORY_PINNED, false));
    for (int kind = COPY_D2H; kind <= COPY_BOTH; kind++)
        DF_TRY(measure_kind(s, kind, NULL, MEMORY_PAGEABLE, false));
    for (int kind = COPY_D2H; kind <= COPY_BOTH; kind++)
        DF_TRY(measure_kind(s, kind, NULL, MEMORY_PINNED, true));
    DF_TRY(measure_kind(s, COPY_D2D, NULL, MEMORY_DEVICE, false));
    return measure_peers(s);
}

/* Bytes of a buffer: two copies of the largest size, unless memory is short.
   There are four buffers at most, on the device and on the host.  */
static size_t
room_for(const struct station *st)
{
    uint64_t most = st->info.free_bytes / 16;
    size_t room = 2 * (df_device_is_cpu(st->dev) ? largest_cpu : largest);

    while (room > most && room > smallest)
        room /= 2;
    return room;
}

df_status
bench_copy(struct bench *b)
{
    df_status status = DF_OK;

    for (size_t i = 0; status == DF_OK && i < b->devices.n; i++) {
        struct copy_suite s = {.bench = b, .dev = b->devices.devices[i]};

        s.room = room_for(bench_station(b, s.dev));
        status = measure_device(&s);
        copy_buffers_close(&s.buffers);
    }
    return status;
}

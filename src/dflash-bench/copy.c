/* Copies: to the host, to the device, both at once, within a device, from
   one to another; by size and by how many are in flight.

   The host is part of what is measured: it queues a copy as soon as fewer
   than DEPTH are in flight, as the pipeline does, so its clock counts.  */

#include <config.h>

#include "dflash-bench/bench.h"
#include "dflash-bench/copy.h"

enum {
    COMPARED = 32 << 20 /* bytes at either end */
};

static const size_t depths[] = {1, 2, 3, 4, COPY_MAX_DEPTH};
static const size_t smallest = 4 << 10, largest = 1 << 30;
static const size_t largest_cpu = 16 << 20; /* beyond any cache */
static const size_t loaded_from = 1 << 20;

static const char *const kind_names[] = {"d2h", "h2d", "both", "d2d", "peer"};

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
    return w->loaded ? copy_load_open(w) : DF_OK;
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
    copy_load_close(w);
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

df_status
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

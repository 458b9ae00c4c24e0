/* pack_hidden: over tokens, layers and width; packed and split; with and
   without noise and checks.  */

#include <config.h>

#include <stdlib.h>

#include "dflash-bench/bench.h"
#include "dflash-bench/packing.h"

static df_status
open_pack(void *arg)
{
    return packing_open(arg);
}

static void
close_pack(void *arg)
{
    packing_close(arg);
}

static df_status
queue_pack(void *arg, struct df_stream *stream)
{
    return packing_queue(arg, 0, stream);
}

/* What was packed, in memory of its own.  */
static df_status
fetch(struct packing *p, void *image)
{
    struct df_stream *stream;
    df_status status;

    DF_TRY(df_stream_new(&stream, p->dev, "pack"));
    status = df_fill(stream, p->out[0], 0xff, packing_bytes(p));
    if (status == DF_OK)
        status = packing_queue(p, 0, stream);
    if (status == DF_OK)
        status = df_copy(stream, image, p->out[0], packing_bytes(p));
    if (status == DF_OK)
        status = df_stream_sync(stream);
    df_stream_free(stream);
    return status;
}

static df_status
check_pack(void *arg, double *error)
{
    struct packing *p = arg;
    void *image = malloc(packing_bytes(p));
    df_status status =
        image ? fetch(p, image) : DF_FAIL(DF_NO_MEMORY, "packed states");

    if (status == DF_OK)
        status = packing_check(p, image);
    if (status == DF_OK)
        *error = 0; /* bit by bit */
    free(image);
    return status;
}

/* A test compares with a baseline while this does more than it says.  */
static void
make_slower(struct packing *p)
{
#ifdef DF_TEST_SLOWER
    p->T += p->T * (size_t) atoi(getenv("SLOWER_PERCENT")) / 100;
#else
    (void) p;
#endif
}

static df_status
measure_pack(struct bench *b, const struct packing *like)
{
    struct packing work = *like, *p = &work;
    char name[80];
    struct bench_case c = {.name = name,
                           .dev = p->dev,
                           .arg = p,
                           .bytes = packing_moved(p),
                           .ceiling = CEILING_COPY,
                           .entries = p->K,
                           .open = open_pack,
                           .close = close_pack,
                           .queue = queue_pack,
                           .check = check_pack};

    snprintf(name, sizeof name, "%zux%zux%zu/%s%s%s", p->T, p->K, p->H,
             p->split ? "split" : "packed", p->noise ? "/noise" : "",
             p->checks ? "/checks" : "");
    make_slower(p);
    return bench_case(b, &c);
}

/* Split states get their noise on the drafter's side.  */
static df_status
measure_modes(struct bench *b, struct packing *p)
{
    for (int mode = 0; mode < 6; mode++) {
        p->split = mode >= 4;
        p->noise = mode < 4 && mode & 2;
        p->checks = mode & 1;
        DF_TRY(measure_pack(b, p));
    }
    return DF_OK;
}

static df_status
measure_sizes(struct bench *b, struct df_device *dev)
{
    static const size_t tokens[2][3] = {
        {1024, 8192, 32768},
        {64,   512,  2048 }
    };
    static const size_t widths[2][2] = {
        {2560, 4096},
        {256,  1024}
    };
    int kind = df_device_is_cpu(dev);

    for (size_t t = 0; t < 3; t++)
        for (size_t K = 3; K <= 5; K += 2)
            for (size_t h = 0; h < 2; h++) {
                struct packing p = {.dev = dev,
                                    .T = tokens[kind][t],
                                    .K = K,
                                    .H = widths[kind][h],
                                    .n_buffers = 1};

                DF_TRY(measure_modes(b, &p));
            }
    return DF_OK;
}

df_status
bench_pack(struct bench *b)
{
    for (size_t i = 0; i < b->devices.n; i++)
        DF_TRY(measure_sizes(b, b->devices.devices[i]));
    return DF_OK;
}

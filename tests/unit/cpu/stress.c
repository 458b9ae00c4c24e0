/* A pipeline over three streams of two devices, shaken by stalls, in the
   shape that training has: nothing is lost, overwritten or out of order.

       compute: fill slot -> [filled] -> copy stream -> [copied] -> host
         ^                                                           |
         +------------------- slot is free again <-------------------+  */

#include <config.h>

#include <pthread.h>
#include <string.h>

#include "dflash/device.h"
#include "dflash/philox.h"
#include "tap/tap.h"

enum {
    SLOTS = 3,
    ROUNDS = 1500,
    BYTES = 4096,
    PIPES = 3
};

struct slot {
    unsigned char *device, *host;
    struct df_event *filled, *copied;
};

struct pipe {
    unsigned number;
    struct df_device *dev;
    df_status status;
    int wrong; /* rounds that brought other bytes than were filled in */
};

/* Now and then a pause of up to a millisecond.  */
static df_status
shake(struct df_stream *s, uint32_t a, uint32_t b)
{
    struct df_philox p = df_philox(5, a, b, 0, 0);

    return p.v[0] % 16 ? DF_OK
                       : df_stall(s, (double) df_uniform(p.v[1]) * 1e-3);
}

static int
check(const struct slot *s, unsigned round)
{
    for (size_t i = 0; i < BYTES; i++)
        if (s->host[i] != round % 251)
            return 1;
    return 0;
}

static df_status
make_slots(struct slot *slots, struct df_device *dev)
{
    for (int i = 0; i < SLOTS; i++) {
        void *data;

        DF_TRY(df_device_alloc(dev, DF_MEM_DEVICE, BYTES, &data));
        slots[i].device = data;
        DF_TRY(df_device_alloc(dev, DF_MEM_HOST, BYTES, &data));
        slots[i].host = data;
        DF_TRY(df_event_new(&slots[i].filled, dev));
        DF_TRY(df_event_new(&slots[i].copied, dev));
    }
    return DF_OK;
}

static void
free_slots(struct slot *slots, struct df_device *dev)
{
    for (int i = 0; i < SLOTS; i++) {
        df_device_free(dev, DF_MEM_DEVICE, slots[i].device);
        df_device_free(dev, DF_MEM_HOST, slots[i].host);
        df_event_free(slots[i].filled);
        df_event_free(slots[i].copied);
    }
}

static df_status
rounds(struct pipe *p, struct slot *slots, struct df_stream *compute,
       struct df_stream *copy)
{
    for (unsigned r = 0; r < ROUNDS + SLOTS; r++) {
        struct slot *s = &slots[r % SLOTS];

        DF_TRY(df_event_wait(s->copied));
        if (r >= SLOTS)
            p->wrong += check(s, r - SLOTS);
        if (r >= ROUNDS)
            continue;
        DF_TRY(shake(compute, p->number, r));
        DF_TRY(df_fill(compute, s->device, (int) (r % 251), BYTES));
        DF_TRY(df_event_record(s->filled, compute));
        DF_TRY(df_stream_wait(copy, s->filled));
        DF_TRY(shake(copy, p->number + 100, r));
        DF_TRY(df_copy(copy, s->host, s->device, BYTES));
        DF_TRY(df_event_record(s->copied, copy));
    }
    return df_stream_sync(copy);
}

static void *
run(void *arg)
{
    struct pipe *p = arg;
    struct slot slots[SLOTS] = {{0}};
    struct df_stream *compute = NULL, *copy = NULL;

    p->status = make_slots(slots, p->dev);
    if (p->status == DF_OK)
        p->status = df_stream_new(&compute, p->dev, "compute");
    if (p->status == DF_OK)
        p->status = df_stream_new(&copy, p->dev, "copy");
    if (p->status == DF_OK)
        p->status = rounds(p, slots, compute, copy);
    df_stream_free(compute);
    df_stream_free(copy);
    free_slots(slots, p->dev);
    return NULL;
}

/* Several threads queue on one stream.  */
static struct df_stream *shared;
static long counter[2];

static void *
queue_many(void *arg)
{
    size_t good = 0;

    (void) arg;
    for (int i = 0; i < ROUNDS; i++)
        good +=
            df_copy(shared, &counter[1], &counter[0], sizeof(long)) == DF_OK;
    return (void *) good;
}

static void
test_shared(struct df_device *dev)
{
    pthread_t threads[PIPES];
    size_t good = 0;

    counter[0] = 7;
    if (df_stream_new(&shared, dev, "shared") != DF_OK)
        return;
    for (int i = 0; i < PIPES; i++)
        if (pthread_create(&threads[i], NULL, queue_many, NULL))
            return;
    for (int i = 0; i < PIPES; i++) {
        void *result;

        pthread_join(threads[i], &result);
        good += (size_t) result;
    }
    is_long(PIPES * ROUNDS, (long) good, "threads share a stream");
    ok(df_stream_sync(shared) == DF_OK && counter[1] == 7, "and it runs");
    df_stream_free(shared);
}

int
main(void)
{
    struct df_device *dev[2];
    struct pipe pipes[PIPES];
    pthread_t threads[PIPES];

    plan(PIPES + 2);
    if (df_device_open(&dev[0], "cpu") != DF_OK
        || df_device_open(&dev[1], "cpu:1") != DF_OK)
        return 1;
    for (unsigned i = 0; i < PIPES; i++) {
        pipes[i] = (struct pipe){.number = i, .dev = dev[i % 2]};
        if (pthread_create(&threads[i], NULL, run, &pipes[i]))
            return 1;
    }
    for (int i = 0; i < PIPES; i++) {
        pthread_join(threads[i], NULL);
        ok(pipes[i].status == DF_OK && pipes[i].wrong == 0,
           "pipe %d: status %d, %d rounds of %d wrong", i, pipes[i].status,
           pipes[i].wrong, ROUNDS);
    }
    test_shared(dev[0]);
    df_device_close(dev[0]);
    df_device_close(dev[1]);
    return 0;
}

/* What device.h says, on the first GPU: memory, copies, streams, events.  */

#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dflash/device.h"
#include "dflash/ops.h"
#include "tap/tap.h"

enum {
    BYTES = 1 << 20
};

static struct df_device *dev;
static struct df_stream *compute, *side;
static struct df_event *event;
static unsigned char *host, *back; /* pinned, [BYTES] */
static void *memory;               /* device memory, [BYTES] */

#define NEED(expr)                                                   \
    do {                                                             \
        if ((expr) != DF_OK)                                         \
            bail("line %d: %s", __LINE__, df_error_last()->message); \
    } while (0)

static void
set_up(void)
{
    NEED(df_stream_new(&compute, dev, "compute"));
    NEED(df_stream_new(&side, dev, "side"));
    NEED(df_event_new(&event, dev));
    NEED(df_device_alloc(dev, DF_MEM_HOST, BYTES, (void **) &host));
    NEED(df_device_alloc(dev, DF_MEM_HOST, BYTES, (void **) &back));
    NEED(df_device_alloc(dev, DF_MEM_DEVICE, BYTES, &memory));
}

static void
clear(void)
{
    df_device_free(dev, DF_MEM_DEVICE, memory);
    df_device_free(dev, DF_MEM_HOST, back);
    df_device_free(dev, DF_MEM_HOST, host);
    df_event_free(event);
    df_stream_free(side);
    df_stream_free(compute);
}

static void
test_opening(void)
{
    struct df_device *none;
    bool all = true;

    for (int op = 0; op < DF_N_OPS; op++)
        all = all && df_device_has(dev, (enum df_op) op);
    ok(all, "a GPU has every operation");
    ok(!df_device_is_cpu(dev) && df_device_act(dev) == DF_BF16,
       "its activations are bf16");
    is_long(DF_DEVICE, df_device_open(&none, "cuda:63"), "cuda:63");
    ok(strstr(df_error_last()->message, "cuda:63: there ") != NULL,
       "says how many there are: %s", df_error_last()->message);
}

static void
test_memory(void)
{
    struct df_device_stats before, s;
    void *a, *b, *none;

    df_device_get_stats(dev, &before);
    NEED(df_device_alloc(dev, DF_MEM_DEVICE, 1000, &a));
    NEED(df_device_alloc(dev, DF_MEM_HOST, 10, &b));
    df_device_get_stats(dev, &s);
    ok((uintptr_t) a % 256 == 0 && (uintptr_t) b % 256 == 0,
       "memory is aligned to 256 bytes");
    ok(s.allocations == before.allocations + 2
           && s.device_bytes == before.device_bytes + 1000
           && s.host_bytes == before.host_bytes + 10,
       "and counted");
    df_device_free(dev, DF_MEM_DEVICE, a);
    df_device_free(dev, DF_MEM_HOST, b);
    df_device_get_stats(dev, &s);
    ok(s.device_bytes == before.device_bytes
           && s.device_peak_bytes >= before.device_bytes + 1000,
       "what was freed stays in the peak");
    is_long(DF_NO_MEMORY,
            df_device_alloc(dev, DF_MEM_DEVICE, (size_t) 1 << 46, &none),
            "more than there is");
    ok(strstr(df_error_last()->message, "70368744177664") != NULL
           && strstr(df_error_last()->message, "free") != NULL,
       "says what was asked and what is free: %s", df_error_last()->message);
    ok(df_fill(compute, memory, 1, BYTES) == DF_OK
           && df_stream_sync(compute) == DF_OK,
       "the next call is none the worse for it");
}

static void
fill_pattern(unsigned seed)
{
    for (size_t i = 0; i < BYTES; i++)
        host[i] = (unsigned char) (i * 31 + i / 251 + seed);
}

static void
test_copies(void)
{
    static const size_t sizes[] = {1, 33, 4099, BYTES};
    bool right = true;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        fill_pattern((unsigned) i);
        memset(back, 0xee, BYTES);
        NEED(df_copy(compute, memory, host, sizes[i]));
        NEED(df_copy(compute, back, memory, sizes[i]));
        NEED(df_stream_sync(compute));
        right = right && memcmp(host, back, sizes[i]) == 0
                && (sizes[i] == BYTES || back[sizes[i]] == 0xee);
    }
    ok(right, "copies there and back");
    NEED(df_fill(compute, memory, 0xa5, 4099));
    NEED(df_copy(compute, back, memory, 4099));
    NEED(df_stream_sync(compute));
    memset(host, 0xa5, 4099);
    ok(memcmp(host, back, 4099) == 0, "fill");
}

static void
test_events(void)
{
    struct df_event *fresh;

    NEED(df_event_new(&fresh, dev));
    ok(df_event_reached(fresh) && df_event_wait(fresh) == DF_OK,
       "an event that never was recorded counts as reached");
    df_event_free(fresh);
    NEED(df_stall(side, 0.2));
    NEED(df_event_record(event, side));
    ok(!df_event_reached(event), "a stalled stream doesn't reach its event");
    NEED(df_stream_sync(compute));
    ok(!df_event_reached(event), "other streams don't wait for it");
    NEED(df_event_wait(event));
    ok(df_event_reached(event), "until the stall is over");
}

/* A copy on a stalled stream from memory that the other stream then fills.
   Does the copy get what was there when it was queued?  */
static bool
survives(bool guard)
{
    fill_pattern(7);
    NEED(df_copy(compute, memory, host, BYTES));
    NEED(df_event_record(event, compute));
    NEED(df_stream_wait(side, event));
    NEED(df_stall(side, 0.2));
    NEED(df_copy(side, back, memory, BYTES));
    NEED(df_event_record(event, side));
    if (guard)
        NEED(df_stream_wait(compute, event));
    NEED(df_fill(compute, memory, 0xff, BYTES));
    NEED(df_stream_sync(compute));
    NEED(df_event_wait(event));
    return memcmp(host, back, BYTES) == 0;
}

static void
test_lifetimes(void)
{
    ok(survives(true), "memory that waits for its copy is copied right");
    ok(!survives(false), "memory that doesn't wait is not");
}

/* Two products and a norm backwards: cache, workspace and scratch.  */
static void
run_operations(void)
{
    struct df_linear_args linear = {.y = (char *) memory + 65536,
                                    .x = memory,
                                    .w = memory,
                                    .T = 16,
                                    .N = 32,
                                    .K = 64};
    struct df_rmsnorm_bwd_args norm = {
        .dw = (float *) ((char *) memory + 131072),
        .dy = memory,
        .x = memory,
        .w = memory,
        .rstd = memory,
        .T = 16,
        .C = 64};

    NEED(df_fill(compute, memory, 0, BYTES));
    NEED(df_linear(compute, &linear));
    linear.T = 7;
    NEED(df_linear(compute, &linear));
    NEED(df_rmsnorm_bwd(compute, &norm));
    NEED(df_stream_sync(compute));
}

/* Work behind a gate waits for the host, and the time does not count.  */
static void
test_gate(void)
{
    struct timespec pause = {.tv_nsec = 50000000};
    struct df_event *begin, *end;
    struct df_gate *gate;
    double seconds = -1;

    NEED(df_event_new_timed(&begin, dev));
    NEED(df_event_new_timed(&end, dev));
    NEED(df_gate_new(&gate, dev));
    for (int i = 0; i < 2; i++) {
        NEED(df_gate_hold(gate, compute));
        NEED(df_event_record(begin, compute));
        NEED(df_stall(compute, 0.01));
        NEED(df_event_record(end, compute));
        nanosleep(&pause, NULL);
        ok(!df_event_reached(begin), "work behind a gate doesn't run");
        df_gate_open(gate);
        NEED(df_event_seconds(begin, end, &seconds));
        ok(seconds >= 0.0099 && seconds < 0.045,
           "opened, it takes its time: %g s", seconds);
    }
    df_gate_free(gate);
    df_event_free(begin);
    df_event_free(end);
}

static void
test_description(void)
{
    struct df_device_info info;

    NEED(df_device_describe(dev, &info));
    ok(*info.model && info.units > 0 && info.cache_bytes > 0
           && info.memory_bytes >= info.free_bytes,
       "it is described: %s, %s", info.model, info.runtime);
    ok(df_device_reaches(dev, dev), "a device reaches itself");
}

static void
test_scratch(void)
{
    struct df_device_stats before, first, second;

    df_device_get_stats(dev, &before);
    run_operations();
    df_device_get_stats(dev, &first);
    run_operations();
    df_device_get_stats(dev, &second);
    ok(first.allocations > before.allocations,
       "what operations allocate is counted");
    is_long((long) first.allocations, (long) second.allocations,
            "and isn't allocated again");
}

static void
test_peer(void)
{
    struct df_device *other;
    void *there;

    if (df_device_open(&other, "cuda:1") != DF_OK) {
        skip("copy to another GPU: %s", df_error_last()->message);
        return;
    }
    fill_pattern(3);
    NEED(df_device_alloc(other, DF_MEM_DEVICE, BYTES, &there));
    NEED(df_copy(compute, memory, host, BYTES));
    NEED(df_copy(compute, there, memory, BYTES));
    NEED(df_fill(compute, memory, 0, BYTES));
    NEED(df_copy(compute, memory, there, BYTES));
    NEED(df_copy(compute, back, memory, BYTES));
    NEED(df_stream_sync(compute));
    ok(memcmp(host, back, BYTES) == 0, "copy to another GPU and back");
    df_device_free(other, DF_MEM_DEVICE, there);
    df_device_close(other);
}

int
main(void)
{
    if (df_device_open(&dev, "cuda:0") != DF_OK)
        skip_all("%s", df_error_last()->message);
    plan(27);
    set_up();
    test_opening();
    test_memory();
    test_copies();
    test_events();
    test_lifetimes();
    test_gate();
    test_description();
    test_scratch();
    test_peer();
    clear();
    df_device_close(dev);
    return 0;
}

/* What device.h says about streams and events, on CPU devices.  */

#include <config.h>

#include <string.h>

#include "cpu/stream_internal.h"
#include "tap/tap.h"

static struct df_device *dev, *dev1;
static struct df_stream *a, *b, *c; /* c is dev1's */
static struct df_event *e, *e1;     /* e1 is dev1's */

#define NEED(expr)                                                   \
    do {                                                             \
        if ((expr) != DF_OK)                                         \
            diag("line %d: %s", __LINE__, df_error_last()->message); \
    } while (0)

static void
open_all(void)
{
    NEED(df_device_open(&dev, "cpu"));
    NEED(df_device_open(&dev1, "cpu:1"));
    NEED(df_stream_new(&a, dev, "a"));
    NEED(df_stream_new(&b, dev, "b"));
    NEED(df_stream_new(&c, dev1, "c"));
    NEED(df_event_new(&e, dev));
    NEED(df_event_new(&e1, dev1));
}

static void
close_all(void)
{
    df_event_free(e);
    df_event_free(e1);
    df_stream_free(a);
    df_stream_free(b);
    df_stream_free(c);
    df_device_close(dev);
    df_device_close(dev1);
}

static void
test_order(void)
{
    enum {
        N = 3000 /* more than fit into the queue */
    };
    static int chain[N + 1];

    chain[0] = 42;
    NEED(df_stall(a, 0.02));
    for (int i = 0; i < N; i++)
        NEED(df_copy(a, &chain[i + 1], &chain[i], sizeof *chain));
    NEED(df_stream_sync(a));
    is_long(42, chain[N], "what is queued runs in order, and all of it");
    NEED(df_fill(a, chain, 1, sizeof *chain));
    NEED(df_stream_sync(a));
    is_long(0x01010101, chain[0], "fill");
    NEED(df_copy(a, NULL, NULL, 0));
    is_long(DF_OK, df_stream_sync(a), "a copy of nothing");
    ok(df_stream_device(a) == dev && df_stream_device(c) == dev1,
       "a stream knows its device");
}

static void
test_event(void)
{
    static int x, y;
    struct df_event *fresh;

    NEED(df_event_new(&fresh, dev));
    ok(df_event_reached(fresh), "an event never recorded is reached");
    is_long(DF_OK, df_event_wait(fresh), "and waiting for it is short");
    is_long(DF_OK, df_stream_wait(b, fresh), "for a stream too");
    df_event_free(fresh);

    x = 0;
    NEED(df_stall(a, 0.1));
    NEED(df_fill(a, &x, 1, 1));
    NEED(df_event_record(e, a));
    ok(!df_event_reached(e), "recorded behind a stall, it isn't");
    NEED(df_stream_wait(b, e));
    NEED(df_copy(b, &y, &x, sizeof x));
    NEED(df_stream_sync(b));
    is_long(1, y, "another stream waits for it");
    ok(df_event_reached(e), "then it is reached");

    NEED(df_stall(a, 0.05));
    NEED(df_fill(a, &x, 2, 1));
    NEED(df_event_record(e, a));
    is_long(DF_OK, df_event_wait(e), "the host waits for it");
    is_long(2, x, "until the work before it is done");
}

static void
test_again(void)
{
    static int x, y;

    /* B waits for E as A recorded it; then E moves to C, which is idle, and
       back behind a long stall of C.  */
    x = 0;
    NEED(df_stall(a, 0.1));
    NEED(df_fill(a, &x, 1, 1));
    NEED(df_event_record(e1, c));
    NEED(df_event_record(e, a));
    NEED(df_stream_wait(b, e));
    NEED(df_copy(b, &y, &x, sizeof x));
    NEED(df_event_record(e, b));
    ok(!df_event_reached(e), "recording again moves an event");
    NEED(df_stream_sync(b));
    is_long(1, y, "a wait keeps the place it was queued with");

    NEED(df_stall(c, 0.15));
    NEED(df_event_record(e1, c));
    NEED(df_stream_wait(a, e1));
    NEED(df_fill(a, &x, 3, 1));
    NEED(df_event_record(e, a));
    NEED(df_stall(c, 0.001));
    NEED(df_event_record(e1, c));
    ok(!df_event_reached(e), "events of other devices are waited for");
    NEED(df_event_wait(e));
    is_long(3, x, "and go on");
    NEED(df_stream_sync(c));
}

/* An event outlives the stream it was recorded on.  */
static void
test_lifetime(void)
{
    static int x;
    struct df_stream *s;

    x = 0;
    NEED(df_stream_new(&s, dev, "short"));
    NEED(df_stall(s, 0.05));
    NEED(df_fill(s, &x, 1, 1));
    NEED(df_event_record(e, s));
    NEED(df_stream_wait(b, e));
    df_stream_free(s);
    is_long(1, x, "freeing a stream waits for what is queued");
    ok(df_event_reached(e), "its event is reached");
    is_long(DF_OK, df_event_wait(e), "and can be waited for");
    is_long(DF_OK, df_stream_sync(b), "by a stream too");
}

static df_status
fail(const void *args)
{
    return DF_FAIL(DF_DEVICE, "entry %d broke", *(const int *) args);
}

static void
test_failure(void)
{
    static int x;
    int number = 17;
    struct df_event *before, *behind;

    x = 0;
    NEED(df_event_new(&before, dev));
    NEED(df_event_new(&behind, dev));
    NEED(df_stall(a, 0.02));
    NEED(df_event_record(before, a));
    NEED(df_cpu_queue(a, fail, &number, sizeof number));
    NEED(df_fill(a, &x, 1, 1));
    NEED(df_event_record(behind, a));
    NEED(df_stream_wait(b, behind));
    NEED(df_fill(b, &x, 2, 1));
    NEED(df_stream_wait(c, before));
    is_long(DF_DEVICE, df_stream_sync(a), "a failure is returned by sync");
    ok(strcmp(df_error_last()->message, "entry 17 broke") == 0,
       "with its message");
    NEED(df_fill(a, &x, 3, 1));
    is_long(DF_DEVICE, df_stream_sync(a), "and by every later one");
    is_long(0, x, "no later work runs");
    is_long(DF_OK, df_event_wait(before), "an event before it is fine");
    ok(df_event_reached(behind), "one behind it is reached");
    is_long(DF_DEVICE, df_event_wait(behind), "but returns the failure");
    is_long(DF_DEVICE, df_stream_sync(b), "as does a stream that waited");
    is_long(0, x, "whose later work doesn't run either");
    is_long(DF_OK, df_stream_sync(c), "other streams go on");
    df_event_free(before);
    df_event_free(behind);
}

int
main(void)
{
    plan(4 + 8 + 4 + 4 + 10);
    open_all();
    test_order();
    test_event();
    test_again();
    test_lifetime();
    test_failure();
    close_all();
    return 0;
}

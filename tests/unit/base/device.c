#include <config.h>

#include <string.h>
#include <time.h>

#include "dflash/device.h"
#include "tap/tap.h"

static const struct {
    const char *name;
    df_status wanted;
} names[] = {
    {"cpu",             DF_OK         },
    {"cpu:0",           DF_OK         },
    {"cpu:63",          DF_OK         },
    {"",                DF_INVALID    },
    {"cpu:",            DF_INVALID    },
    {"cpu:64",          DF_INVALID    },
    {"cpu:-1",          DF_INVALID    },
    {"cpu:+1",          DF_INVALID    },
    {"cpu: 1",          DF_INVALID    },
    {"cpu:01",          DF_INVALID    },
    {"cpu:1 ",          DF_INVALID    },
    {"cpu:1x",          DF_INVALID    },
    {"CPU",             DF_INVALID    },
    {"cpu0",            DF_INVALID    },
    {"cuda",            DF_INVALID    },
    {"cuda:",           DF_INVALID    },
    {"cuda:64",         DF_INVALID    },
    {"cuda:4294967296", DF_INVALID    },
    {"cuda:0,1",        DF_INVALID    },
    {"gpu:0",           DF_INVALID    },
#ifndef HAVE_CUDA
    {"cuda:0",          DF_UNSUPPORTED},
#endif
};

static void
test_names(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct df_device *dev;
        df_status status = df_device_open(&dev, names[i].name);

        is_long(names[i].wanted, status, "device '%s'", names[i].name);
        if (status == DF_OK)
            df_device_close(dev);
    }
}

static void
test_memory(struct df_device *dev)
{
    struct df_device_stats s;
    void *a = NULL, *b = NULL, *none;

    df_device_get_stats(dev, &s);
    is_long(0, (long) (s.allocations + s.device_bytes + s.host_bytes),
            "a new device has nothing");
    ok(df_device_alloc(dev, DF_MEM_DEVICE, 1000, &a) == DF_OK
           && df_device_alloc(dev, DF_MEM_HOST, 1, &b) == DF_OK,
       "memory of both kinds");
    ok((uintptr_t) a % 256 == 0 && (uintptr_t) b % 256 == 0,
       "aligned to 256 bytes");
    if (!a || !b)
        return;
    memset(a, 1, 1000);
    memset(b, 1, 1);
    df_device_free(dev, DF_MEM_DEVICE, a);
    ok(df_device_alloc(dev, DF_MEM_DEVICE, 0, &a) == DF_OK && a,
       "memory of 0 bytes");
    df_device_get_stats(dev, &s);
    ok(s.allocations == 3 && s.device_bytes == 0 && s.device_peak_bytes == 1000
           && s.host_bytes == 1 && s.host_peak_bytes == 1,
       "is counted, with its peak");
    df_device_free(dev, DF_MEM_DEVICE, a);
    df_device_free(dev, DF_MEM_HOST, b);
    df_device_free(dev, DF_MEM_HOST, NULL);
    is_long(DF_NO_MEMORY,
            df_device_alloc(dev, DF_MEM_DEVICE, SIZE_MAX - 100, &none),
            "more than there can be");
    ok(strstr(df_error_last()->message, "18446744073709551515") != NULL,
       "and the message says how much");
    df_device_get_stats(dev, &s);
    ok(s.allocations == 3 && s.device_bytes == 0 && s.host_bytes == 0,
       "a failure isn't counted");
}

/* What is queued behind a gate waits for it, and the time does not count.  */
static void
test_gate(struct df_device *dev)
{
    struct timespec pause = {.tv_nsec = 50000000};
    struct df_stream *stream;
    struct df_event *begin, *end, *never;
    struct df_gate *gate;
    double seconds = -1;

    if (df_stream_new(&stream, dev, "gate") != DF_OK
        || df_event_new_timed(&begin, dev) != DF_OK
        || df_event_new_timed(&end, dev) != DF_OK
        || df_event_new_timed(&never, dev) != DF_OK
        || df_gate_new(&gate, dev) != DF_OK)
        bail("%s", df_error_last()->message);
    for (int i = 0; i < 2; i++) {
        ok(df_gate_hold(gate, stream) == DF_OK
               && df_event_record(begin, stream) == DF_OK
               && df_stall(stream, 0.02) == DF_OK
               && df_event_record(end, stream) == DF_OK,
           "work behind a gate is queued");
        nanosleep(&pause, NULL);
        ok(!df_event_reached(begin), "and doesn't run");
        df_gate_open(gate);
        df_status status = df_event_seconds(begin, end, &seconds);

        ok(status == DF_OK && seconds >= 0.02,
           "opened, it takes its time: %g s", seconds);
    }
    is_long(DF_INVALID, df_event_seconds(never, end, &seconds),
            "an event that never was recorded has no time");
    df_stream_free(stream);
    df_gate_free(gate);
    df_event_free(begin);
    df_event_free(end);
    df_event_free(never);
}

static void
test_description(struct df_device *dev)
{
    struct df_device_info info;
    struct df_device *other;

    ok(df_device_describe(dev, &info) == DF_OK && info.units > 0
           && info.memory_bytes > 0 && *info.runtime && !*info.driver,
       "a CPU is described: %s, %s", info.model, info.runtime);
    if (df_device_open(&other, "cpu:2") != DF_OK)
        bail("%s", df_error_last()->message);
    ok(df_device_reaches(dev, other), "a CPU reaches another one");
    df_device_close(other);
}

int
main(void)
{
    struct df_device *dev;

    plan(sizeof names / sizeof *names + 11 + 7 + 2);
    test_names();
    if (df_device_open(&dev, "cpu:1") != DF_OK)
        return 1;
    ok(strcmp(df_device_name(dev), "cpu:1") == 0, "the name is kept");
    ok(df_device_is_cpu(dev), "it is a CPU");
    is_long(DF_F32, df_device_act(dev), "and computes in float");
    test_memory(dev);
    test_gate(dev);
    test_description(dev);
    df_device_close(dev);
    return 0;
}

#include <config.h>

#include <string.h>

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

int
main(void)
{
    struct df_device *dev;

    plan(sizeof names / sizeof *names + 11);
    test_names();
    if (df_device_open(&dev, "cpu:1") != DF_OK)
        return 1;
    ok(strcmp(df_device_name(dev), "cpu:1") == 0, "the name is kept");
    ok(df_device_is_cpu(dev), "it is a CPU");
    is_long(DF_F32, df_device_act(dev), "and computes in float");
    test_memory(dev);
    df_device_close(dev);
    return 0;
}

/* A kernel that fails, which no later call may hide.  The process can't use
   the GPU afterwards, so this is a program of its own; tools that look for
   bad accesses find the one that is meant.  */

#include <config.h>

#include "dflash/device.h"
#include "dflash/ops.h"
#include "tap/tap.h"

#define NEED(expr)                                                   \
    do {                                                             \
        if ((expr) != DF_OK)                                         \
            bail("line %d: %s", __LINE__, df_error_last()->message); \
    } while (0)

int
main(void)
{
    struct df_device *dev;
    struct df_stream *s, *other;
    struct df_event *event;
    void *memory, *none;

    if (df_device_open(&dev, "cuda:0") != DF_OK)
        skip_all("%s", df_error_last()->message);
    plan(7);
    NEED(df_stream_new(&s, dev, "s"));
    NEED(df_stream_new(&other, dev, "other"));
    NEED(df_event_new(&event, dev));
    NEED(df_device_alloc(dev, DF_MEM_DEVICE, 4096, &memory));

    /* Row 0x7f7f7f7f of a table that ends long before.  */
    struct df_gather_rows_args bad = {.y = memory,
                                      .x = memory,
                                      .index = memory,
                                      .R = 1,
                                      .C = 1024,
                                      .T = INT32_MAX};

    NEED(df_fill(s, memory, 0x7f, 4096));
    NEED(df_stream_sync(s));
    is_long(DF_OK, df_gather_rows(s, &bad), "a bad kernel is queued");
    if (df_event_record(event, s) != DF_OK)
        diag("%s", df_error_last()->message); /* it has failed already */
    is_long(DF_DEVICE, df_stream_sync(s), "its stream tells");
    diag("%s", df_error_last()->message);
    is_long(DF_DEVICE, df_stream_sync(s), "and tells again");
    is_long(DF_DEVICE, df_event_wait(event), "so does the event behind it");
    is_long(DF_DEVICE, df_fill(s, memory, 0, 16), "and what is queued next");
    is_long(DF_DEVICE, df_stream_sync(other), "another stream");
    is_long(DF_DEVICE, df_device_alloc(dev, DF_MEM_DEVICE, 16, &none),
            "and an allocation");
    df_device_free(dev, DF_MEM_DEVICE, memory);
    df_event_free(event);
    df_stream_free(other);
    df_stream_free(s);
    df_device_close(dev);
    return 0;
}

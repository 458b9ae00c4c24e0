/* handy.h - a device and small arrays on it, for tests of single
   operations.  Any failure ends the program with its message.  */

#ifndef DF_HANDY_H
#define DF_HANDY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dflash/ops.h"

/* EXPR, a df_status, has to be DF_OK.  */
#define NEED(expr)                                                         \
    do {                                                                   \
        if ((expr) != DF_OK) {                                             \
            printf("Bail out! %s: %s\n", #expr, df_error_last()->message); \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

static struct df_device *dev;
static struct df_stream *stream;

static inline void
open_cpu(void)
{
    NEED(df_device_open(&dev, "cpu"));
    NEED(df_stream_new(&stream, dev, "test"));
}

static inline void
close_cpu(void)
{
    df_stream_free(stream);
    df_device_close(dev);
}

/* Device memory with a copy of BYTES at SRC, or NaN if that's NULL.  */
static inline void *
on_device(const void *src, size_t bytes)
{
    void *data;

    NEED(df_device_alloc(dev, DF_MEM_DEVICE, bytes, &data));
    NEED(src ? df_copy(stream, data, src, bytes)
             : df_fill(stream, data, 0xff, bytes));
    NEED(df_stream_sync(stream));
    return data;
}

/* BYTES of DATA, after all that was queued, to DST; DATA is freed.  */
static inline void
take_back(void *dst, void *data, size_t bytes)
{
    NEED(df_copy(stream, dst, data, bytes));
    NEED(df_stream_sync(stream));
    df_device_free(dev, DF_MEM_DEVICE, data);
}

#define ON_DEVICE(array) on_device((array), sizeof(array))

#endif

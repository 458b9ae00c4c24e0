#include <config.h>

#include <stdlib.h>

#include "base/transfer_internal.h"

df_status
df_copy_now(struct df_device *dev, void *dst, const void *src, size_t bytes)
{
    struct df_stream *s;
    df_status status;

    DF_TRY(df_stream_new(&s, dev, "transfer"));
    status = df_copy(s, dst, src, bytes);
    if (status == DF_OK)
        status = df_stream_sync(s);
    df_stream_free(s);
    return status;
}

df_status
df_download(struct df_device *dev, const float *src, size_t n, float **out)
{
    df_status status;

    *out = malloc(n * sizeof **out);
    if (!*out)
        return DF_FAIL(DF_NO_MEMORY, "%zu floats", n);
    status = df_copy_now(dev, *out, src, n * sizeof **out);
    if (status != DF_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}

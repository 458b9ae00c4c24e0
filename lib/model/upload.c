#include <config.h>

#include <stdlib.h>

#include "model/upload_internal.h"

df_status
df_uploader_begin(struct df_uploader *u, struct df_device *dev,
                  size_t max_count)
{
    *u = (struct df_uploader){.dev = dev, .count = max_count};
    DF_TRY(df_stream_new(&u->stream, dev, "upload"));
    u->wide = malloc(max_count * sizeof *u->wide);
    if (!u->wide)
        return DF_FAIL(DF_NO_MEMORY, "%zu floats to load weights with",
                       max_count);
    return df_device_alloc(dev, DF_MEM_HOST,
                           max_count * df_dtype_size(df_device_act(dev)),
                           &u->narrow);
}

df_status
df_upload_f32(struct df_uploader *u, void *dst, const float *src, size_t n)
{
    enum df_dtype act = df_device_act(u->dev);

    df_convert_from_f32(u->narrow, act, src, n);
    DF_TRY(df_copy(u->stream, dst, u->narrow, n * df_dtype_size(act)));
    return df_stream_sync(u->stream);
}

df_status
df_upload_tensor(struct df_uploader *u, void *dst, const struct df_tensor *t)
{
    if (t->dtype != df_device_act(u->dev)) {
        DF_TRY(df_tensor_read_f32(t, u->wide));
        return df_upload_f32(u, dst, u->wide, t->count);
    }
    df_tensor_copy(t, u->narrow);
    DF_TRY(df_copy(u->stream, dst, u->narrow, t->size));
    return df_stream_sync(u->stream);
}

void
df_uploader_end(struct df_uploader *u)
{
    if (u->narrow)
        df_device_free(u->dev, DF_MEM_HOST, u->narrow);
    df_stream_free(u->stream);
    free(u->wide);
}

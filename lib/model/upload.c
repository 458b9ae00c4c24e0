#include <config.h>

#include <stdlib.h>

#include "model/upload_internal.h"

enum {
    PART = 8 << 20 /* elements */
};

df_status
df_uploader_begin(struct df_uploader *u, struct df_device *dev)
{
    size_t bytes = PART * df_dtype_size(df_device_act(dev));

    *u = (struct df_uploader){.dev = dev};
    DF_TRY(df_stream_new(&u->stream, dev, "upload"));
    for (size_t i = 0; i < 2; i++) {
        struct df_upload_stage *s = &u->stages[i];

        DF_TRY(df_event_new(&s->done, dev));
        DF_TRY(df_device_alloc(dev, DF_MEM_HOST, bytes, &s->memory));
    }
    u->wide = malloc(PART * sizeof *u->wide);
    return u->wide
               ? DF_OK
               : DF_FAIL(DF_NO_MEMORY, "%d floats to load weights with", PART);
}

static df_status
upload_part(struct df_uploader *u, void *dst, const struct df_tensor *t)
{
    struct df_upload_stage *s = &u->stages[u->n++ % 2];
    enum df_dtype act = df_device_act(u->dev);

    DF_TRY(df_event_wait(s->done));
    if (t->dtype == act) {
        df_tensor_copy(t, s->memory);
    } else {
        DF_TRY(df_tensor_read_f32(t, u->wide));
        df_convert_from_f32(s->memory, act, u->wide, t->count);
    }
    DF_TRY(df_copy(u->stream, dst, s->memory, t->count * df_dtype_size(act)));
    return df_event_record(s->done, u->stream);
}

df_status
df_upload_tensor(struct df_uploader *u, void *dst, const struct df_tensor *t)
{
    size_t from = df_dtype_size(t->dtype);
    size_t to = df_dtype_size(df_device_act(u->dev));

    for (size_t at = 0; at < t->count; at += PART) {
        struct df_tensor part = *t;

        part.count = t->count - at < PART ? t->count - at : PART;
        part.size = part.count * from;
        part.data = t->data + at * from;
        DF_TRY(upload_part(u, (char *) dst + at * to, &part));
    }
    return df_stream_sync(u->stream);
}

void
df_uploader_end(struct df_uploader *u)
{
    df_stream_free(u->stream);
    for (size_t i = 0; i < 2; i++) {
        df_event_free(u->stages[i].done);
        if (u->stages[i].memory)
            df_device_free(u->dev, DF_MEM_HOST, u->stages[i].memory);
    }
    free(u->wide);
}

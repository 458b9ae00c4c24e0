/* Writing captures of any format.  */

#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "store/backend_internal.h"

enum {
    FLUSH_EVERY = 16
};

df_status
df_writer_init(struct df_capture_writer *writer,
               const struct df_capture_writer_ops *ops, const char *path,
               const struct df_capture_header *header,
               const struct df_capture_writer_options *options)
{
    writer->ops = ops;
    writer->flush_every =
        options->flush_every ? options->flush_every : FLUSH_EVERY;
    writer->path = strdup(path);
    if (!writer->path)
        return DF_FAIL(DF_NO_MEMORY, "%s", path);
    return df_head_copy(&writer->head, header);
}

static void
writer_free(struct df_capture_writer *writer)
{
    df_head_clear(&writer->head);
    df_id_set_clear(&writer->ids);
    free(writer->path);
    free(writer);
}

df_status
df_capture_writer_open(struct df_capture_writer **out, const char *path,
                       enum df_capture_format format,
                       const struct df_capture_header *header,
                       const struct df_capture_writer_options *options)
{
    static df_capture_create *const formats[] = {
        [DF_CAPTURE_HDF5] = df_h5_writer_open,
        [DF_CAPTURE_STREAM] = df_stream_writer_open,
        [DF_CAPTURE_SPECULATORS] = df_folder_writer_open,
    };
    const struct df_capture_writer_options none = {0};
    struct df_capture_writer *writer = NULL;
    df_status status =
        formats[format](&writer, path, header, options ? options : &none);

    *out = status == DF_OK ? writer : NULL;
    if (status != DF_OK && writer) {
        status = writer->ops->close(writer, status);
        writer_free(writer);
    }
    return status;
}

bool
df_capture_writer_has(const struct df_capture_writer *writer, uint64_t id)
{
    return df_id_set_has(&writer->ids, id);
}

uint64_t
df_capture_writer_count(const struct df_capture_writer *writer)
{
    return writer->count;
}

static df_status
refuse_more(const struct df_capture_writer *writer)
{
    return DF_FAIL(DF_IO, "%s: a write before this one failed", writer->path);
}

df_status
df_capture_writer_put(struct df_capture_writer *writer,
                      const struct df_capture_sample *sample)
{
    if (writer->failed)
        return refuse_more(writer);
    DF_TRY(df_sample_check(writer->path, &writer->head.header, sample));
    if (df_id_set_has(&writer->ids, sample->id))
        return DF_FAIL(DF_INVALID,
                       "%s: sample %" PRIu64 " of id %" PRIu64
                       " is there already",
                       writer->path, sample->index, sample->id);
    DF_TRY(df_id_set_add(&writer->ids, sample->id));
    writer->failed = true;
    DF_TRY(writer->ops->put(writer, sample));
    writer->failed = false;
    writer->count++;
    writer->pending++;
    return writer->pending >= writer->flush_every
               ? df_capture_writer_commit(writer)
               : DF_OK;
}

df_status
df_capture_writer_commit(struct df_capture_writer *writer)
{
    if (writer->failed)
        return refuse_more(writer);
    if (writer->pending == 0)
        return DF_OK;
    writer->failed = true;
    DF_TRY(writer->ops->commit(writer));
    writer->failed = false;
    writer->pending = 0;
    return DF_OK;
}

df_status
df_capture_writer_close(struct df_capture_writer *writer, df_status status)
{
    if (!writer)
        return status;
    if (status == DF_OK)
        status = df_capture_writer_commit(writer);
    status = writer->ops->close(writer, status);
    writer_free(writer);
    return status;
}

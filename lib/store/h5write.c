/* Appending samples to an HDF5 file.  A commit is: flush the data, write the
   marker, flush that, empty the journal.  */

#include <config.h>

#include <inttypes.h>
#include <stdlib.h>

#include "store/h5_internal.h"

struct h5_writer {
    struct df_capture_writer base; /* must be first */
    struct df_h5 h5;
    uint64_t n_samples, n_tokens; /* put; of h5: committed */
};

static df_status
put_sample(struct h5_writer *w, const struct df_capture_sample *s)
{
    struct df_h5 *h5 = &w->h5;
    uint64_t end = w->n_tokens + s->n;
    const uint64_t row[DF_H5_N_TABLES] = {
        [DF_H5_OFFSETS] = end,
        [DF_H5_SAMPLE_IDS] = s->id,
        [DF_H5_INDICES] = s->index,
    };

    for (size_t i = 0; i < h5->n_fields; i++) {
        DF_TRY(df_h5_resize(h5, &h5->sets[i], end));
        DF_TRY(df_h5_write_rows(h5, &h5->sets[i], w->n_tokens, s->n,
                                df_field_get(&h5->fields[i], s)));
    }
    for (int i = 0; i < DF_H5_N_TABLES; i++) {
        uint64_t at = w->n_samples + (i == DF_H5_OFFSETS);

        DF_TRY(df_h5_resize(h5, &h5->tables[i], at + 1));
        DF_TRY(df_h5_write_rows(h5, &h5->tables[i], at, 1, &row[i]));
    }
    w->n_samples++;
    w->n_tokens = end;
    return h5->io->sys_errno ? df_h5_fail(h5->io, "writing a sample") : DF_OK;
}

static df_status
commit(struct h5_writer *w)
{
    struct df_h5 *h5 = &w->h5;
    const uint64_t marker[2] = {w->n_samples, w->n_tokens};

    if (H5Fflush(h5->file, H5F_SCOPE_GLOBAL) < 0)
        return df_h5_fail(h5->io, "flushing %" PRIu64 " samples",
                          w->n_samples);
    if (H5Dwrite(h5->committed, H5T_STD_U64LE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                 marker)
            < 0
        || H5Fflush(h5->file, H5F_SCOPE_GLOBAL) < 0)
        return df_h5_fail(h5->io, "writing the marker");
    DF_TRY(df_h5_io_commit(h5->io));
    h5->n_samples = w->n_samples;
    h5->n_tokens = w->n_tokens;
    return DF_OK;
}

static df_status
h5_put(struct df_capture_writer *base, const struct df_capture_sample *sample)
{
    struct df_h5_quiet quiet;
    df_status status;

    df_h5_lock(&quiet);
    status = put_sample((struct h5_writer *) base, sample);
    df_h5_unlock(&quiet);
    return status;
}

static df_status
h5_commit(struct df_capture_writer *base)
{
    struct df_h5_quiet quiet;
    df_status status;

    df_h5_lock(&quiet);
    status = commit((struct h5_writer *) base);
    df_h5_unlock(&quiet);
    return status;
}

/* Close the file for good, or give it up and return to the last commit:
   HDF5 may hold rows that it couldn't write, and closing would try again. */
static df_status
finish(struct df_h5 *h5, df_status status)
{
    df_error first = *df_error_last();
    bool good = status == DF_OK;

    if (good)
        status = df_h5_close(h5);
    if (good && status == DF_OK)
        status = df_h5_io_finish(h5->io);
    if (status == DF_OK)
        return DF_OK;
    if (good)
        first = *df_error_last();
    h5->io->dead = true;
    (void) !df_h5_close(h5);
    if (df_h5_io_roll_back(h5->io) != DF_OK)
        return status; /* the journal stays, and the next to open heals it */
    if (status == DF_END || status == DF_CANCELED)
        return status;
    return df_error_set(&first);
}

static df_status
h5_close(struct df_capture_writer *base, df_status status)
{
    struct h5_writer *w = (struct h5_writer *) base;
    struct df_h5_quiet quiet;

    df_h5_lock(&quiet);
    if (w->h5.io)
        status = finish(&w->h5, status);
    df_h5_io_free(w->h5.io);
    df_head_clear(&w->h5.head);
    df_h5_unlock(&quiet);
    return status;
}

static const struct df_capture_writer_ops ops = {h5_put, h5_commit, h5_close};

/* Make the file end where it was committed, and note whose samples it has. */
static df_status
take_over(struct h5_writer *w)
{
    struct df_h5 *h5 = &w->h5;
    size_t size = h5->n_samples * sizeof(uint64_t);
    uint64_t *ids = malloc(size + 1);
    df_status status = ids ? DF_OK : DF_FAIL(DF_NO_MEMORY, "%s", w->base.path);

    if (status == DF_OK)
        status = df_h5_read_rows(h5, &h5->tables[DF_H5_SAMPLE_IDS], 0,
                                 h5->n_samples, ids);
    for (uint64_t i = 0; i < h5->n_samples && status == DF_OK; i++)
        status = df_id_set_add(&w->base.ids, ids[i]);
    free(ids);
    for (size_t i = 0; i < h5->n_fields && status == DF_OK; i++)
        status = df_h5_resize(h5, &h5->sets[i], h5->n_tokens);
    for (int i = 0; i < DF_H5_N_TABLES && status == DF_OK; i++)
        status = df_h5_resize(h5, &h5->tables[i],
                              h5->n_samples + (i == DF_H5_OFFSETS));
    w->n_samples = w->base.count = h5->n_samples;
    w->n_tokens = h5->n_tokens;
    return status;
}

static df_status
resume(struct h5_writer *w)
{
    char text[200];
    uint64_t rows;

    DF_TRY(df_h5_open(&w->h5));
    DF_TRY(df_h5_check_extents(&w->h5, &rows));
    if (df_capture_differs(&w->h5.head.header, &w->base.head.header, true,
                           text, sizeof text))
        return DF_FAIL(DF_INVALID,
                       "%s holds another capture: there and here, %s",
                       w->base.path, text);
    return take_over(w);
}

static df_status
begin(struct h5_writer *w, enum df_h5_open how)
{
    DF_TRY(df_h5_io_open(&w->h5.io, w->base.path, how));
    if (w->h5.io->size > 0)
        return resume(w);
    DF_TRY(df_h5_create(&w->h5, &w->base.head.header));
    return commit(w);
}

df_status
df_h5_writer_open(struct df_capture_writer **out, const char *path,
                  const struct df_capture_header *header,
                  const struct df_capture_writer_options *options)
{
    struct h5_writer *w = calloc(1, sizeof *w);
    struct df_h5_quiet quiet;
    df_status status;

    if (!w)
        return DF_FAIL(DF_NO_MEMORY, "%s", path);
    *out = &w->base;
    df_h5_init(&w->h5);
    DF_TRY(df_writer_init(&w->base, &ops, path, header, options));
    df_h5_lock(&quiet);
    status = begin(w, options->resume  ? DF_H5_RESUME
                      : options->force ? DF_H5_REPLACE
                                       : DF_H5_CREATE);
    df_h5_unlock(&quiet);
    return status;
}

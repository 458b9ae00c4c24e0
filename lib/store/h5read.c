/* Reading samples from an HDF5 file: the tables at once when it is opened,
   a sample's rows when it is asked for.  */

#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "store/h5_internal.h"

struct h5_file {
    struct df_capture_file base; /* must be first */
    struct df_h5 h5;
    uint64_t *offsets; /* [samples + 1] */
    bool in_place;     /* as of the options */
};

static df_status
check_stored(const struct df_h5 *h5, const struct df_h5_set *set,
             uint64_t first, uint64_t n)
{
    uint64_t at, hole;

    DF_TRY(df_h5_find_hole(h5, set, first, n, &at, &hole));
    if (hole == 0)
        return DF_OK;
    return DF_FAIL(DF_FORMAT,
                   "%s: %s: rows %" PRIu64 " to %" PRIu64 " were never stored",
                   h5->io->path, set->name, at, at + hole - 1);
}

/* The fields that OUT has room for.  */
static df_status
read_fields(const struct df_h5 *h5, uint64_t first,
            const struct df_capture_sample *out)
{
    for (size_t i = 0; i < h5->n_fields; i++) {
        const struct df_h5_set *set = &h5->sets[i];
        void *data = (void *) df_field_get(&h5->fields[i], out);

        if (!data)
            continue;
        DF_TRY(check_stored(h5, set, first, out->n));
        DF_TRY(df_h5_read_rows(h5, set, first, out->n, data));
    }
    return DF_OK;
}

/* The rows of a field that are looked for in the file's pages.  */
struct search {
    const struct df_view *view;
    const uint16_t **rows; /* of the first token; SLOTS of each */
    size_t slots, K;       /* of which the field has K */
    size_t row_bytes;      /* of one */
    const uint8_t *base;   /* where the field would be read to */
    size_t size, found;    /* bytes */
};

static bool
find_piece(void *arg, uint64_t addr, size_t size, const void *to)
{
    struct search *s = arg;
    size_t at = (size_t) ((uintptr_t) to - (uintptr_t) s->base);
    const uint8_t *data = df_view_take(s->view, addr, size);

    if (!data || at > s->size || size > s->size - at || at % s->row_bytes
        || size % s->row_bytes)
        return false;
    s->found += size;
    for (size_t i = at / s->row_bytes; size > 0; i++) {
        s->rows[i / s->K * s->slots + i % s->K] = (const void *) data;
        data += s->row_bytes;
        size -= s->row_bytes;
    }
    return true;
}

/* HDF5 knows where its chunks are, but tells it by going through them all; so
   it is let read, and the driver told not to.  It keeps nothing of what it
   read: readers have no cache of chunks, and the driver wants no sieve.  */
static bool
find_field(const struct df_h5 *h5, size_t i, uint64_t first,
           const struct df_capture_sample *out, struct search *s)
{
    const struct df_field *f = &h5->fields[i];
    bool good;

    s->rows += f->part == DF_FIELD_LAST ? h5->head.header.K : f->k;
    s->K = f->cols * sizeof(uint16_t) / s->row_bytes;
    s->base = df_field_get(f, out);
    s->size = out->n * f->row_bytes;
    s->found = 0;
    h5->io->locate = find_piece;
    h5->io->arg = s;
    good =
        check_stored(h5, &h5->sets[i], first, out->n) == DF_OK
        && df_h5_read_rows(h5, &h5->sets[i], first, out->n, (void *) s->base)
               == DF_OK
        && s->found == s->size;
    h5->io->locate = NULL;
    return good;
}

static bool
find_fields(const struct df_h5 *h5, uint64_t first,
            const struct df_capture_sample *out,
            struct df_capture_scratch *scratch)
{
    const struct df_capture_header *h = &h5->head.header;

    for (size_t i = 0; i < h5->n_fields; i++) {
        struct search search = {
            .view = &scratch->view,
            .rows = (const uint16_t **) scratch->rows.data,
            .slots = h->K + h->has_last_hidden,
            .row_bytes = h->hidden_size * sizeof(uint16_t),
        };

        if (df_field_is_states(&h5->fields[i])
            && !find_field(h5, i, first, out, &search))
            return false;
    }
    return true;
}

/* Let the hidden states of OUT be rows in the file's pages, if it can be.  */
static df_status
look_in_place(const struct h5_file *f, uint64_t first,
              struct df_capture_scratch *scratch,
              struct df_capture_sample *out)
{
    const struct df_h5 *h5 = &f->h5;
    const struct df_capture_header *h = &h5->head.header;
    size_t slots = h->K + h->has_last_hidden;

    if (!f->in_place || h5->io->n_patches > 0)
        return DF_OK;
    DF_TRY(df_room_fit(&scratch->rows, out->n * slots * sizeof *out->rows + 1,
                       f->base.path));
    df_view_open(&scratch->view, h5->io->fd, h5->io->size);
    if (!find_fields(h5, first, out, scratch)) {
        df_view_close(&scratch->view);
        return DF_OK;
    }
    out->rows = (const void *) scratch->rows.data;
    out->last = NULL;
    memset(out->hidden, 0, sizeof out->hidden);
    return DF_OK;
}

static df_status
h5_read(struct df_capture_file *base, const struct df_capture_entry *entry,
        struct df_capture_scratch *scratch, struct df_capture_sample *out)
{
    struct h5_file *f = (struct h5_file *) base;
    uint64_t first = f->offsets[entry->record];
    struct df_h5_quiet quiet;
    df_status status;

    DF_TRY(df_scratch_lay_out(scratch, &f->h5.head.header, out, base->path));
    df_h5_lock(&quiet);
    status = look_in_place(f, first, scratch, out);
    if (status == DF_OK)
        status = read_fields(&f->h5, first, out);
    df_h5_unlock(&quiet);
    return status;
}

/* All holes of the first ROWS rows of SET.  */
static df_status
report_holes(struct h5_file *f, const struct df_h5_set *set, uint64_t rows,
             df_capture_hole *hole, void *arg)
{
    uint64_t first = 0;

    while (first < rows) {
        struct df_h5_quiet quiet;
        uint64_t at, n;
        df_status status;

        df_h5_lock(&quiet);
        status = df_h5_find_hole(&f->h5, set, first, rows - first, &at, &n);
        df_h5_unlock(&quiet);
        DF_TRY(status);
        if (n == 0)
            return DF_OK;
        DF_TRY(hole(arg, f->base.path, set->name, at, at + n - 1));
        first = at + n;
    }
    return DF_OK;
}

static df_status
h5_holes(struct df_capture_file *base, df_capture_hole *hole, void *arg)
{
    struct h5_file *f = (struct h5_file *) base;

    for (size_t i = 0; i < f->h5.n_fields; i++) {
        const struct df_h5_set *set = &f->h5.sets[i];
        uint64_t n = f->h5.n_tokens;

        DF_TRY(report_holes(f, set, n < set->rows ? n : set->rows, hole, arg));
    }
    return DF_OK;
}

static void
h5_free(struct df_capture_file *base)
{
    struct h5_file *f = (struct h5_file *) base;
    struct df_h5_quiet quiet;

    df_h5_lock(&quiet);
    if (f->h5.io)
        (void) !df_h5_close(&f->h5);
    df_h5_io_free(f->h5.io);
    df_head_clear(&f->h5.head);
    df_h5_unlock(&quiet);
    free(f->offsets);
}

static const struct df_capture_file_ops ops = {
    .read = h5_read,
    .holes = h5_holes,
    .free = h5_free,
};

/* Column TABLE of the N samples, to be freed.  */
static df_status
read_table(const struct df_h5 *h5, enum df_h5_table table, uint64_t n,
           uint64_t **out)
{
    const struct df_h5_set *set = &h5->tables[table];

    DF_TRY(check_stored(h5, set, 0, n));
    *out = n < SIZE_MAX / 16 ? calloc(n + 1, sizeof **out) : NULL;
    if (!*out)
        return DF_FAIL(DF_NO_MEMORY, "%s: %" PRIu64 " samples", h5->io->path,
                       n);
    return df_h5_read_rows(h5, set, 0, n, *out);
}

/* Keep the samples that lie one behind the other in ROWS rows.  *NOTE says
   what is wrong with the others.  */
static void
check_offsets(struct h5_file *f, uint64_t rows, df_status *note)
{
    struct df_h5 *h5 = &f->h5;
    const uint64_t *at = f->offsets;
    uint64_t n = h5->n_samples, good = 0;

    if (at[0] != 0 || at[n] != h5->n_tokens)
        *note = DF_FAIL(DF_FORMAT,
                        "%s: samples span tokens %" PRIu64 " to %" PRIu64
                        ", but %" PRIu64 " are committed",
                        f->base.path, at[0], at[n], h5->n_tokens);
    while (good < n && at[good + 1] >= at[good]
           && at[good + 1] - at[good] <= UINT32_MAX
           && at[good + 1] <= h5->n_tokens)
        good++;
    if (good < n)
        *note = DF_FAIL(DF_FORMAT,
                        "%s: record %" PRIu64 " begins at token %" PRIu64
                        " and ends at %" PRIu64,
                        f->base.path, good, at[good], at[good + 1]);
    while (good > 0 && at[good] > rows)
        good--;
    h5->n_samples = good;
}

/* The entries of the samples that are to be had.  */
static df_status
read_entries(struct h5_file *f)
{
    struct df_h5 *h5 = &f->h5;
    uint64_t n = h5->n_samples, *ids = NULL, *indices = NULL;
    df_status status = read_table(h5, DF_H5_SAMPLE_IDS, n, &ids);

    if (status == DF_OK)
        status = read_table(h5, DF_H5_INDICES, n, &indices);
    if (status == DF_OK) {
        f->base.entries = calloc(n + 1, sizeof *f->base.entries);
        if (!f->base.entries)
            status = DF_FAIL(DF_NO_MEMORY, "%s: %" PRIu64 " samples",
                             f->base.path, n);
    }
    for (uint64_t i = 0; i < n && status == DF_OK; i++)
        f->base.entries[i] = (struct df_capture_entry){
            .index = indices[i],
            .id = ids[i],
            .n = f->offsets[i + 1] - f->offsets[i],
            .record = i,
        };
    if (status == DF_OK)
        f->base.n_entries = n;
    free(ids);
    free(indices);
    return status;
}

static df_status
open_file(struct h5_file *f, df_status *note)
{
    uint64_t rows;

    DF_TRY(df_h5_io_open(&f->h5.io, f->base.path, DF_H5_READ));
    if (f->h5.io->size == 0)
        return DF_FAIL(DF_FORMAT,
                       "%s: empty: its writer ended before its first commit",
                       f->base.path);
    DF_TRY(df_h5_open(&f->h5));
    DF_TRY(df_head_copy(&f->base.head, &f->h5.head.header));
    DF_TRY(
        read_table(&f->h5, DF_H5_OFFSETS, f->h5.n_samples + 1, &f->offsets));
    *note = df_h5_check_extents(&f->h5, &rows);
    check_offsets(f, rows, note);
    return read_entries(f);
}

df_status
df_h5_file_open(struct df_capture_file **out, const char *path,
                const struct df_captures_options *options, df_status *note)
{
    struct h5_file *f = calloc(1, sizeof *f);
    struct df_h5_quiet quiet;
    df_status status;

    *note = DF_OK;
    if (!f)
        return DF_FAIL(DF_NO_MEMORY, "%s", path);
    *out = &f->base;
    f->base.ops = &ops;
    f->in_place = options && options->in_place;
    df_h5_init(&f->h5);
    f->base.path = strdup(path);
    if (!f->base.path)
        return DF_FAIL(DF_NO_MEMORY, "%s", path);
    df_h5_lock(&quiet);
    status = open_file(f, note);
    df_h5_unlock(&quiet);
    return status;
}

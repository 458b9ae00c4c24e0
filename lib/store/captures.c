/* Reading captures of any format, several files as one.  */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_internal.h"
#include "store/backend_internal.h"
#include "store/h5io_internal.h"

struct df_captures {
    struct df_captures_options options;
    struct df_capture_file **files;
    size_t n_files;
    struct df_capture_entry *entries; /* by index */
    size_t n_entries;
};

void
df_capture_file_free(struct df_capture_file *file)
{
    if (!file)
        return;
    file->ops->free(file);
    df_head_clear(&file->head);
    free(file->entries);
    free(file->path);
    free(file);
}

/* Whether the writer of an HDF5 file died: what it wrote may be anything.  */
static bool
has_journal(const char *path)
{
    char *journal = df_h5_journal_path(path);
    bool there = journal && df_file_exists(journal);

    free(journal);
    return there;
}

/* Which format PATH is in, by what it holds.  What can't be read twice is a
   stream.  */
static df_status
detect(const char *path, df_capture_open **out)
{
    char magic[sizeof DF_H5_SIGNATURE - 1] = "";
    struct stat st;
    int fd;

    *out = df_stream_file_open;
    if (strcmp(path, "-") == 0)
        return DF_OK;
    if (stat(path, &st))
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        *out = df_folder_open;
    if (!S_ISREG(st.st_mode))
        return DF_OK;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", path, strerror(errno));
    if ((pread(fd, magic, sizeof magic, 0) == sizeof magic
         && memcmp(magic, DF_H5_SIGNATURE, sizeof magic) == 0)
        || has_journal(path))
        *out = df_h5_file_open;
    close(fd);
    return DF_OK;
}

/* Hand the last failure to the caller's PROBLEM, if there is one.  */
static df_status
report(const struct df_captures *c, df_status status)
{
    if (status == DF_OK || !c->options.problem || status == DF_NO_MEMORY)
        return status;
    c->options.problem(c->options.arg, status, df_error_last()->message);
    return DF_OK;
}

static df_status
open_file(struct df_captures *c, const char *path,
          struct df_capture_file **file)
{
    df_capture_open *open_format;
    df_status note;
    char text[200];

    DF_TRY(detect(path, &open_format));
    DF_TRY(open_format(file, path, &c->options, &note));
    if (c->n_files > 0
        && df_capture_differs(&c->files[0]->head.header, &(*file)->head.header,
                              false, text, sizeof text))
        return DF_FAIL(DF_FORMAT, "%s and %s don't belong together: %s",
                       c->files[0]->path, path, text);
    if (c->n_files > 0 && (c->files[0]->pipe || (*file)->pipe))
        return DF_FAIL(DF_INVALID, "%s: a pipe is read alone",
                       c->files[0]->pipe ? c->files[0]->path : path);
    return report(c, note);
}

/* Add the file PATH, or leave it out.  */
static df_status
add_file(struct df_captures *c, const char *path)
{
    struct df_capture_file *file = NULL;
    df_status status = open_file(c, path, &file);

    if (status == DF_OK) {
        c->files[c->n_files++] = file;
        return DF_OK;
    }
    df_capture_file_free(file);
    if (!c->options.leave_out || status == DF_CANCELED)
        return status;
    return report(c, status);
}

static int
by_index(const void *a, const void *b)
{
    const struct df_capture_entry *x = a, *y = b;

    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return x->record < y->record ? -1 : x->record > y->record;
}

static df_status
merge(struct df_captures *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n_files; i++)
        n += c->files[i]->n_entries;
    c->entries = calloc(n + 1, sizeof *c->entries);
    if (!c->entries)
        return DF_FAIL(DF_NO_MEMORY, "%zu samples", n);
    for (size_t i = 0; i < c->n_files; i++)
        for (size_t k = 0; k < c->files[i]->n_entries; k++) {
            c->entries[c->n_entries] = c->files[i]->entries[k];
            c->entries[c->n_entries++].file = (uint32_t) i;
        }
    qsort(c->entries, n, sizeof *c->entries, by_index);
    return DF_OK;
}

static df_status
fail_twice(const struct df_captures *c, const char *what, uint64_t value,
           const struct df_capture_entry *a, const struct df_capture_entry *b)
{
    return DF_FAIL(DF_FORMAT,
                   "the sample of %s %" PRIu64 " is there twice: as record "
                   "%" PRIu64 " of %s and %" PRIu64 " of %s",
                   what, value, a->record, c->files[a->file]->path, b->record,
                   c->files[b->file]->path);
}

/* Each sample once, by index and by id.  Of two the first counts.  */
static df_status
drop_twins(struct df_captures *c)
{
    struct df_id_set ids = {0};
    df_status status = DF_OK;
    size_t kept = 0;

    for (size_t i = 0; i < c->n_entries && status == DF_OK; i++) {
        const struct df_capture_entry *e = &c->entries[i];
        const struct df_capture_entry *before = &c->entries[kept - (kept > 0)];

        if (kept > 0 && before->index == e->index)
            status = report(c, fail_twice(c, "index", e->index, before, e));
        else if (df_id_set_has(&ids, e->id))
            status =
                report(c, DF_FAIL(DF_FORMAT,
                                  "%s: record %" PRIu64 ": id %" PRIu64
                                  " is there before",
                                  c->files[e->file]->path, e->record, e->id));
        else if ((status = df_id_set_add(&ids, e->id)) == DF_OK)
            c->entries[kept++] = *e;
    }
    c->n_entries = kept;
    df_id_set_clear(&ids);
    return status;
}

static df_status
open_all(struct df_captures *c, const char *const *paths, size_t n)
{
    for (size_t i = 0; i < n; i++)
        DF_TRY(add_file(c, paths[i]));
    if (c->n_files == 0)
        return df_error_last()->status;
    DF_TRY(merge(c));
    return drop_twins(c);
}

df_status
df_captures_open(struct df_captures **out, const char *const *paths, size_t n,
                 const struct df_captures_options *options)
{
    struct df_captures *c = calloc(1, sizeof *c);
    df_status status;

    *out = NULL;
    if (n == 0) {
        free(c);
        return DF_FAIL(DF_INVALID, "no captures are given");
    }
    if (c)
        c->files = calloc(n, sizeof *c->files);
    if (!c || !c->files) {
        free(c);
        return DF_FAIL(DF_NO_MEMORY, "%zu captures", n);
    }
    if (options)
        c->options = *options;
    status = open_all(c, paths, n);
    if (status == DF_OK)
        *out = c;
    else
        df_captures_free(c);
    return status;
}

void
df_captures_free(struct df_captures *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n_files; i++)
        df_capture_file_free(c->files[i]);
    free(c->files);
    free(c->entries);
    free(c);
}

size_t
df_captures_files(const struct df_captures *c)
{
    return c->n_files;
}

const struct df_capture_header *
df_captures_header(const struct df_captures *c, size_t file)
{
    return &c->files[file]->head.header;
}

const char *
df_captures_path(const struct df_captures *c, size_t file)
{
    return c->files[file]->path;
}

bool
df_captures_is_pipe(const struct df_captures *c)
{
    return c->files[0]->pipe;
}

size_t
df_captures_count(const struct df_captures *c)
{
    return c->n_entries;
}

const struct df_capture_entry *
df_captures_entries(const struct df_captures *c)
{
    return c->entries;
}

df_status
df_captures_read(struct df_captures *c, size_t i,
                 struct df_capture_scratch *scratch,
                 struct df_capture_sample *out)
{
    const struct df_capture_entry *e = &c->entries[i];
    struct df_capture_file *f = c->files[e->file];

    df_scratch_clear(scratch);
    *out = (struct df_capture_sample){
        .index = e->index, .id = e->id, .batch = DF_NO_BATCH, .n = e->n};
    DF_TRY(f->ops->read(f, e, scratch, out));
    if (out->n != e->n || out->index != e->index || out->id != e->id)
        return DF_FAIL(DF_FORMAT,
                       "%s: record %" PRIu64
                       " isn't the sample that was there on opening",
                       f->path, e->record);
    return df_capture_verify(scratch, &f->head.header, out, c->options.verify,
                             f->path);
}

df_status
df_captures_next(struct df_captures *c, struct df_capture_scratch *scratch,
                 struct df_capture_sample *out)
{
    struct df_capture_file *f = c->files[0];

    df_scratch_clear(scratch);
    *out = (struct df_capture_sample){0};
    DF_TRY(f->ops->next(f, scratch, out));
    return df_capture_verify(scratch, &f->head.header, out, c->options.verify,
                             f->path);
}

df_status
df_captures_holes(struct df_captures *c, df_capture_hole *hole, void *arg)
{
    for (size_t i = 0; i < c->n_files; i++)
        if (c->files[i]->ops->holes)
            DF_TRY(c->files[i]->ops->holes(c->files[i], hole, arg));
    return DF_OK;
}

/* Writing a speculators' folder.  The row goes to the data file first: a
   sample counts once its own file is there, and that comes whole.  */

#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/folder_internal.h"

struct folder_writer {
    struct df_capture_writer base;   /* must be first */
    struct df_capture_header header; /* as folders have it */
    int data;                        /* of the data file */
};

/* The row of SAMPLE as a line, to be freed.  */
static df_status
format_row(const struct df_capture_sample *s, char **out, size_t *len)
{
    size_t size = 64 + s->n * (11 + 2), at;
    char *p = malloc(size);

    *out = p;
    if (!p)
        return DF_FAIL(DF_NO_MEMORY, "a row of %zu tokens", s->n);
    at = (size_t) sprintf(p, "{\"index\":%" PRIu64 ",\"input_ids\":[",
                          s->index);
    for (size_t t = 0; t < s->n; t++)
        at += (size_t) sprintf(p + at, t ? ",%d" : "%d", s->ids[t]);
    at += (size_t) sprintf(p + at, "],\"loss_mask\":[");
    for (size_t t = 0; t < s->n; t++)
        at += (size_t) sprintf(p + at, t ? ",%d" : "%d", s->loss_mask[t]);
    *len = at + (size_t) sprintf(p + at, "]}\n");
    return DF_OK;
}

static df_status
put_row(const struct folder_writer *w, const struct df_capture_sample *sample)
{
    char *line = NULL;
    size_t len = 0;
    df_status status;

    DF_TRY(format_row(sample, &line, &len));
    status = df_write_all(w->data, line, len, w->base.path);
    free(line);
    return status;
}

/* [n, K+1, H] and the tokens as int64, to be freed.  */
static df_status
interleave(const struct folder_writer *w, const struct df_capture_sample *s,
           uint16_t **hidden, int64_t **ids)
{
    const struct df_capture_header *h = &w->base.head.header;
    size_t H = h->hidden_size, L = h->K + 1;

    *hidden = malloc(s->n * L * H * sizeof **hidden + 1);
    *ids = malloc(s->n * sizeof **ids + 1);
    if (!*hidden || !*ids)
        return DF_FAIL(DF_NO_MEMORY, "%s: a sample of %zu tokens",
                       w->base.path, s->n);
    for (size_t t = 0; t < s->n; t++) {
        (*ids)[t] = s->ids[t];
        for (size_t k = 0; k < L; k++)
            memcpy(*hidden + (t * L + k) * H, df_capture_row(h, s, t, k),
                   H * sizeof **hidden);
    }
    return DF_OK;
}

static df_status
put_states(const struct folder_writer *w, const struct df_capture_sample *s,
           const uint16_t *hidden, const int64_t *ids)
{
    const struct df_capture_header *h = &w->base.head.header;
    const int64_t shape[3] = {(int64_t) s->n, (int64_t) h->K + 1,
                              (int64_t) h->hidden_size};
    const struct df_tensor_def tensors[] = {
        {"hidden_states", DF_BF16, 3, shape, hidden},
        {"token_ids",     DF_I64,  1, shape, ids   },
    };
    char id[24], *path;
    const struct df_metadata_def metadata = {"id", id};
    const struct df_safetensors_def def = {tensors, 2, &metadata, 1};
    df_status status;

    snprintf(id, sizeof id, "%" PRIu64, s->id);
    if (asprintf(&path, "%s/hs_%" PRIu64 ".safetensors", w->base.path,
                 s->index)
        < 0)
        return DF_FAIL(DF_NO_MEMORY, "%s", w->base.path);
    status = df_safetensors_write(path, &def);
    free(path);
    return status;
}

static df_status
folder_put(struct df_capture_writer *base, const struct df_capture_sample *s)
{
    struct folder_writer *w = (struct folder_writer *) base;
    uint16_t *hidden = NULL;
    int64_t *ids = NULL;
    df_status status = put_row(w, s);

    if (status == DF_OK)
        status = interleave(w, s, &hidden, &ids);
    if (status == DF_OK)
        status = put_states(w, s, hidden, ids);
    free(hidden);
    free(ids);
    return status;
}

static df_status
folder_commit(struct df_capture_writer *base)
{
    (void) base;
    return DF_OK;
}

static df_status
folder_close(struct df_capture_writer *base, df_status status)
{
    struct folder_writer *w = (struct folder_writer *) base;

    if (w->data >= 0 && status == DF_OK && fsync(w->data))
        status = DF_FAIL_ERRNO(DF_IO, "%s: %s", base->path, strerror(errno));
    if (w->data >= 0 && close(w->data) && status == DF_OK)
        status = DF_FAIL_ERRNO(DF_IO, "%s: %s", base->path, strerror(errno));
    return status;
}

static const struct df_capture_writer_ops ops = {folder_put, folder_commit,
                                                 folder_close};

static df_status
write_header(const struct folder_writer *w)
{
    char *path = df_path_join(w->base.path, DF_FOLDER_HEADER), *text;
    df_status status = path ? df_head_text(&text, &w->header)
                            : DF_FAIL(DF_NO_MEMORY, "%s", w->base.path);

    if (status == DF_OK) {
        status = df_file_write(path, text, strlen(text));
        free(text);
    }
    free(path);
    return status;
}

static df_status
open_data(struct folder_writer *w)
{
    char *path = df_path_join(w->base.path, DF_FOLDER_DATA);
    df_status status = DF_OK;

    if (!path)
        return DF_FAIL(DF_NO_MEMORY, "%s", w->base.path);
    w->data = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (w->data < 0)
        status = DF_FAIL_ERRNO(DF_IO, "%s: %s", path, strerror(errno));
    else if (flock(w->data, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        status =
            DF_FAIL_ERRNO(DF_IO, "%s: another process writes this file", path);
    free(path);
    return status;
}

/* Cut off a row that isn't whole.  */
static df_status
cut_data(const struct folder_writer *w, const char *path)
{
    char *name = df_path_join(path, DF_FOLDER_DATA);
    struct df_file file;
    const uint8_t *end;
    size_t size = 0;
    df_status status =
        name ? df_file_map(&file, name) : DF_FAIL(DF_NO_MEMORY, "%s", path);

    free(name);
    DF_TRY(status);
    end = memrchr(file.data, '\n', file.size);
    if (end)
        size = (size_t) (end - file.data) + 1;
    df_file_unmap(&file);
    if (ftruncate(w->data, (off_t) size))
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", path, strerror(errno));
    return DF_OK;
}

/* A bad sample is written again.  */
static void
ignore(void *arg, df_status status, const char *message)
{
    (void) arg;
    (void) status;
    (void) message;
}

static df_status
take_over(struct folder_writer *w, const char *path)
{
    const struct df_captures_options options = {.problem = ignore};
    struct df_capture_file *file = NULL;
    df_status note, status = df_folder_open(&file, path, &options, &note);
    char text[200];

    if (status == DF_OK
        && df_capture_differs(&file->head.header, &w->header, true, text,
                              sizeof text))
        status =
            DF_FAIL(DF_INVALID, "%s holds another capture: there and here, %s",
                    path, text);
    for (size_t i = 0; status == DF_OK && i < file->n_entries; i++) {
        if (file->entries[i].n == 0)
            continue;
        status = df_id_set_add(&w->base.ids, file->entries[i].id);
        w->base.count++;
    }
    df_capture_file_free(file);
    return status == DF_OK ? cut_data(w, path) : status;
}

/* Whether a writer got as far as the header.  */
static bool
has_header(const char *path)
{
    char *header = df_path_join(path, DF_FOLDER_HEADER);
    bool there = header && df_file_exists(header);

    free(header);
    return there;
}

/* Whether there are samples, which come after the header: so they aren't
   ours.  */
static bool
has_samples(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *item;
    bool found = false;

    while (dir && !found && (item = readdir(dir)))
        found = strncmp(item->d_name, "hs_", 3) == 0;
    if (dir)
        closedir(dir);
    return found;
}

df_status
df_folder_writer_open(struct df_capture_writer **out, const char *path,
                      const struct df_capture_header *header,
                      const struct df_capture_writer_options *options)
{
    struct folder_writer *w = calloc(1, sizeof *w);
    bool made, old;

    if (!w)
        return DF_FAIL(DF_NO_MEMORY, "%s", path);
    *out = &w->base;
    w->data = -1;
    DF_TRY(df_writer_init(&w->base, &ops, path, header, options));
    w->header = w->base.head.header;
    w->header.layout = DF_CAPTURE_PACKED;
    w->header.has_checks = false;
    if (!header->has_last_hidden)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: speculators' folders need the last hidden state",
                       path);
    made = mkdir(path, 0777) == 0;
    if (!made && errno != EEXIST)
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", path, strerror(errno));
    if (!made && !options->resume)
        return DF_FAIL(DF_INVALID, "%s exists: resume it or remove it", path);
    old = has_header(path);
    if (!old && has_samples(path))
        return DF_FAIL(DF_INVALID,
                       "%s: has samples, but no " DF_FOLDER_HEADER
                       ": another program's folder isn't added to",
                       path);
    DF_TRY(open_data(w));
    return old ? take_over(w, path) : write_header(w);
}

/* Reading a speculators' folder.  */

#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_internal.h"
#include "store/folder_internal.h"

struct folder {
    struct df_capture_file base; /* must be first */
    struct df_rows rows;
};

/* The path of the sample INDEX, to be freed.  */
static char *
sample_path(const struct folder *f, uint64_t index)
{
    char *path;

    return asprintf(&path, "%s/hs_%" PRIu64 ".safetensors", f->base.path,
                    index)
                   < 0
               ? NULL
               : path;
}

/* Open sample INDEX; all it may hold is what is known here.  */
static df_status
open_sample(const struct folder *f, uint64_t index, struct df_tensors **ts,
            const struct df_tensor **hidden, const struct df_tensor **ids)
{
    char *path = sample_path(f, index);
    df_status status = path ? df_tensors_open(ts, path)
                            : DF_FAIL(DF_NO_MEMORY, "%s", f->base.path);

    free(path);
    DF_TRY(status);
    for (size_t i = 0; i < df_tensors_count(*ts); i++) {
        const struct df_tensor *t = df_tensors_at(*ts, i);

        if (strcmp(t->name, "hidden_states") != 0
            && strcmp(t->name, "token_ids") != 0)
            return DF_FAIL(DF_UNSUPPORTED, "%s: tensor %.60s isn't understood",
                           t->path, t->name);
    }
    DF_TRY(df_tensors_get(*ts, "hidden_states", hidden));
    DF_TRY(df_tensors_get(*ts, "token_ids", ids));
    if ((*hidden)->dtype != DF_BF16 || (*hidden)->rank != 3)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: hidden_states is %s of rank %d; only BF16 of rank "
                       "3 is supported",
                       (*hidden)->path, df_dtype_name((*hidden)->dtype),
                       (*hidden)->rank);
    if ((*ids)->dtype != DF_I64 || (*ids)->rank != 1
        || (*ids)->shape[0] != (*hidden)->shape[0])
        return DF_FAIL(DF_SHAPE,
                       "%s: token_ids is %s of rank %d and %zu elements, not "
                       "I64 for %lld tokens",
                       (*ids)->path, df_dtype_name((*ids)->dtype),
                       (*ids)->rank, (*ids)->count,
                       (long long) (*hidden)->shape[0]);
    return DF_OK;
}

static df_status
check_shape(const struct df_capture_header *h, const struct df_tensor *hidden)
{
    const int64_t *s = hidden->shape;

    if (s[0] > UINT32_MAX || s[1] != (int64_t) h->K + 1
        || s[2] != (int64_t) h->hidden_size)
        return DF_FAIL(DF_SHAPE,
                       "%s: hidden_states is [%lld, %lld, %lld], but %zu "
                       "layers and the last of width %zu are expected",
                       hidden->path, (long long) s[0], (long long) s[1],
                       (long long) s[2], h->K, h->hidden_size);
    return DF_OK;
}

static df_status
copy_ids(const struct df_tensor *ids, int32_t *out)
{
    for (size_t t = 0; t < ids->count; t++) {
        int64_t id;

        memcpy(&id, ids->data + t * sizeof id, sizeof id);
        if (id < 0 || id > INT32_MAX)
            return DF_FAIL(DF_FORMAT, "%s: token %zu is %lld", ids->path, t,
                           (long long) id);
        out[t] = (int32_t) id;
    }
    return DF_OK;
}

/* Take the rows of K + 1 layers apart.  */
static void
copy_hidden(const struct df_capture_header *h, const struct df_tensor *hidden,
            struct df_capture_sample *out)
{
    size_t row = h->hidden_size * sizeof(uint16_t), K = h->K;

    for (size_t t = 0; t < out->n; t++) {
        const uint8_t *from = hidden->data + t * (K + 1) * row;

        memcpy((uint8_t *) out->hidden[0] + t * K * row, from, K * row);
        memcpy((uint8_t *) out->last + t * row, from + K * row, row);
    }
}

static df_status
fill(const struct folder *f, const struct df_tensor *hidden,
     const struct df_tensor *ids, struct df_capture_scratch *scratch,
     struct df_capture_sample *out)
{
    const struct df_capture_header *h = &f->base.head.header;

    DF_TRY(check_shape(h, hidden));
    out->n = (size_t) hidden->shape[0];
    DF_TRY(df_scratch_lay_out(scratch, h, out, hidden->path));
    DF_TRY(copy_ids(ids, (int32_t *) out->ids));
    copy_hidden(h, hidden, out);
    return df_rows_mask(&f->rows, out->index, out->ids, out->n,
                        (uint8_t *) out->loss_mask, hidden->path);
}

static df_status
folder_read(struct df_capture_file *base, const struct df_capture_entry *entry,
            struct df_capture_scratch *scratch, struct df_capture_sample *out)
{
    struct folder *f = (struct folder *) base;
    struct df_tensors *ts = NULL;
    const struct df_tensor *hidden, *ids;
    df_status status = open_sample(f, entry->index, &ts, &hidden, &ids);

    if (status == DF_OK)
        status = fill(f, hidden, ids, scratch, out);
    df_tensors_free(ts);
    return status;
}

static void
folder_free(struct df_capture_file *base)
{
    df_rows_clear(&((struct folder *) base)->rows);
}

static const struct df_capture_file_ops ops = {
    .read = folder_read,
    .free = folder_free,
};

/* I of a name hs_I.safetensors; false for any other.  */
static bool
parse_name(const char *name, uint64_t *index)
{
    size_t digits;

    if (strncmp(name, "hs_", 3) != 0)
        return false;
    digits = strspn(name + 3, "0123456789");
    if (digits < 1 || digits > 14 || (digits > 1 && name[3] == '0')
        || strcmp(name + 3 + digits, ".safetensors") != 0)
        return false;
    *index = strtoull(name + 3, NULL, 10);
    return true;
}

static df_status
add_entry(struct folder *f, uint64_t index)
{
    size_t n = f->base.n_entries;
    struct df_capture_entry entry = {.index = index, .record = index};

    if ((n & (n - 1)) == 0) {
        size_t max = n ? n * 2 : 1;
        void *grown = realloc(f->base.entries, max * sizeof entry);

        if (!grown)
            return DF_FAIL(DF_NO_MEMORY, "%s: %zu samples", f->base.path, max);
        f->base.entries = grown;
    }
    f->base.entries[n] = entry;
    f->base.n_entries++;
    return DF_OK;
}

static df_status
list(struct folder *f)
{
    DIR *dir = opendir(f->base.path);
    const struct dirent *item;
    df_status status = DF_OK;
    uint64_t index;

    if (!dir)
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", f->base.path, strerror(errno));
    while (status == DF_OK && (item = readdir(dir)))
        if (parse_name(item->d_name, &index))
            status = add_entry(f, index);
    closedir(dir);
    return status;
}

/* The first sample says how many layers there are; which, only CAPTURE.JSON
   or the caller.  */
static df_status
guess_header(struct folder *f, const struct df_tensor *hidden,
             const struct df_captures_options *options)
{
    struct df_capture_header h = {
        .K = (size_t) hidden->shape[1] - 1,
        .hidden_size = (size_t) hidden->shape[2],
        .has_last_hidden = true,
    };

    if (hidden->shape[1] < 2 || h.K > DF_MAX_LAYER_IDS || h.hidden_size < 1
        || h.hidden_size > DF_MAX_HIDDEN_SIZE)
        return DF_FAIL(DF_SHAPE,
                       "%s: hidden_states of %lld layers and width %lld",
                       hidden->path, (long long) hidden->shape[1],
                       (long long) hidden->shape[2]);
    if (options->layer_ids && options->n_layer_ids != h.K)
        return DF_FAIL(DF_SHAPE,
                       "%s has %zu layers and the last, but %zu layer ids are "
                       "given",
                       f->base.path, h.K, options->n_layer_ids);
    for (size_t k = 0; k < h.K; k++)
        h.layer_ids[k] = options->layer_ids ? options->layer_ids[k] : -1;
    return df_head_copy(&f->base.head, &h);
}

static df_status
read_header(struct folder *f, const char *path)
{
    struct df_file file;
    df_status status;

    DF_TRY(df_file_map(&file, path));
    status = df_head_parse(&f->base.head, (const char *) file.data, file.size,
                           path);
    df_file_unmap(&file);
    DF_TRY(status);
    if (f->base.head.header.layout != DF_CAPTURE_PACKED
        || !f->base.head.header.has_last_hidden
        || f->base.head.header.has_checks)
        return DF_FAIL(DF_FORMAT,
                       "%s: a folder is packed, with the last hidden state "
                       "and without checks",
                       path);
    return DF_OK;
}

/* What is known of a sample.  *GUESSED: it is the header that failed.  */
static df_status
look(struct folder *f, struct df_capture_entry *entry,
     const struct df_captures_options *options, bool *guessed)
{
    struct df_tensors *ts = NULL;
    const struct df_tensor *hidden, *ids;
    const char *id;
    df_status status = open_sample(f, entry->index, &ts, &hidden, &ids);

    *guessed = status == DF_OK && f->base.head.header.K == 0;
    if (*guessed)
        status = guess_header(f, hidden, options);
    if (status == DF_OK)
        status = check_shape(&f->base.head.header, hidden);
    if (status == DF_OK) {
        id = df_tensors_metadata(ts, "id");
        entry->n = (size_t) hidden->shape[0];
        entry->id = id ? strtoull(id, NULL, 10) : entry->index << 16;
    }
    df_tensors_free(ts);
    return status;
}

/* Look at all samples.  For who minds problems himself a bad one is one
   without tokens, which fails when it is read.  */
static df_status
look_at_all(struct folder *f, const struct df_captures_options *options)
{
    df_status bad = DF_OK;
    bool guessed;

    for (size_t i = 0; i < f->base.n_entries; i++) {
        struct df_capture_entry *entry = &f->base.entries[i];
        df_status status = look(f, entry, options, &guessed);

        if (status == DF_NO_MEMORY || status == DF_IO
            || (status != DF_OK && (guessed || !options->problem)))
            return status;
        if (status == DF_OK)
            continue;
        bad = status;
        entry->id = entry->index << 16;
    }
    if (f->base.head.header.K > 0)
        return DF_OK;
    return bad != DF_OK
               ? bad
               : DF_FAIL(DF_FORMAT, "%s: no file hs_I.safetensors in it",
                         f->base.path);
}

/* DATA.jsonl here or one folder above.  */
static df_status
open_rows(struct folder *f, const struct df_captures_options *options)
{
    static const char *const places[] = {"", "../"};
    char *path;
    df_status status;

    if (options->data_file)
        return df_rows_open(&f->rows, options->data_file);
    for (int i = 0; i < 2; i++) {
        if (asprintf(&path, "%s/%s" DF_FOLDER_DATA, f->base.path, places[i])
            < 0)
            return DF_FAIL(DF_NO_MEMORY, "%s", f->base.path);
        if (df_file_exists(path)) {
            status = df_rows_open(&f->rows, path);
            free(path);
            return status;
        }
        free(path);
    }
    return DF_FAIL(DF_IO,
                   "%s: no data file: neither " DF_FOLDER_DATA
                   " there or one folder above, nor another named",
                   f->base.path);
}

static df_status
open_folder(struct folder *f, const struct df_captures_options *options)
{
    char *path = df_path_join(f->base.path, DF_FOLDER_HEADER);
    df_status status = path ? list(f) : DF_FAIL(DF_NO_MEMORY, "a path");

    if (status == DF_OK && df_file_exists(path))
        status = read_header(f, path);
    free(path);
    DF_TRY(status);
    DF_TRY(look_at_all(f, options));
    return open_rows(f, options);
}

df_status
df_folder_open(struct df_capture_file **out, const char *path,
               const struct df_captures_options *options, df_status *note)
{
    struct folder *f = calloc(1, sizeof *f);

    *note = DF_OK;
    if (!f)
        return DF_FAIL(DF_NO_MEMORY, "%s", path);
    *out = &f->base;
    f->base.ops = &ops;
    f->base.path = strdup(path);
    return f->base.path ? open_folder(f, options)
                        : DF_FAIL(DF_NO_MEMORY, "%s", path);
}

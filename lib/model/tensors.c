/* A set of tensors, whatever files they lie in.  */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/safetensors_internal.h"

int
df_tensor_by_name(const void *a, const void *b)
{
    return strcmp(((const struct df_tensor *) a)->name,
                  ((const struct df_tensor *) b)->name);
}

static df_status
new_tensors(struct df_tensors **out, const char *path)
{
    struct df_tensors *ts = calloc(1, sizeof *ts);

    *out = NULL;
    if (!ts || !(ts->path = strdup(path))) {
        free(ts);
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory to open it", path);
    }
    *out = ts;
    return DF_OK;
}

/* Make room in TS for its only shard.  */
static df_status
new_shard(struct df_tensors *ts)
{
    ts->shards = calloc(1, sizeof *ts->shards);
    return ts->shards
               ? DF_OK
               : DF_FAIL(DF_NO_MEMORY, "%s: no memory to open it", ts->path);
}

/* The only shard of TS is open: its tensors are those of TS.  */
static void
take_all(struct df_tensors *ts)
{
    ts->n_shards = 1;
    ts->tensors = ts->shards->tensors;
    ts->n_tensors = ts->shards->n_tensors;
    ts->shards->tensors = NULL;
}

static df_status
open_file(struct df_tensors *ts, const char *path)
{
    static const char suffix[] = ".index.json";
    size_t len = strlen(path), tail = sizeof suffix - 1;

    if (len >= tail && strcmp(path + len - tail, suffix) == 0)
        return df_index_open(ts, path);
    DF_TRY(new_shard(ts));
    DF_TRY(df_shard_open(ts->shards, path));
    take_all(ts);
    return DF_OK;
}

/* One file goes before an index, as in the reference; a PyTorch file is only
   looked for to say what the folder has instead.  */
static df_status
open_folder(struct df_tensors *ts, const char *dir)
{
    static const char *const names[] = {"model.safetensors",
                                        "model.safetensors.index.json",
                                        "pytorch_model.bin"};

    for (int i = 0; i < 3; i++) {
        char *path = df_path_join(dir, names[i]);
        df_status status;

        if (!path)
            return DF_FAIL(DF_NO_MEMORY, "%s: no memory for a name", dir);
        bool exists = df_file_exists(path);
        status = exists && i < 2 ? open_file(ts, path) : DF_OK;
        free(path);
        if (exists && i < 2)
            return status;
        if (exists)
            return DF_FAIL(DF_UNSUPPORTED,
                           "%s: only %s, which is not safetensors", dir,
                           names[i]);
    }
    return DF_FAIL(DF_IO, "%s: neither %s nor %s", dir, names[0], names[1]);
}

static bool
is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

df_status
df_tensors_open(struct df_tensors **out, const char *path)
{
    struct df_tensors *ts;
    df_status status;

    *out = NULL;
    DF_TRY(new_tensors(&ts, path));
    status = is_folder(path) ? open_folder(ts, path) : open_file(ts, path);
    if (status != DF_OK) {
        df_tensors_free(ts);
        return status;
    }
    qsort(ts->tensors, ts->n_tensors, sizeof *ts->tensors, df_tensor_by_name);
    *out = ts;
    return DF_OK;
}

df_status
df_tensors_view(struct df_tensors **out, const void *image, size_t size,
                const char *name)
{
    struct df_tensors *ts;
    df_status status;

    *out = NULL;
    DF_TRY(new_tensors(&ts, name));
    status = new_shard(ts);
    if (status == DF_OK)
        status = df_shard_view(ts->shards, image, size, name);
    if (status != DF_OK) {
        df_tensors_free(ts);
        return status;
    }
    take_all(ts);
    qsort(ts->tensors, ts->n_tensors, sizeof *ts->tensors, df_tensor_by_name);
    *out = ts;
    return DF_OK;
}

void
df_tensors_free(struct df_tensors *ts)
{
    if (!ts)
        return;
    for (size_t i = 0; i < ts->n_shards; i++)
        df_shard_clear(&ts->shards[i]);
    free(ts->shards);
    free(ts->tensors);
    free(ts->names);
    free(ts->data);
    free(ts->path);
    free(ts);
}

const char *
df_tensors_path(const struct df_tensors *ts)
{
    return ts->path;
}

size_t
df_tensors_count(const struct df_tensors *ts)
{
    return ts->n_tensors;
}

const struct df_tensor *
df_tensors_at(const struct df_tensors *ts, size_t i)
{
    return &ts->tensors[i];
}

const struct df_tensor *
df_tensors_find(const struct df_tensors *ts, const char *name)
{
    struct df_tensor wanted = {.name = name};

    return bsearch(&wanted, ts->tensors, ts->n_tensors, sizeof wanted,
                   df_tensor_by_name);
}

df_status
df_tensors_get(const struct df_tensors *ts, const char *name,
               const struct df_tensor **out)
{
    *out = df_tensors_find(ts, name);
    return *out ? DF_OK
                : DF_FAIL(DF_FORMAT, "%s: no tensor %s", ts->path, name);
}

size_t
df_tensors_unindexed(const struct df_tensors *ts)
{
    return ts->unindexed;
}

const char *
df_tensors_metadata(const struct df_tensors *ts, const char *key)
{
    const char *value = NULL;

    for (size_t i = 0; i < ts->n_shards && !value; i++) {
        const json_t *metadata =
            json_object_get(ts->shards[i].header, "__metadata__");

        value = json_string_value(json_object_get(metadata, key));
    }
    return value;
}

df_status
df_tensor_read_f32(const struct df_tensor *t, float *dst)
{
    if (!df_dtype_is_float(t->dtype))
        return DF_FAIL(DF_UNSUPPORTED, "%s: unsupported dtype %s in tensor %s",
                       t->path, df_dtype_name(t->dtype), t->name);
    df_convert_to_f32(dst, t->data, t->dtype, t->count);
    return DF_OK;
}

void
df_tensor_copy(const struct df_tensor *t, void *dst)
{
    if (t->size > 0)
        memcpy(dst, t->data, t->size);
}

const char *
df_shape_text(char *buf, size_t size, const int64_t *shape, int rank)
{
    size_t used = 0;

    if (size == 0)
        return buf;
    buf[0] = '\0';
    for (int i = -1; i <= rank && used < size; i++) {
        int n = i < 0       ? snprintf(buf + used, size - used, "[")
                : i == rank ? snprintf(buf + used, size - used, "]")
                            : snprintf(buf + used, size - used, "%s%lld",
                                       i ? ", " : "", (long long) shape[i]);

        used += n > 0 ? (size_t) n : 0;
    }
    return buf;
}

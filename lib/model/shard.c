/* One safetensors image: from bytes to checked tensors.  */

#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/json_internal.h"
#include "model/safetensors_internal.h"

enum {
    LENGTH_BYTES = 8
};

/* What else FILE looks like, or NULL.  Downloads give these under the name
   of a weights file.  */
static const char *
looks_like(const struct df_file *file)
{
    static const struct {
        const char *start, *what;
    } kinds[] = {
        {"version https://git-lfs", "a git-lfs pointer (git lfs pull?)"},
        {"PK\3\4",                  "a zip archive (PyTorch .bin?)"    },
        {"\x80\2",                  "a Python pickle"                  },
        {"\x80\4",                  "a Python pickle"                  },
        {"GGUF",                    "a GGUF file"                      },
        {"<",                       "HTML or XML"                      },
    };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t len = strlen(kinds[i].start);

        if (file->size >= len && !memcmp(file->data, kinds[i].start, len))
            return kinds[i].what;
    }
    return NULL;
}

/* Where the header ends and the data begins.  */
static df_status
find_data(const struct df_shard *shard, size_t *out)
{
    const struct df_file *file = &shard->file;
    const char *kind = looks_like(file);
    uint64_t n = 0;

    if (file->size < LENGTH_BYTES)
        return kind ? DF_FAIL(DF_FORMAT, "%s: not safetensors but %s",
                              shard->path, kind)
                    : DF_FAIL(DF_FORMAT,
                              "%s: not safetensors: %zu bytes, at least %d"
                              " wanted",
                              shard->path, file->size, LENGTH_BYTES);
    for (int i = LENGTH_BYTES - 1; i >= 0; i--)
        n = n << 8 | file->data[i];
    if (n > DF_SAFETENSORS_MAX_HEADER && kind)
        return DF_FAIL(DF_FORMAT, "%s: not safetensors but %s", shard->path,
                       kind);
    if (n > DF_SAFETENSORS_MAX_HEADER)
        return DF_FAIL(
            DF_FORMAT, "%s: header of %llu bytes, at most %d are allowed",
            shard->path, (unsigned long long) n, DF_SAFETENSORS_MAX_HEADER);
    if (n > file->size - LENGTH_BYTES)
        return DF_FAIL(DF_FORMAT,
                       "%s: header of %llu bytes in a file of %zu bytes:"
                       " truncated?",
                       shard->path, (unsigned long long) n, file->size);
    *out = LENGTH_BYTES + (size_t) n;
    return DF_OK;
}

bool
df_shape_measure(const int64_t *shape, int rank, enum df_dtype dtype,
                 size_t *count, size_t *size)
{
    size_t n = 1;

    for (int i = 0; i < rank; i++)
        if (shape[i] < 0 || __builtin_mul_overflow(n, shape[i], &n))
            return false;
    *count = n;
    return !__builtin_mul_overflow(n, df_dtype_size(dtype), size)
           && *size <= PTRDIFF_MAX;
}

/* The array KEY of ENTRY as integers of at least 0, *N of at most MAX.  */
static df_status
read_sizes(const json_t *entry, const char *key, int64_t *out, int *n, int max,
           const struct df_tensor *t)
{
    const json_t *array = json_object_get(entry, key);
    size_t len = json_array_size(array);

    if (!json_is_array(array))
        return DF_FAIL(DF_FORMAT, "%s: tensor %s: %s is %s, not an array",
                       t->path, t->name, key, df_json_type_name(array));
    if (len > (size_t) max)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: tensor %s: %s has %zu entries, at most %d wanted",
                       t->path, t->name, key, len, max);
    for (size_t i = 0; i < len; i++) {
        const json_t *value = json_array_get(array, i);

        if (!json_is_integer(value))
            return DF_FAIL(DF_FORMAT, "%s: tensor %s: %s holds %s", t->path,
                           t->name, key, df_json_type_name(value));
        out[i] = json_integer_value(value);
        if (out[i] < 0)
            return DF_FAIL(DF_FORMAT, "%s: tensor %s: %s holds %lld", t->path,
                           t->name, key, (long long) out[i]);
    }
    *n = (int) len;
    return DF_OK;
}

/* Types that are known but cannot be held here fail otherwise than
   misspelt ones.  */
static df_status
read_dtype(const json_t *entry, struct df_tensor *t)
{
    /* These have less than a byte an element.  */
    static const char *const packed[] = {"F4", "F6_E2M3", "F6_E3M2"};
    const json_t *value = json_object_get(entry, "dtype");

    if (!json_is_string(value))
        return DF_FAIL(DF_FORMAT, "%s: tensor %s: dtype is %s", t->path,
                       t->name, df_json_type_name(value));
    if (df_dtype_from_name(json_string_value(value), &t->dtype))
        return DF_OK;
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++)
        if (strcmp(packed[i], json_string_value(value)) == 0)
            return DF_FAIL(DF_UNSUPPORTED,
                           "%s: unsupported dtype %s in tensor %s", t->path,
                           packed[i], t->name);
    return DF_FAIL(DF_FORMAT, "%s: unknown dtype %s in tensor %s", t->path,
                   json_string_value(value), t->name);
}

/* Fill in T, whose name and path are set, from its ENTRY.  DATA_SIZE bytes
   begin at DATA.  */
static df_status
read_entry(const json_t *entry, struct df_tensor *t, const uint8_t *data,
           size_t data_size)
{
    int64_t offsets[2];
    char text[128];
    int n;

    if (!json_is_object(entry))
        return DF_FAIL(DF_FORMAT, "%s: tensor %s is %s, not an object",
                       t->path, t->name, df_json_type_name(entry));
    DF_TRY(read_dtype(entry, t));
    DF_TRY(
        read_sizes(entry, "shape", t->shape, &t->rank, DF_TENSOR_MAX_RANK, t));
    DF_TRY(read_sizes(entry, "data_offsets", offsets, &n, 2, t));
    if (n != 2)
        return DF_FAIL(DF_FORMAT,
                       "%s: tensor %s: data_offsets has %d entries, not 2",
                       t->path, t->name, n);
    if (offsets[1] < offsets[0])
        return DF_FAIL(
            DF_FORMAT, "%s: tensor %s ends at %lld, before its start %lld",
            t->path, t->name, (long long) offsets[1], (long long) offsets[0]);
    df_shape_text(text, sizeof text, t->shape, t->rank);
    if (!df_shape_measure(t->shape, t->rank, t->dtype, &t->count, &t->size))
        return DF_FAIL(DF_FORMAT, "%s: tensor %s: shape %s overflows", t->path,
                       t->name, text);
    if ((uint64_t) (offsets[1] - offsets[0]) != t->size)
        return DF_FAIL(DF_FORMAT,
                       "%s: tensor %s: %s %s has %zu bytes, but data_offsets"
                       " span %lld",
                       t->path, t->name, df_dtype_name(t->dtype), text,
                       t->size, (long long) (offsets[1] - offsets[0]));
    if ((uint64_t) offsets[1] > data_size)
        return DF_FAIL(DF_FORMAT,
                       "%s: tensor %s ends at byte %lld of %zu: truncated?",
                       t->path, t->name, (long long) offsets[1], data_size);
    t->data = data + offsets[0];
    return DF_OK;
}

/* Empty tensors go before the one that begins at the same place, so that
   each still begins where the one before ends.  */
static int
by_offset(const void *a, const void *b)
{
    const struct df_tensor *x = a, *y = b;

    if (x->data != y->data)
        return x->data < y->data ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Each tensor begins where the one before ends, and the last one ends with
   the file.  */
static df_status
check_coverage(const struct df_shard *shard, const uint8_t *data,
               size_t data_size)
{
    size_t end = 0;

    for (size_t i = 0; i < shard->n_tensors; i++) {
        const struct df_tensor *t = &shard->tensors[i];
        size_t start = (size_t) (t->data - data);

        if (start != end)
            return DF_FAIL(DF_FORMAT,
                           "%s: tensor %s starts at %zu, %s the end of the"
                           " one before, %zu",
                           shard->path, t->name, start,
                           start < end ? "overlapping" : "leaving a hole at",
                           end);
        end = start + t->size;
    }
    if (end != data_size)
        return DF_FAIL(DF_FORMAT,
                       "%s: %zu bytes of data, but the header describes %zu",
                       shard->path, data_size, end);
    return DF_OK;
}

static df_status
check_metadata(const struct df_shard *shard)
{
    json_t *metadata = json_object_get(shard->header, "__metadata__");
    const char *key;
    json_t *value;

    if (!metadata || json_is_null(metadata))
        return DF_OK;
    if (!json_is_object(metadata))
        return DF_FAIL(DF_FORMAT, "%s: __metadata__ is %s, not an object",
                       shard->path, df_json_type_name(metadata));
    json_object_foreach(metadata, key, value) if (
        !json_is_string(
            value)) return DF_FAIL(DF_FORMAT,
                                   "%s: __metadata__: %s is %s, not a"
                                   " string",
                                   shard->path, key, df_json_type_name(value));
    return DF_OK;
}

static df_status
read_entries(struct df_shard *shard, size_t data_at)
{
    const uint8_t *data = shard->file.data + data_at;
    size_t data_size = shard->file.size - data_at;
    size_t n = json_object_size(shard->header);
    const char *key;
    json_t *entry;

    shard->tensors = calloc(n + 1, sizeof *shard->tensors);
    if (!shard->tensors)
        return DF_FAIL(DF_NO_MEMORY, "%s: %zu tensors", shard->path, n);
    json_object_foreach(shard->header, key, entry)
    {
        struct df_tensor *t = &shard->tensors[shard->n_tensors];

        if (strcmp(key, "__metadata__") == 0)
            continue;
        t->name = key;
        t->path = shard->path;
        DF_TRY(read_entry(entry, t, data, data_size));
        shard->n_tensors++;
    }
    qsort(shard->tensors, shard->n_tensors, sizeof *shard->tensors, by_offset);
    return check_coverage(shard, data, data_size);
}

static df_status
parse(struct df_shard *shard)
{
    size_t data_at = 0;

    DF_TRY(find_data(shard, &data_at));
    DF_TRY(df_json_parse(&shard->header,
                         (const char *) shard->file.data + LENGTH_BYTES,
                         data_at - LENGTH_BYTES, shard->path));
    if (!json_is_object(shard->header))
        return DF_FAIL(DF_FORMAT, "%s: the header is %s, not an object",
                       shard->path, df_json_type_name(shard->header));
    DF_TRY(check_metadata(shard));
    return read_entries(shard, data_at);
}

df_status
df_shard_view(struct df_shard *shard, const void *image, size_t size,
              const char *name)
{
    df_status status;

    *shard = (struct df_shard){
        .file = {image, size},
          .path = strdup(name)
    };
    if (!shard->path)
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory for its name", name);
    status = parse(shard);
    if (status != DF_OK)
        df_shard_clear(shard);
    return status;
}

df_status
df_shard_open(struct df_shard *shard, const char *path)
{
    struct df_file file;
    df_status status;

    *shard = (struct df_shard){0};
    DF_TRY(df_file_map(&file, path));
    status = df_shard_view(shard, file.data, file.size, path);
    if (status != DF_OK)
        df_file_unmap(&file);
    else
        shard->mapped = true;
    return status;
}

void
df_shard_clear(struct df_shard *shard)
{
    free(shard->tensors);
    json_decref(shard->header);
    if (shard->mapped)
        df_file_unmap(&shard->file);
    free(shard->path);
    *shard = (struct df_shard){0};
}

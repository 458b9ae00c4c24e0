/* model.safetensors.index.json: which shard holds which tensor.  */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_internal.h"
#include "model/safetensors_internal.h"

/* A place in weight_map: the names of all shards are gathered from it.  */
struct placing {
    const char *tensor;
    const char *shard;
};

/* A shard is a plain file name, so that an index never opens a file outside
   its own folder.  */
static bool
is_plain_name(const char *name, size_t len)
{
    return len > 0 && strlen(name) == len && !strchr(name, '/')
           && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* All entries of weight_map, *N of them, to be freed also on failure.  They
   borrow from INDEX.  */
static df_status
read_placings(json_t *index, struct placing **out, size_t *n, const char *path)
{
    json_t *map = json_object_get(index, "weight_map"), *value;
    const char *key;

    if (!json_is_object(map))
        return DF_FAIL(DF_FORMAT, "%s: weight_map is %s, not an object", path,
                       df_json_type_name(map));
    if (json_object_size(map) == 0)
        return DF_FAIL(DF_FORMAT, "%s: weight_map is empty", path);
    *out = calloc(json_object_size(map), sizeof **out);
    if (!*out)
        return DF_FAIL(DF_NO_MEMORY, "%s: %zu tensors", path,
                       json_object_size(map));
    json_object_foreach(map, key, value)
    {
        const char *shard = json_string_value(value);

        if (!shard)
            return DF_FAIL(DF_FORMAT, "%s: weight_map: %s is %s, not a string",
                           path, key, df_json_type_name(value));
        if (!is_plain_name(shard, json_string_length(value)))
            return DF_FAIL(DF_FORMAT,
                           "%s: weight_map: %s lies in '%s', which is not a"
                           " plain file name",
                           path, key, shard);
        (*out)[(*n)++] = (struct placing){key, shard};
    }
    return DF_OK;
}

/* Brings the tensors of one shard together, so that each is opened once.  */
static int
by_shard(const void *a, const void *b)
{
    const struct placing *x = a, *y = b;
    int order = strcmp(x->shard, y->shard);

    return order ? order : strcmp(x->tensor, y->tensor);
}

/* Whether entry I of the sorted LIST is the first of its shard.  */
static bool
begins_shard(const struct placing *list, size_t i)
{
    return i == 0 || strcmp(list[i].shard, list[i - 1].shard) != 0;
}

/* Where the shards lie that the index PATH names.  To be freed.  */
static char *
folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, slash - path);
}

/* Name all shards that are not there, as far as a message has room.  */
static df_status
check_present(const struct placing *list, size_t n, const char *dir,
              const char *path)
{
    char names[200] = "";
    size_t used = 0, missing = 0, unnamed = 0;

    for (size_t i = 0; i < n; i++) {
        if (!begins_shard(list, i))
            continue;
        char *shard = df_path_join(dir, list[i].shard);

        if (!shard)
            return DF_FAIL(DF_NO_MEMORY, "%s: no memory for a name", path);
        bool exists = df_file_exists(shard);
        free(shard);
        if (exists)
            continue;
        missing++;
        if (used + strlen(list[i].shard) + 3 > sizeof names)
            unnamed++;
        else
            used += (size_t) sprintf(names + used, " %s", list[i].shard);
    }
    if (missing == 0)
        return DF_OK;
    return DF_FAIL(
        DF_IO, "%s: %zu shard%s missing:%s%s (incomplete download?)", path,
        missing, missing > 1 ? "s" : "", names, unnamed ? " ..." : "");
}

/* Open the shard that LIST[0] names and take what the N entries of LIST
   place in it.  */
static df_status
take_shard(struct df_tensors *ts, const struct placing *list, size_t n,
           const char *dir)
{
    struct df_shard *shard = &ts->shards[ts->n_shards];
    char *path = df_path_join(dir, list[0].shard);
    df_status status;

    if (!path)
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory for a name", ts->path);
    status = df_shard_open(shard, path);
    free(path);
    DF_TRY(status);
    ts->n_shards++;
    qsort(shard->tensors, shard->n_tensors, sizeof *shard->tensors,
          df_tensor_by_name);
    for (size_t i = 0; i < n; i++) {
        struct df_tensor wanted = {.name = list[i].tensor};
        const struct df_tensor *t =
            bsearch(&wanted, shard->tensors, shard->n_tensors,
                    sizeof *shard->tensors, df_tensor_by_name);

        if (!t)
            return DF_FAIL(DF_FORMAT,
                           "%s: no tensor %s, which %s places there",
                           shard->path, wanted.name, ts->path);
        ts->tensors[ts->n_tensors++] = *t;
    }
    ts->unindexed += shard->n_tensors - n;
    return DF_OK;
}

/* LIST is sorted by shard.  */
static df_status
take_shards(struct df_tensors *ts, const struct placing *list, size_t n,
            const char *dir)
{
    size_t n_shards = 0;

    for (size_t i = 0; i < n; i++)
        n_shards += begins_shard(list, i);
    ts->shards = calloc(n_shards, sizeof *ts->shards);
    ts->tensors = calloc(n, sizeof *ts->tensors);
    if (!ts->shards || !ts->tensors)
        return DF_FAIL(DF_NO_MEMORY, "%s: %zu tensors", ts->path, n);
    for (size_t start = 0, end; start < n; start = end) {
        for (end = start + 1; end < n && !begins_shard(list, end);)
            end++;
        DF_TRY(take_shard(ts, list + start, end - start, dir));
    }
    return DF_OK;
}

df_status
df_index_open(struct df_tensors *ts, const char *path)
{
    json_t *index = NULL;
    struct placing *list = NULL;
    size_t n = 0;
    char *dir = folder_of(path);
    df_status status;

    if (!dir)
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory for its folder", path);
    status = df_json_load(&index, path);
    if (status != DF_OK)
        goto out;
    status = read_placings(index, &list, &n, path);
    if (status != DF_OK)
        goto out;
    qsort(list, n, sizeof *list, by_shard);
    status = check_present(list, n, dir, path);
    if (status == DF_OK)
        status = take_shards(ts, list, n, dir);
out:
    free(list);
    json_decref(index);
    free(dir);
    return status;
}

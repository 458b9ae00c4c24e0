/* The small files and the folder of a checkpoint.  */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file_internal.h"
#include "base/json_internal.h"
#include "draft/checkpoint_internal.h"

enum {
    VERSION = 1
};

df_status
df_checkpoint_write_state(const struct df_checkpoint_state *state,
                          const char *folder)
{
    char *path = df_path_join(folder, "state.json"), *text = NULL;
    json_t *json = json_pack(
        "{s:s, s:i, s:I, s:I, s:I, s:O}", "format", "dflash-checkpoint",
        "version", VERSION, "step", (json_int_t) state->step, "applied",
        (json_int_t) state->applied, "skipped", (json_int_t) state->skipped,
        "identity", state->identity);
    df_status status;

    if (json)
        text = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    if (path && text)
        status = df_file_write(path, text, strlen(text));
    else
        status = DF_FAIL(DF_NO_MEMORY, "%s: no memory for its state", folder);
    free(text);
    free(path);
    json_decref(json);
    return status;
}

static df_status
parse_state(struct df_checkpoint_state *out, const json_t *json,
            const char *path)
{
    int64_t version = 0;
    const json_t *identity;

    DF_TRY(df_json_get_int(json, "version", VERSION, VERSION, &version, path));
    out->step = out->applied = -1;
    DF_TRY(df_json_get_int(json, "step", 0, INT64_MAX, &out->step, path));
    DF_TRY(
        df_json_get_int(json, "applied", 0, INT64_MAX, &out->applied, path));
    DF_TRY(
        df_json_get_int(json, "skipped", 0, INT64_MAX, &out->skipped, path));
    DF_TRY(df_json_require(json, "identity", &identity, path));
    if (version != VERSION || out->step < 0 || out->applied < 0)
        return DF_FAIL(DF_FORMAT, "%s: no version, step or applied", path);
    out->identity = json_incref((json_t *) identity);
    return DF_OK;
}

df_status
df_checkpoint_read_state(struct df_checkpoint_state *out, const char *folder)
{
    char *path = df_path_join(folder, "state.json");
    json_t *json = NULL;
    df_status status;

    *out = (struct df_checkpoint_state){0};
    if (!path)
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory for a name", folder);
    status = df_json_load(&json, path);
    if (status == DF_OK)
        status = parse_state(out, json, path);
    json_decref(json);
    free(path);
    return status;
}

static df_status
differs(const char *key, const json_t *found, const json_t *wanted,
        const char *folder)
{
    char *f = json_dumps(found, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
    char *w = json_dumps(wanted, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
    df_status status =
        DF_FAIL(DF_INVALID,
                "%s: written with %s = %s, but now it is %s: a run is resumed "
                "with the options it was begun with",
                folder, key, f ? f : "nothing", w ? w : "nothing");

    free(f);
    free(w);
    return status;
}

df_status
df_checkpoint_compare(const json_t *found, const char *wanted,
                      const char *folder)
{
    json_error_t err;
    json_t *now = json_loads(wanted, 0, &err), *value;
    const char *key;
    df_status status = DF_OK;

    if (!now)
        return DF_FAIL(DF_INVALID, "identity of the run: %s", err.text);
    json_object_foreach(now, key, value)
    {
        const json_t *before = json_object_get(found, key);

        if (status == DF_OK && !(before && json_equal(before, value)))
            status = differs(key, before, value, folder);
    }
    json_decref(now);
    return status;
}

void
df_checkpoint_remove(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;

    if (!dir)
        return;
    while ((entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0
            && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
    rmdir(folder);
}

/* N of the name "step-N", or -1.  */
static int64_t
parse_step(const char *name)
{
    char *end;

    if (strncmp(name, "step-", 5) != 0 || name[5] < '0' || name[5] > '9')
        return -1;
    errno = 0;
    long long n = strtoll(name + 5, &end, 10);
    return errno || *end ? -1 : n;
}

void
df_checkpoint_sweep(const char *dir)
{
    DIR *d = opendir(dir);
    struct dirent *entry;

    while (d && (entry = readdir(d))) {
        size_t len = strlen(entry->d_name);
        char *path;

        if (strncmp(entry->d_name, "step-", 5) != 0 || len < 9
            || strcmp(entry->d_name + len - 4, ".tmp") != 0)
            continue;
        path = df_path_join(dir, entry->d_name);
        if (path)
            df_checkpoint_remove(path);
        free(path);
    }
    if (d)
        closedir(d);
}

static int
descending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

    return (x < y) - (x > y);
}

df_status
df_checkpoint_list(const char *dir, int64_t **steps, size_t *n)
{
    DIR *d = opendir(dir);
    struct dirent *entry;
    size_t cap = 0;

    *steps = NULL;
    *n = 0;
    if (!d)
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", dir, strerror(errno));
    while ((entry = readdir(d))) {
        int64_t step = parse_step(entry->d_name);

        if (step < 0)
            continue;
        if (*n == cap) {
            int64_t *more =
                realloc(*steps, (cap = 2 * cap + 8) * sizeof *more);

            if (!more) {
                closedir(d);
                free(*steps);
                return DF_FAIL(DF_NO_MEMORY, "%s: its checkpoints", dir);
            }
            *steps = more;
        }
        (*steps)[(*n)++] = step;
    }
    closedir(d);
    if (*n > 0)
        qsort(*steps, *n, sizeof **steps, descending);
    return DF_OK;
}

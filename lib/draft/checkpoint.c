#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault_internal.h"
#include "base/file_internal.h"
#include "base/transfer_internal.h"
#include "draft/checkpoint_internal.h"
#include "draft/drafter_internal.h"
#include "model/drafter_files_internal.h"

enum {
    N_ARRAYS = 3 /* masters and the two moments */
};
static const char array_names[N_ARRAYS] = {'w', 'm', 'v'};

static float *
array(const struct df_flat *flat, size_t i)
{
    float *const arrays[N_ARRAYS] = {flat->w, flat->m, flat->v};

    return arrays[i];
}

static char *
step_folder(const char *dir, int64_t step, const char *suffix)
{
    char *path;

    if (asprintf(&path, "%s/step-%lld%s", dir, (long long) step, suffix) < 0)
        return NULL;
    return path;
}

/* "w.layers.0.mlp.up_proj.weight" and so on.  */
static void
name_tensor(char *out, size_t size, size_t which, const struct df_param *p)
{
    snprintf(out, size, "%c.%s", array_names[which], p->spec.name);
}

enum {
    NAME_SIZE = sizeof(((struct df_weight_spec *) 0)->name) + 2
};

struct df_snapshot {
    struct df_drafter *d;
    struct df_step_state counts;
    float *data; /* [N_ARRAYS][count] */
};

df_status
df_snapshot_new(struct df_snapshot **out, struct df_drafter *d)
{
    struct df_snapshot *s = calloc(1, sizeof *s);

    *out = s;
    if (s) {
        s->d = d;
        s->data = malloc(N_ARRAYS * d->flat.count * sizeof *s->data);
    }
    if (s && s->data)
        return DF_OK;
    df_snapshot_free(s);
    *out = NULL;
    return DF_FAIL(DF_NO_MEMORY, "%zu parameters to save", d->flat.count);
}

void
df_snapshot_free(struct df_snapshot *s)
{
    if (s)
        free(s->data);
    free(s);
}

df_status
df_snapshot_take(struct df_snapshot *s)
{
    struct df_drafter *d = s->d;
    size_t count = d->flat.count;

    for (size_t i = 0; i < N_ARRAYS; i++)
        DF_TRY(df_copy_now(d->dev, s->data + i * count, array(&d->flat, i),
                           count * sizeof *s->data));
    return df_copy_now(d->dev, &s->counts, d->flat.state, sizeof s->counts);
}

static df_status
write_arrays(const struct df_snapshot *s, const char *folder)
{
    const struct df_drafter *d = s->d;
    size_t n = N_ARRAYS * d->n_params;
    struct df_tensor_def *defs = calloc(n, sizeof *defs);
    char(*names)[NAME_SIZE] = calloc(n, sizeof *names);
    char *path = df_path_join(folder, "state.safetensors");
    df_status status = DF_OK;

    if (!defs || !names || !path)
        status = DF_FAIL(DF_NO_MEMORY, "%s: %zu tensors", folder, n);
    for (size_t i = 0; i < n && status == DF_OK; i++) {
        size_t which = i / d->n_params;
        const struct df_param *p = &d->params[i % d->n_params];

        name_tensor(names[i], sizeof names[i], which, p);
        defs[i] = (struct df_tensor_def){
            .name = names[i],
            .dtype = DF_F32,
            .rank = p->spec.rank,
            .shape = p->spec.shape,
            .data = s->data + which * d->flat.count + p->offset};
    }
    if (status == DF_OK)
        status = df_safetensors_write(
            path, &(struct df_safetensors_def){defs, n, NULL, 0});
    free(path);
    free(names);
    free(defs);
    return status;
}

static df_status
write_notes(const char *notes, const char *folder)
{
    char *path = df_path_join(folder, "config.txt");
    df_status status =
        path ? df_file_write(path, notes, strlen(notes))
             : DF_FAIL(DF_NO_MEMORY, "%s: no memory for a name", folder);

    free(path);
    return status;
}

/* Everything into FOLDER, which is new.  */
static df_status
write_folder(const struct df_snapshot *s,
             const struct df_checkpoint_info *info, const char *folder)
{
    struct df_checkpoint_state state = {.step = info->step,
                                        .applied = s->counts.applied,
                                        .skipped = s->counts.skipped};
    json_error_t err;
    df_status status;

    if (mkdir(folder, 0777))
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", folder, strerror(errno));
    DF_TRY(df_fault("checkpoint", DF_CKPT_BEGUN));
    DF_TRY(write_arrays(s, folder));
    DF_TRY(df_fault("checkpoint", DF_CKPT_ARRAYS));
    DF_TRY(df_drafter_json_write(&s->d->config, &s->d->form, NULL, folder));
    DF_TRY(write_notes(info->notes, folder));
    DF_TRY(df_fault("checkpoint", DF_CKPT_NOTES));
    state.identity = json_loads(info->identity, 0, &err);
    status = df_checkpoint_write_state(&state, folder);
    json_decref(state.identity);
    return status;
}

/* Make what was renamed within DIR last.  */
static df_status
sync_folder(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    df_status status = DF_OK;

    if (fd < 0 || fsync(fd))
        status = DF_FAIL_ERRNO(DF_IO, "%s: %s", dir, strerror(errno));
    if (fd >= 0)
        close(fd);
    return status;
}

/* A checkpoint of the same step may be there, from a run that was killed
   behind its saving: it gives way.  */
static df_status
put_in_place(const char *aside, const char *folder, const char *dir)
{
    DF_TRY(df_fault("checkpoint", DF_CKPT_WHOLE));
    df_checkpoint_remove(folder);
    DF_TRY(df_fault("checkpoint", DF_CKPT_OLD_GONE));
    if (rename(aside, folder))
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", folder, strerror(errno));
    DF_TRY(df_fault("checkpoint", DF_CKPT_IN_PLACE));
    return sync_folder(dir);
}

/* Remove the checkpoints in DIR up to STEP, but for the newest KEEP of them.
   A folder of a later step is none of this run's: it was broken when the run
   was resumed before it.  */
static df_status
remove_old(const char *dir, int64_t step, int64_t keep)
{
    int64_t *steps;
    size_t n;

    DF_TRY(df_checkpoint_list(dir, &steps, &n));
    for (size_t i = 0; i < n; i++) {
        char *folder;

        if (steps[i] > step || keep-- > 0)
            continue;
        folder = step_folder(dir, steps[i], "");
        if (folder)
            df_checkpoint_remove(folder);
        free(folder);
    }
    free(steps);
    return DF_OK;
}

df_status
df_checkpoint_remove_all(const char *dir)
{
    df_checkpoint_sweep(dir);
    return remove_old(dir, INT64_MAX, 0);
}

df_status
df_snapshot_write(const struct df_snapshot *s, const char *dir,
                  const struct df_checkpoint_info *info, int64_t keep,
                  char **path)
{
    char *aside = step_folder(dir, info->step, ".tmp");
    char *folder = step_folder(dir, info->step, "");
    df_status status;

    if (!aside || !folder) {
        status = DF_FAIL(DF_NO_MEMORY, "%s: no memory for a name", dir);
        goto out;
    }
    df_checkpoint_remove(aside);
    status = write_folder(s, info, aside);
    if (status == DF_OK)
        status = sync_folder(aside);
    if (status == DF_OK)
        status = put_in_place(aside, folder, dir);
    if (status != DF_OK)
        df_checkpoint_remove(aside);
    else
        df_checkpoint_sweep(dir);
    if (status == DF_OK && keep > 0)
        status = remove_old(dir, info->step, keep);
out:
    free(aside);
    if (path && status == DF_OK)
        *path = folder;
    else
        free(folder);
    return status;
}

df_status
df_checkpoint_save(struct df_drafter *d, const char *dir,
                   const struct df_checkpoint_info *info, int64_t keep,
                   char **path)
{
    struct df_snapshot *s;
    df_status status;

    DF_TRY(df_snapshot_new(&s, d));
    status = df_snapshot_take(s);
    if (status == DF_OK)
        status = df_snapshot_write(s, dir, info, keep, path);
    df_snapshot_free(s);
    return status;
}

static df_status
read_arrays(struct df_drafter *d, const struct df_tensors *ts, float *data)
{
    char name[NAME_SIZE];
    const struct df_tensor *t;

    for (size_t i = 0; i < N_ARRAYS * d->n_params; i++) {
        size_t which = i / d->n_params;
        const struct df_param *p = &d->params[i % d->n_params];

        name_tensor(name, sizeof name, which, p);
        DF_TRY(df_tensors_get(ts, name, &t));
        if (t->count != p->count)
            return DF_FAIL(DF_SHAPE, "%s: %s has %zu elements instead of %zu",
                           df_tensors_path(ts), name, t->count, p->count);
        DF_TRY(
            df_tensor_read_f32(t, data + which * d->flat.count + p->offset));
    }
    return DF_OK;
}

static df_status
upload(struct df_drafter *d, const float *data,
       const struct df_checkpoint_state *state)
{
    size_t count = d->flat.count;
    const struct df_step_state counts = {.applied = state->applied,
                                         .skipped = state->skipped};

    for (size_t i = 0; i < N_ARRAYS; i++)
        DF_TRY(df_copy_now(d->dev, array(&d->flat, i), data + i * count,
                           count * sizeof *data));
    DF_TRY(df_copy_now(d->dev, d->flat.state, &counts, sizeof counts));
    return df_drafter_refresh(d);
}

static df_status
load_arrays(struct df_drafter *d, const char *folder,
            const struct df_checkpoint_state *state)
{
    char *path = df_path_join(folder, "state.safetensors");
    float *data = calloc(N_ARRAYS * d->flat.count, sizeof *data);
    struct df_tensors *ts = NULL;
    df_status status;

    if (!path || !data)
        status = DF_FAIL(DF_NO_MEMORY, "%s: no memory for it", folder);
    else
        status = df_tensors_open(&ts, path);
    if (status == DF_OK)
        status = read_arrays(d, ts, data);
    if (status == DF_OK)
        status = upload(d, data, state);
    df_tensors_free(ts);
    free(data);
    free(path);
    return status;
}

df_status
df_checkpoint_load(struct df_drafter *d, const char *path,
                   const char *identity, int64_t *step)
{
    struct df_checkpoint_state state;
    df_status status;

    DF_TRY(df_checkpoint_read_state(&state, path));
    status = df_checkpoint_compare(state.identity, identity, path);
    if (status == DF_OK)
        status = load_arrays(d, path, &state);
    *step = state.step;
    json_decref(state.identity);
    return status;
}

/* Whether FOLDER can be loaded as far as its files tell.  */
static bool
is_whole(const char *folder)
{
    struct df_checkpoint_state state;
    struct df_tensors *ts = NULL;
    char *path = df_path_join(folder, "state.safetensors");
    bool whole = path && df_tensors_open(&ts, path) == DF_OK;

    df_tensors_free(ts);
    free(path);
    if (!whole || df_checkpoint_read_state(&state, folder) != DF_OK)
        return false;
    json_decref(state.identity);
    return true;
}

df_status
df_checkpoint_newest(const char *dir, char **path, int64_t *step,
                     size_t *broken)
{
    int64_t *steps;
    size_t n;

    *path = NULL;
    *broken = 0;
    DF_TRY(df_checkpoint_list(dir, &steps, &n));
    for (size_t i = 0; i < n; i++) {
        char *folder = step_folder(dir, steps[i], "");

        if (folder && is_whole(folder)) {
            *path = folder;
            *step = steps[i];
            break;
        }
        free(folder);
        ++*broken;
    }
    free(steps);
    return DF_OK;
}

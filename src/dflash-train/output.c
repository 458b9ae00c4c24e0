#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/message.h"
#include "dflash-train/metrics.h"
#include "dflash-train/options.h"
#include "dflash-train/output.h"

char *
output_path(const char *name)
{
    char *path;

    return asprintf(&path, "%s/%s", opt.output, name) < 0 ? NULL : path;
}

static bool
output_has(const char *name)
{
    char *path = output_path(name);
    bool there = path && access(path, F_OK) == 0;

    free(path);
    return there;
}

static df_status
io_failure(const char *path)
{
    return DF_FAIL_ERRNO(DF_IO, "%s: %s", path, strerror(errno));
}

/* The folder that OUTPUT will be made in; "." for a plain name.  To be
   freed.  */
static char *
parent(void)
{
    char *copy = strdup(opt.output), *slash;

    if (!copy)
        return NULL;
    for (size_t n = strlen(copy); n > 1 && copy[n - 1] == '/'; n--)
        copy[n - 1] = '\0';
    slash = strrchr(copy, '/');
    if (!slash)
        strcpy(copy, *copy ? "." : copy);
    else if (slash > copy)
        *slash = '\0';
    else
        slash[1] = '\0';
    return copy;
}

static df_status
check_parent(void)
{
    char *dir = parent();
    df_status status = DF_OK;

    if (!dir)
        return DF_FAIL(DF_NO_MEMORY, "%s", opt.output);
    if (access(dir, W_OK | X_OK))
        status = DF_FAIL_ERRNO(DF_IO, "%s: can't be made: %s: %s", opt.output,
                               dir, strerror(errno));
    free(dir);
    return status;
}

static df_status
check_folder(struct session *s)
{
    struct stat st;

    if (stat(opt.output, &st)) {
        if (errno != ENOENT)
            return io_failure(opt.output);
        s->made_output = s->output_was_free = true;
        return check_parent();
    }
    if (!S_ISDIR(st.st_mode))
        return DF_FAIL(DF_IO, "%s: is no folder", opt.output);
    if (access(opt.output, W_OK | X_OK))
        return io_failure(opt.output);
    s->output_was_free = !output_has("config.txt")
                         && !output_has("checkpoints")
                         && !output_has("drafter");
    if (!opt.resume && !opt.overwrite && !s->output_was_free)
        return DF_FAIL(DF_INVALID,
                       "%s: holds another run: go on with it by --resume, "
                       "or replace it by --overwrite",
                       opt.output);
    return DF_OK;
}

static df_status
find_checkpoint(struct session *s)
{
    size_t broken = 0;

    if (!output_has("checkpoints")) {
        message_note("%s: no checkpoint yet: beginning with step 0",
                     opt.output);
        return DF_OK;
    }
    DF_TRY(df_checkpoint_newest(s->checkpoint_dir, &s->resume_from,
                                &s->first_step, &broken));
    if (broken > 0 && !s->resume_from)
        return DF_FAIL(DF_FORMAT,
                       "%s: none of the %zu checkpoints can be read: "
                       "--overwrite begins anew",
                       s->checkpoint_dir, broken);
    if (broken > 0)
        message_warn("%s: %zu newer checkpoints are broken and passed over",
                     s->checkpoint_dir, broken);
    if (s->resume_from)
        message_note("resuming from %s", s->resume_from);
    else
        message_note("%s: no checkpoint yet: beginning with step 0",
                     s->checkpoint_dir);
    return DF_OK;
}

df_status
find_output(struct session *s)
{
    s->checkpoint_dir = output_path("checkpoints");
    if (!s->checkpoint_dir)
        return DF_FAIL(DF_NO_MEMORY, "%s", opt.output);
    DF_TRY(check_folder(s));
    return opt.resume ? find_checkpoint(s) : DF_OK;
}

/* Remove the files in the folder PATH, and PATH.  */
static void
remove_folder(const char *path, const char *const *files)
{
    char *file;

    for (; *files; files++)
        if (asprintf(&file, "%s/%s", path, *files) >= 0) {
            unlink(file);
            free(file);
        }
    rmdir(path);
}

/* accept.json goes first: without the rest it would stand for a drafter.  */
static const char *const drafter_files[] = {"accept.json", "config.json",
                                            "model.safetensors", NULL};

/* Take away what an old run left.  */
static df_status
remove_old_run(struct session *s)
{
    static const char *const folders[] = {"drafter", "best"};

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *path = output_path(folders[i]);

        if (!path)
            return DF_FAIL(DF_NO_MEMORY, "%s", opt.output);
        remove_folder(path, drafter_files);
        free(path);
    }
    return output_has("checkpoints")
               ? df_checkpoint_remove_all(s->checkpoint_dir)
               : DF_OK;
}

static df_status
make_folder(const char *path)
{
    return mkdir(path, 0777) && errno != EEXIST ? io_failure(path) : DF_OK;
}

static df_status
write_config(const struct session *s)
{
    char *path = output_path("config.txt");
    FILE *fp = path ? fopen(path, "w") : NULL;
    df_status status = DF_OK;

    if (!fp) {
        status = io_failure(path ? path : opt.output);
    } else {
        bool bad = fputs(s->notes, fp) < 0;

        if (fclose(fp) || bad)
            status = io_failure(path);
    }
    free(path);
    return status;
}

df_status
begin_output(struct session *s)
{
    s->output_begun = true;
    if (s->made_output)
        DF_TRY(make_folder(opt.output));
    if (opt.overwrite)
        DF_TRY(remove_old_run(s));
    DF_TRY(make_folder(s->checkpoint_dir));
    DF_TRY(write_config(s));
    return metrics_open(s);
}

void
abandon_output(struct session *s)
{
    static const char *const files[] = {"config.txt", "metrics.jsonl", NULL};

    if (!s->output_begun || !s->output_was_free
        || df_run_steps_done(s->run) > s->first_step)
        return;
    rmdir(s->checkpoint_dir);
    for (size_t i = 0; files[i]; i++) {
        char *path = output_path(files[i]);

        if (path)
            unlink(path);
        free(path);
    }
    if (s->made_output)
        rmdir(opt.output);
}

/* The folder ASIDE becomes PATH, and what was there goes.  They are swapped,
   so that one of both is there at any time; where the file system can't do
   that, there is a moment without.  */
static df_status
take_place(const char *aside, const char *path)
{
    if (renameat2(AT_FDCWD, aside, AT_FDCWD, path, RENAME_EXCHANGE) == 0) {
        remove_folder(aside, drafter_files);
        return DF_OK;
    }
    remove_folder(path, drafter_files);
    return rename(aside, path) ? io_failure(path) : DF_OK;
}

df_status
output_replace(const char *name, output_fn *write, struct session *s)
{
    char *path = output_path(name), *aside = NULL;
    df_status status;

    if (!path || asprintf(&aside, "%s.tmp", path) < 0) {
        aside = NULL;
        status = DF_FAIL(DF_NO_MEMORY, "%s", opt.output);
        goto out;
    }
    remove_folder(aside, drafter_files);
    status = make_folder(aside);
    if (status == DF_OK)
        status = write(s, aside);
    if (status == DF_OK)
        status = take_place(aside, path);
    if (status != DF_OK)
        remove_folder(aside, drafter_files);
out:
    free(path);
    free(aside);
    return status;
}

static df_status
write_drafter(struct session *s, const char *dir)
{
    return df_run_export(s->run, dir);
}

df_status
export_drafter(struct session *s)
{
    return output_replace("drafter", write_drafter, s);
}

/* Opening, locking and finishing the file under HDF5.  */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "store/h5io_internal.h"

/* The innermost reason of HDF5 comes last when walking downwards.  */
static herr_t
note_reason(unsigned n, const H5E_error2_t *err, void *data)
{
    (void) n;
    if (err->desc)
        snprintf(data, 128, "%s", err->desc);
    return 0;
}

void
df_h5_reason(char *buf, size_t size)
{
    char reason[128] = "no reason given";

    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, note_reason, reason);
    snprintf(buf, size, "%s", reason);
}

static df_status
fail_system(const struct df_h5_io *io, const char *what)
{
    struct statvfs fs;

    if (io->sys_errno == ENOSPC && fstatvfs(io->fd, &fs) == 0)
        return df_fail_at(__func__, __LINE__, DF_IO, io->sys_errno,
                          "%s: %s: %s: %" PRIu64 " bytes needed, %" PRIu64
                          " free",
                          io->path, what, strerror(io->sys_errno), io->refused,
                          (uint64_t) fs.f_bavail * fs.f_frsize);
    return df_fail_at(__func__, __LINE__, DF_IO, io->sys_errno,
                      "%s: %s: %s: %" PRIu64 " bytes needed", io->path, what,
                      strerror(io->sys_errno), io->refused);
}

df_status
df_h5_fail(const struct df_h5_io *io, const char *format, ...)
{
    char what[160], reason[128];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (io->sys_errno)
        return fail_system(io, what);
    df_h5_reason(reason, sizeof reason);
    return DF_FAIL(io->writable ? DF_IO : DF_FORMAT, "%s: %s: HDF5: %s",
                   io->path, what, reason);
}

/* Lock the file, as HDF5 itself does, so that its users see ours and we see
   theirs.  */
static df_status
lock_file(const struct df_h5_io *io)
{
    const char *use = getenv("HDF5_USE_FILE_LOCKING");

    if (use && (strcmp(use, "FALSE") == 0 || strcmp(use, "0") == 0))
        return DF_OK;
    if (flock(io->fd, (io->writable ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0)
        return DF_OK;
    if (errno == EWOULDBLOCK)
        return DF_FAIL_ERRNO(DF_IO, "%s: another process %s this file",
                             io->path, io->writable ? "uses" : "writes");
    if (use && strcmp(use, "BEST_EFFORT") == 0)
        return DF_OK;
    return DF_FAIL_ERRNO(DF_IO,
                         "%s: this file system has no locks (%s): set "
                         "HDF5_USE_FILE_LOCKING=FALSE",
                         io->path, strerror(errno));
}

static df_status
open_file(struct df_h5_io *io, enum df_h5_open how)
{
    static const int flags[] = {
        [DF_H5_READ] = O_RDONLY,
        [DF_H5_CREATE] = O_RDWR | O_CREAT | O_EXCL,
        [DF_H5_REPLACE] = O_RDWR | O_CREAT,
        [DF_H5_RESUME] = O_RDWR | O_CREAT,
    };
    struct stat st;

    io->fd = open(io->path, flags[how] | O_CLOEXEC, 0666);
    if (io->fd < 0 && errno == EEXIST)
        return DF_FAIL_ERRNO(DF_INVALID, "%s exists: resume it or replace it",
                             io->path);
    if (io->fd < 0)
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", io->path, strerror(errno));
    DF_TRY(lock_file(io));
    if (fstat(io->fd, &st))
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", io->path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return DF_FAIL(DF_IO, "%s: is not a regular file", io->path);
    io->size = (uint64_t) st.st_size;
    return DF_OK;
}

static void
drop_patches(struct df_h5_io *io)
{
    for (size_t i = 0; i < io->n_patches; i++)
        free(io->patches[i].bytes);
    free(io->patches);
    io->patches = NULL;
    io->n_patches = 0;
}

/* Forget what was there.  The journal goes first: it is of no use to another
   file.  */
static df_status
start_afresh(struct df_h5_io *io)
{
    if (unlink(io->journal_path) && errno != ENOENT)
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", io->journal_path,
                             strerror(errno));
    if (ftruncate(io->fd, 0))
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", io->path, strerror(errno));
    io->size = 0;
    return DF_OK;
}

/* See the file as the last commit left it.  */
static df_status
recover(struct df_h5_io *io)
{
    bool found;

    DF_TRY(df_h5_journal_load(io, &found));
    if (!found)
        return DF_OK;
    if (io->size < io->committed)
        return DF_FAIL(DF_FORMAT,
                       "%s has %" PRIu64 " bytes, but by %s it had %" PRIu64,
                       io->path, io->size, io->journal_path, io->committed);
    if (io->writable)
        return df_h5_journal_apply(io);
    io->size = io->committed;
    return DF_OK;
}

static df_status
begin_journal(struct df_h5_io *io)
{
    drop_patches(io);
    io->committed = io->size;
    io->journal = open(io->journal_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (io->journal < 0)
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", io->journal_path,
                             strerror(errno));
    return df_h5_journal_reset(io);
}

/* A file without a byte has nothing to go back to, whatever journal lies
   beside it.  */
static bool
begins(const struct df_h5_io *io, enum df_h5_open how)
{
    return how == DF_H5_CREATE || how == DF_H5_REPLACE
           || (how == DF_H5_RESUME && io->size == 0);
}

df_status
df_h5_io_open(struct df_h5_io **out, const char *path, enum df_h5_open how)
{
    struct df_h5_io *io = calloc(1, sizeof *io);
    df_status status;

    *out = NULL;
    if (!io)
        return DF_FAIL(DF_NO_MEMORY, "%s", path);
    io->fd = io->journal = -1;
    io->driver = -1;
    io->writable = how != DF_H5_READ;
    io->path = strdup(path);
    io->journal_path = df_h5_journal_path(path);
    status = io->path && io->journal_path ? open_file(io, how)
                                          : DF_FAIL(DF_NO_MEMORY, "%s", path);
    if (status == DF_OK)
        status = begins(io, how) ? start_afresh(io) : recover(io);
    if (status == DF_OK && io->writable) {
        status = begin_journal(io);
        if (status != DF_OK && io->size == 0) {
            unlink(io->journal_path);
            unlink(io->path);
        }
    }
    if (status == DF_OK)
        *out = io;
    else
        df_h5_io_free(io);
    return status;
}

df_status
df_h5_io_commit(struct df_h5_io *io)
{
    if (io->sys_errno)
        return df_h5_fail(io, "committing");
    io->committed = io->size;
    return df_h5_journal_reset(io);
}

df_status
df_h5_io_finish(struct df_h5_io *io)
{
    if (ftruncate(io->fd, (off_t) io->end) || fsync(io->fd)
        || unlink(io->journal_path))
        return DF_FAIL_ERRNO(DF_IO, "%s: finishing it: %s", io->path,
                             strerror(errno));
    return DF_OK;
}

df_status
df_h5_io_roll_back(struct df_h5_io *io)
{
    bool found;

    drop_patches(io);
    DF_TRY(df_h5_journal_load(io, &found));
    if (!found)
        return DF_OK;
    DF_TRY(df_h5_journal_apply(io));
    if (unlink(io->journal_path) || (io->size == 0 && unlink(io->path)))
        return DF_FAIL_ERRNO(DF_IO, "%s: removing its journal: %s", io->path,
                             strerror(errno));
    return DF_OK;
}

void
df_h5_io_free(struct df_h5_io *io)
{
    if (!io)
        return;
    if (io->users > 0) {
        io->orphaned = io->dead = true;
        return;
    }
    if (io->driver >= 0)
        H5FDunregister(io->driver);
    drop_patches(io);
    if (io->journal >= 0)
        close(io->journal);
    if (io->fd >= 0)
        close(io->fd);
    free(io->journal_path);
    free(io->path);
    free(io);
}

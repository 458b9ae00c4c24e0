/* Writing a stream.  A reader that is gone is a status: SIGPIPE is kept from
   the thread while it writes.  */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_internal.h"
#include "store/stream_internal.h"

struct stream_writer {
    struct df_capture_writer base; /* must be first */
    int fd;
    bool owned; /* to be closed */
    bool regular;
};

/* SIGPIPE blocked in this thread, with what was before.  */
struct pipe_guard {
    sigset_t before;
    bool pending;
};

static void
guard(struct pipe_guard *g)
{
    sigset_t sigpipe, pending;

    sigemptyset(&sigpipe);
    sigaddset(&sigpipe, SIGPIPE);
    sigpending(&pending);
    g->pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &sigpipe, &g->before);
}

/* Take the signal that a failed write left, unless it is another's.  */
static void
unguard(const struct pipe_guard *g)
{
    const struct timespec none = {0, 0};
    sigset_t sigpipe;

    sigemptyset(&sigpipe);
    sigaddset(&sigpipe, SIGPIPE);
    while (!g->pending && sigtimedwait(&sigpipe, NULL, &none) < 0
           && errno == EINTR)
        continue;
    pthread_sigmask(SIG_SETMASK, &g->before, NULL);
}

static df_status
fail_gone(df_status status, const char *path)
{
    if (status == DF_IO && df_error_last()->sys_errno == EPIPE)
        return df_fail_at(__func__, __LINE__, DF_IO, EPIPE,
                          "%s: its reader is gone", path);
    return status;
}

static df_status
write_guarded(const struct stream_writer *w, const void *data, size_t size)
{
    struct pipe_guard g;
    df_status status;

    guard(&g);
    status = df_write_all(w->fd, data, size, w->base.path);
    unguard(&g);
    return fail_gone(status, w->base.path);
}

static df_status
stream_put(struct df_capture_writer *base,
           const struct df_capture_sample *sample)
{
    struct stream_writer *w = (struct stream_writer *) base;
    struct df_image_def image;
    struct pipe_guard g;
    size_t size;
    uint64_t length;
    df_status status;

    df_image_describe(&image, &base->head.header, sample);
    DF_TRY(df_safetensors_size(&size, &image.def));
    length = size;
    DF_TRY(write_guarded(w, &length, sizeof length));
    guard(&g);
    status = df_safetensors_write_fd(w->fd, base->path, &image.def);
    unguard(&g);
    return fail_gone(status, base->path);
}

df_status
df_capture_writer_put_image(struct df_capture_writer *base,
                            const uint8_t *image, size_t size)
{
    struct stream_writer *w = (struct stream_writer *) base;
    const uint64_t length = size;

    if (base->ops->put != stream_put)
        return DF_FAIL(DF_UNSUPPORTED, "%s: only streams take images",
                       base->path);
    if (base->failed)
        return DF_FAIL(DF_IO, "%s: a write before this one failed",
                       base->path);
    base->failed = true;
    DF_TRY(write_guarded(w, &length, sizeof length));
    DF_TRY(write_guarded(w, image, size));
    base->failed = false;
    base->count++;
    return DF_OK;
}

static df_status
stream_commit(struct df_capture_writer *base)
{
    (void) base;
    return DF_OK;
}

static df_status
stream_close(struct df_capture_writer *base, df_status status)
{
    struct stream_writer *w = (struct stream_writer *) base;
    const uint64_t end[2] = {0, base->count};

    if (status == DF_OK)
        status = write_guarded(w, end, sizeof end);
    if (status == DF_OK && w->regular && fsync(w->fd))
        status = DF_FAIL_ERRNO(DF_IO, "%s: %s", base->path, strerror(errno));
    if (w->owned && w->fd >= 0 && close(w->fd) && status == DF_OK)
        status = DF_FAIL_ERRNO(DF_IO, "%s: %s", base->path, strerror(errno));
    return status;
}

static const struct df_capture_writer_ops ops = {stream_put, stream_commit,
                                                 stream_close};

/* Lock the file, so that no other writer gets at it, then empty it.  */
static df_status
take_over(const struct stream_writer *w, const char *path)
{
    if (flock(w->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return DF_FAIL_ERRNO(DF_IO, "%s: another process writes this file",
                             path);
    if (ftruncate(w->fd, 0))
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", path, strerror(errno));
    return DF_OK;
}

static df_status
open_file(struct stream_writer *w, const char *path, bool force)
{
    struct stat st;
    bool device = stat(path, &st) == 0 && !S_ISREG(st.st_mode);
    int only_new = force || device ? 0 : O_EXCL;

    w->fd = open(path, O_WRONLY | O_CREAT | only_new | O_CLOEXEC, 0666);
    if (w->fd < 0 && errno == EEXIST)
        return DF_FAIL(DF_INVALID, "%s exists: replace it or write elsewhere",
                       path);
    if (w->fd < 0)
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", path, strerror(errno));
    w->owned = true;
    w->regular = !device;
    return w->regular ? take_over(w, path) : DF_OK;
}

static df_status
put_header(const struct stream_writer *w)
{
    char *text;
    df_status status;

    DF_TRY(df_head_text(&text, &w->base.head.header));
    status = write_guarded(w, DF_STREAM_MAGIC, strlen(DF_STREAM_MAGIC));
    if (status == DF_OK)
        status = write_guarded(w, text, strlen(text));
    free(text);
    return status == DF_OK ? write_guarded(w, "\n", 1) : status;
}

df_status
df_stream_writer_open(struct df_capture_writer **out, const char *path,
                      const struct df_capture_header *header,
                      const struct df_capture_writer_options *options)
{
    struct stream_writer *w = calloc(1, sizeof *w);

    if (!w)
        return DF_FAIL(DF_NO_MEMORY, "%s", path);
    *out = &w->base;
    w->fd = -1;
    DF_TRY(df_writer_init(&w->base, &ops,
                          strcmp(path, "-") == 0 ? "standard output" : path,
                          header, options));
    if (options->resume)
        return DF_FAIL(DF_UNSUPPORTED, "%s: a stream can't be resumed", path);
    if (strcmp(path, "-") == 0)
        w->fd = STDOUT_FILENO;
    else
        DF_TRY(open_file(w, path, options->force));
    return put_header(w);
}

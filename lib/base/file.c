#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_internal.h"

/* Linux moves at most 2,147,479,552 bytes in one write.  */
enum {
    WRITE_MAX = 1 << 30
};

static df_status
map_fd(struct df_file *out, int fd, const char *path)
{
    struct stat st;

    if (fstat(fd, &st))
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return DF_FAIL(DF_IO, "%s: is a folder", path);
    if (!S_ISREG(st.st_mode))
        return DF_FAIL(DF_IO, "%s: not a regular file", path);
    out->data = (const uint8_t *) "";
    out->size = (size_t) st.st_size;
    if (out->size == 0)
        return DF_OK;
    void *p = mmap(NULL, out->size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", path, strerror(errno));
    out->data = p;
    return DF_OK;
}

df_status
df_file_map(struct df_file *out, const char *path)
{
    /* A pipe that nobody writes to would block.  */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    df_status status;

    *out = (struct df_file){(const uint8_t *) "", 0};
    if (fd < 0)
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", path, strerror(errno));
    status = map_fd(out, fd, path);
    close(fd);
    return status;
}

void
df_file_unmap(struct df_file *file)
{
    if (file->size > 0)
        munmap((void *) file->data, file->size);
    *file = (struct df_file){(const uint8_t *) "", 0};
}

bool
df_file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

df_status
df_write_all(int fd, const void *data, size_t size, const char *name)
{
    const char *p = data;

    while (size > 0) {
        ssize_t n = write(fd, p, size < WRITE_MAX ? size : WRITE_MAX);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return DF_FAIL_ERRNO(DF_IO, "%s: %s", name, strerror(errno));
        p += n;
        size -= (size_t) n;
    }
    return DF_OK;
}

df_status
df_file_writer_open(struct df_file_writer *out, const char *path)
{
    *out = (struct df_file_writer){.path = strdup(path), .fd = -1};
    if (!out->path || asprintf(&out->aside, "%s.tmp", path) < 0) {
        free(out->path);
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory for its name", path);
    }
    out->fd = open(out->aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out->fd >= 0)
        return DF_OK;
    df_status status =
        DF_FAIL_ERRNO(DF_IO, "%s: %s", out->aside, strerror(errno));
    free(out->aside);
    free(out->path);
    return status;
}

df_status
df_file_writer_put(struct df_file_writer *writer, const void *data,
                   size_t size)
{
    return df_write_all(writer->fd, data, size, writer->path);
}

df_status
df_file_writer_close(struct df_file_writer *writer, df_status status)
{
    const char *path = writer->path;

    if (status == DF_OK && fsync(writer->fd))
        status = DF_FAIL_ERRNO(DF_IO, "%s: %s", path, strerror(errno));
    if (close(writer->fd) && status == DF_OK)
        status = DF_FAIL_ERRNO(DF_IO, "%s: %s", path, strerror(errno));
    if (status == DF_OK && rename(writer->aside, path))
        status = DF_FAIL_ERRNO(DF_IO, "%s: %s", path, strerror(errno));
    if (status != DF_OK)
        unlink(writer->aside);
    free(writer->aside);
    free(writer->path);
    *writer = (struct df_file_writer){.fd = -1};
    return status;
}

df_status
df_file_write(const char *path, const void *data, size_t size)
{
    struct df_file_writer writer;
    df_status status;

    DF_TRY(df_file_writer_open(&writer, path));
    status = df_file_writer_put(&writer, data, size);
    return df_file_writer_close(&writer, status);
}

char *
df_path_join(const char *dir, const char *name)
{
    char *path;

    return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

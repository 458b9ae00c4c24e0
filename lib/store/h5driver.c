/* The file driver that HDF5 runs over.  */

#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if __has_include(<H5FDdevelop.h>)
#    include <H5FDdevelop.h>
#endif

#include "store/h5io_internal.h"

enum {
    MOVE_MAX = 1 << 30, /* bytes in one call of the system */
    VALUE = 600         /* of the driver; those from 512 on are free */
};

/* HDF5 has one state for the process: so its lock is the process's too.  */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void
df_h5_lock(struct df_h5_quiet *before)
{
    pthread_mutex_lock(&lock);
    /* Of no effect but on the first call: HDF5 has nothing to close at exit,
       as we close our files, and after a damaged one it would say that it
       goes round in circles.  */
    (void) !H5dont_atexit();
    H5Eget_auto2(H5E_DEFAULT, &before->func, &before->data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void
df_h5_unlock(const struct df_h5_quiet *before)
{
    H5Eset_auto2(H5E_DEFAULT, before->func, before->data);
    pthread_mutex_unlock(&lock);
}

bool
df_read_at(int fd, void *bytes, size_t size, uint64_t addr)
{
    char *p = bytes;

    while (size > 0) {
        ssize_t n =
            pread(fd, p, size < MOVE_MAX ? size : MOVE_MAX, (off_t) addr);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        if (n == 0) {
            memset(p, 0, size);
            return true;
        }
        p += n;
        addr += (uint64_t) n;
        size -= (size_t) n;
    }
    return true;
}

bool
df_write_at(int fd, const void *bytes, size_t size, uint64_t addr)
{
    const char *p = bytes;

    while (size > 0) {
        ssize_t n =
            pwrite(fd, p, size < MOVE_MAX ? size : MOVE_MAX, (off_t) addr);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        p += n;
        addr += (uint64_t) n;
        size -= (size_t) n;
    }
    return true;
}

/* What HDF5 holds; the io is its opener's.  */
struct driver_file {
    H5FD_t pub; /* must be first */
    struct df_h5_io *io;
};

static struct driver_file *
file_of(const H5FD_t *file)
{
    return (struct driver_file *) file;
}

static H5FD_t *
driver_open(const char *name, unsigned flags, hid_t fapl, haddr_t maxaddr)
{
    struct df_h5_io *const *io = H5Pget_driver_info(fapl);
    struct driver_file *file = calloc(1, sizeof *file);

    (void) name;
    (void) flags;
    (void) maxaddr;
    if (!file || !io) {
        free(file);
        return NULL;
    }
    file->io = *io;
    file->io->users++;
    return &file->pub;
}

static herr_t
driver_close(H5FD_t *file)
{
    struct df_h5_io *io = file_of(file)->io;

    io->users--;
    if (io->orphaned)
        df_h5_io_free(io);
    free(file);
    return 0;
}

/* Every opening is a file of its own, so that none depends on another's
   descriptor.  */
static int
driver_cmp(const H5FD_t *a, const H5FD_t *b)
{
    return a < b ? -1 : a > b;
}

static herr_t
driver_query(const H5FD_t *file, unsigned long *flags)
{
    (void) file;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA
             | H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t
driver_get_eoa(const H5FD_t *file, H5FD_mem_t type)
{
    (void) type;
    return file_of(file)->io->end;
}

static herr_t
driver_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t addr)
{
    (void) type;
    file_of(file)->io->end = addr;
    return 0;
}

static haddr_t
driver_get_eof(const H5FD_t *file, H5FD_mem_t type)
{
    (void) type;
    return file_of(file)->io->size;
}

/* Lay P over the SIZE bytes at ADDR.  */
static void
lay_over(const struct df_h5_patch *p, uint64_t addr, size_t size,
         uint8_t *bytes)
{
    uint64_t from = addr > p->addr ? addr : p->addr;
    uint64_t to =
        addr + size < p->addr + p->size ? addr + size : p->addr + p->size;

    if (from >= to)
        return;
    if (p->bytes)
        memcpy(bytes + (from - addr), p->bytes + (from - p->addr), to - from);
    else
        memset(bytes + (from - addr), 0, to - from);
}

/* A reader sees what was there at the last commit, so of two pieces from the
   journal the older counts; a writer sees what it wrote last, even if it
   came to nothing.  */
static void
patch(const struct df_h5_io *io, uint64_t addr, size_t size, uint8_t *bytes)
{
    size_t n = io->n_patches;

    for (size_t i = 0; i < n; i++)
        lay_over(&io->patches[io->writable ? i : n - 1 - i], addr, size,
                 bytes);
}

static herr_t
driver_read(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t addr,
            size_t size, void *bytes)
{
    const struct df_h5_io *io = file_of(file)->io;

    (void) dxpl;
    if (io->locate && type == H5FD_MEM_DRAW)
        return io->locate(io->arg, addr, size, bytes) ? 0 : -1;
    if (!df_read_at(io->fd, bytes, size, addr))
        return -1;
    patch(io, addr, size, bytes);
    return 0;
}

static bool
put(struct df_h5_io *io, uint64_t addr, size_t size, const void *bytes)
{
    if (addr < io->committed) {
        uint64_t old = io->committed - addr;

        if (df_h5_journal_keep(io, addr, bytes, size < old ? size : old)
            != DF_OK) {
            if (!io->sys_errno) { /* not the system's: no memory */
                io->sys_errno = ENOMEM;
                io->refused = size;
            }
            return false;
        }
    }
    if (df_write_at(io->fd, bytes, size, addr))
        return true;
    io->sys_errno = errno;
    io->refused = size;
    return false;
}

/* HDF5 isn't told of a write that is refused: it would be left with a file
   that it can't close, and fail at the end of the process.  It goes on with
   what it wrote in memory, and we give the file up at the next look at
   io->sys_errno.  */
static herr_t
driver_write(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t addr,
             size_t size, const void *bytes)
{
    struct df_h5_io *io = file_of(file)->io;

    (void) type;
    (void) dxpl;
    if (!io->writable)
        return -1;
    if (io->dead || io->sys_errno || !put(io, addr, size, bytes))
        return df_h5_io_patch(io, addr, size, bytes) == DF_OK ? 0 : -1;
    if (addr + size > io->size)
        io->size = addr + size;
    return 0;
}

/* The file may grow here; it is cut when it is finished.  */
static herr_t
driver_truncate(H5FD_t *file, hid_t dxpl, hbool_t closing)
{
    struct df_h5_io *io = file_of(file)->io;

    (void) dxpl;
    (void) closing;
    if (io->dead || io->sys_errno || !io->writable || io->end <= io->size)
        return 0;
    if (ftruncate(io->fd, (off_t) io->end) == 0) {
        io->size = io->end;
        return 0;
    }
    io->sys_errno = errno;
    io->refused = io->end - io->size;
    return 0;
}

static const H5FD_class_t driver = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = VALUE,
#endif
    .name = "dflash",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(struct df_h5_io *),
    .open = driver_open,
    .close = driver_close,
    .cmp = driver_cmp,
    .query = driver_query,
    .get_eoa = driver_get_eoa,
    .set_eoa = driver_set_eoa,
    .get_eof = driver_get_eof,
    .read = driver_read,
    .write = driver_write,
    .truncate = driver_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

hid_t
df_h5_io_access(struct df_h5_io *io)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);

    /* HDF5 looks at the driver once more when it has closed the file.  */
    if (io->driver < 0)
        io->driver = H5FDregister(&driver);
    if (fapl >= 0 && io->driver >= 0
        && H5Pset_driver(fapl, io->driver, &io) >= 0
        && H5Pset_fclose_degree(fapl, H5F_CLOSE_STRONG) >= 0
        && H5Pset_libver_bounds(fapl, H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0)
        return fapl;
    if (fapl >= 0)
        H5Pclose(fapl);
    return -1;
}

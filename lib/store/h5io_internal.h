/* h5io_internal.h - how the bytes of an HDF5 file get to disk and back.

   HDF5 updates its metadata in place, so a process that dies within a flush
   can leave a file that nobody can open.  Here HDF5 runs over a file driver
   of our own that keeps a journal: before a byte is overwritten that the
   last commit relied on, the old one goes to PATH.journal.  A commit empties
   the journal; whoever opens a file with a journal sees the last commit,
   bit for bit: a reader in memory, a writer by putting the bytes back.

   The driver also knows which write the system refused, and why, whatever
   HDF5 makes of it, and takes the lock on the file.

   HDF5 may not be thread-safe, and where it is, it runs one call at a time:
   so all our calls are behind one lock of the process.  Functions here other
   than df_h5_lock want it held.  */

#ifndef DF_H5IO_INTERNAL_H
#define DF_H5IO_INTERNAL_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

#include "dflash/error.h"

/* Take the lock and silence HDF5's own messages; put back what was.  */
struct df_h5_quiet {
    H5E_auto2_t func;
    void *data;
};
void df_h5_lock(struct df_h5_quiet *before);
void df_h5_unlock(const struct df_h5_quiet *before);

/* An old piece of the file, from its journal.  */
struct df_h5_patch {
    uint64_t addr, size;
    uint8_t *bytes; /* NULL: zeros */
};

struct df_h5_io {
    char *path;
    int fd;
    hid_t driver; /* -1: none yet */
    bool writable;
    size_t users;  /* files that HDF5 holds over it: 0 or 1 */
    bool orphaned; /* to be freed by the last of them */
    uint64_t size; /* of the file as HDF5 sees it */
    uint64_t end;  /* of what HDF5 has allocated in it */

    /* If not NULL, told where data lie, rather than that they are read to TO;
       false makes HDF5's call fail.  */
    bool (*locate)(void *arg, uint64_t addr, size_t size, const void *to);
    void *arg;

    /* Writing.  */
    char *journal_path;
    int journal; /* -1: none */
    uint64_t journal_size;
    uint64_t committed; /* size of the file at the last commit */
    bool dead;          /* the file is given up: writes go to PATCHES */
    int sys_errno;      /* of the first write refused, or 0 */
    uint64_t refused;   /* its bytes */

    /* Of a file whose writer died: what is in its journal.  While writing:
       what was refused or dropped.  */
    struct df_h5_patch *patches; /* oldest first */
    size_t n_patches;
};

enum df_h5_open {
    DF_H5_READ,
    DF_H5_CREATE, /* must not exist */
    DF_H5_REPLACE,
    DF_H5_RESUME /* create it if it doesn't exist */
};

/* Open and lock PATH.  Of a file that was begun but never committed, and of
   a new one, SIZE is 0.  The caller frees *OUT (df_h5_io_free).  DF_INVALID
   for DF_H5_CREATE of what exists; DF_IO.  */
DF_MUST_USE df_status df_h5_io_open(struct df_h5_io **out, const char *path,
                                    enum df_h5_open how);

/* HDF5 has flushed: make what the file holds now the last commit.  */
DF_MUST_USE df_status df_h5_io_commit(struct df_h5_io *io);

/* HDF5 has closed the file, which was committed: cut what it doesn't use,
   sync, and remove the journal.  */
DF_MUST_USE df_status df_h5_io_finish(struct df_h5_io *io);

/* HDF5 has closed the file while io->dead: return to the last commit.  */
DF_MUST_USE df_status df_h5_io_roll_back(struct df_h5_io *io);

/* IO may be NULL.  Where HDF5 couldn't close its file, what it does with it
   later comes to nothing.  */
void df_h5_io_free(struct df_h5_io *io);

/* A list of properties that opens IO's file through the driver, or a
   negative number.  The caller closes it (H5Pclose).  */
hid_t df_h5_io_access(struct df_h5_io *io);

/* Why the call that FORMAT describes failed: the system's reason if it
   refused a write (with bytes needed and free), else HDF5's.  Returns DF_IO
   for a file being written, else DF_FORMAT.  */
DF_PRINTF(2, 3)
df_status df_h5_fail(const struct df_h5_io *io, const char *format, ...);

/* HDF5's own words for why its last call failed, into BUF.  */
void df_h5_reason(char *buf, size_t size);

/* Let HDF5 see the SIZE BYTES (NULL: zeros) at ADDR, whatever the file has
   there.  */
DF_MUST_USE df_status df_h5_io_patch(struct df_h5_io *io, uint64_t addr,
                                     size_t size, const void *bytes);

/* The name of PATH's journal, to be freed; NULL: no memory.  */
char *df_h5_journal_path(const char *path);

/* The journal.  Keep the SIZE bytes at ADDR, which BYTES will overwrite.  */
DF_MUST_USE df_status df_h5_journal_keep(struct df_h5_io *io, uint64_t addr,
                                         const void *bytes, size_t size);
/* Begin an empty one for a file of io->committed bytes.  */
DF_MUST_USE df_status df_h5_journal_reset(struct df_h5_io *io);
/* Read the journal of io->path into PATCHES, and set COMMITTED.  *FOUND:
   whether there is one that says anything.  */
DF_MUST_USE df_status df_h5_journal_load(struct df_h5_io *io, bool *found);
/* Put its pieces back, and cut the file to its committed size.  */
DF_MUST_USE df_status df_h5_journal_apply(struct df_h5_io *io);

/* Read or write SIZE bytes at ADDR, all of them; bytes beyond the end read
   as zeros.  False, with errno, if the system refuses.  */
bool df_read_at(int fd, void *bytes, size_t size, uint64_t addr);
bool df_write_at(int fd, const void *bytes, size_t size, uint64_t addr);

#endif

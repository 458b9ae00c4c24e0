/* The journal of a file being written:

       16 bytes of magic | u64 size committed | u64 hash of that
       pieces, each:  u64 addr, size, stored, hash | STORED bytes

   STORED is SIZE, or 0 for zeros.  A piece is whole in the journal before
   its place in the file is overwritten, so one that is cut short or doesn't
   agree with its hash was never needed: reading ends there.  Of two pieces
   for a place the earlier counts, so they are put back last to first.  */

#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file_internal.h"
#include "base/hash_internal.h"
#include "store/h5io_internal.h"

enum {
    BLOCK = 1 << 20 /* bytes compared at a time */
};

static const char magic[16] = "DFLASH-JOURNAL1";

struct head {
    char magic[16];
    uint64_t committed, hash;
};

struct piece {
    uint64_t addr, size, stored, hash;
};

char *
df_h5_journal_path(const char *path)
{
    char *journal;

    return asprintf(&journal, "%s.journal", path) < 0 ? NULL : journal;
}

static uint64_t
piece_hash(const struct piece *p, const void *bytes)
{
    return df_hash_u64(df_hash_bytes(p, offsetof(struct piece, hash))
                       + df_hash_bytes(bytes, p->stored));
}

static df_status
refused(struct df_h5_io *io, uint64_t size)
{
    if (!io->sys_errno) {
        io->sys_errno = errno;
        io->refused = size;
    }
    return df_h5_fail(io, "writing its journal");
}

df_status
df_h5_journal_reset(struct df_h5_io *io)
{
    struct head head = {.committed = io->committed};

    memcpy(head.magic, magic, sizeof magic);
    head.hash = df_hash_u64(io->committed);
    if (ftruncate(io->journal, 0)
        || !df_write_at(io->journal, &head, sizeof head, 0))
        return refused(io, sizeof head);
    io->journal_size = sizeof head;
    return DF_OK;
}

static df_status
keep_piece(struct df_h5_io *io, uint64_t addr, const uint8_t *old, size_t size)
{
    struct piece piece = {.addr = addr, .size = size};
    size_t zeros = 0;

    while (zeros < size && old[zeros] == 0)
        zeros++;
    piece.stored = zeros == size ? 0 : size;
    piece.hash = piece_hash(&piece, old);
    /* The bytes first: without its head they don't count.  */
    if (!df_write_at(io->journal, old, piece.stored,
                     io->journal_size + sizeof piece)
        || !df_write_at(io->journal, &piece, sizeof piece, io->journal_size))
        return refused(io, sizeof piece + size);
    io->journal_size += sizeof piece + piece.stored;
    return DF_OK;
}

/* Keep what will change of one block.  Most of what HDF5 writes again is
   the same, as in a chunk that rows are added to.  */
static df_status
keep_block(struct df_h5_io *io, uint8_t *old, uint64_t addr,
           const uint8_t *bytes, size_t size)
{
    size_t first = 0;

    if (!df_read_at(io->fd, old, size, addr))
        return refused(io, size);
    while (first < size && old[first] == bytes[first])
        first++;
    while (size > first && old[size - 1] == bytes[size - 1])
        size--;
    return first == size
               ? DF_OK
               : keep_piece(io, addr + first, old + first, size - first);
}

df_status
df_h5_journal_keep(struct df_h5_io *io, uint64_t addr, const void *bytes,
                   size_t size)
{
    uint8_t *old = malloc(size < BLOCK ? size : BLOCK);
    df_status status = DF_OK;

    if (!old)
        return DF_FAIL(DF_NO_MEMORY, "%s: journal", io->path);
    for (size_t at = 0; at < size && status == DF_OK; at += BLOCK)
        status = keep_block(io, old, addr + at, (const uint8_t *) bytes + at,
                            size - at < BLOCK ? size - at : BLOCK);
    free(old);
    return status;
}

df_status
df_h5_io_patch(struct df_h5_io *io, uint64_t addr, size_t size,
               const void *bytes)
{
    struct df_h5_patch *grown =
        realloc(io->patches, (io->n_patches + 1) * sizeof *grown);
    struct df_h5_patch patch = {addr, size, NULL};

    if (grown)
        io->patches = grown;
    if (bytes)
        patch.bytes = malloc(size + 1);
    if (!grown || (bytes && !patch.bytes)) {
        free(patch.bytes);
        return DF_FAIL(DF_NO_MEMORY, "%s: journal", io->path);
    }
    if (bytes)
        memcpy(patch.bytes, bytes, size);
    io->patches[io->n_patches++] = patch;
    return DF_OK;
}

static df_status
load_pieces(struct df_h5_io *io, const struct df_file *file)
{
    size_t at = sizeof(struct head);
    struct piece piece;

    while (file->size - at >= sizeof piece) {
        const uint8_t *bytes = file->data + at + sizeof piece;

        memcpy(&piece, file->data + at, sizeof piece);
        if (piece.stored > file->size - at - sizeof piece
            || (piece.stored && piece.stored != piece.size)
            || piece.addr > io->committed
            || piece.size > io->committed - piece.addr
            || piece.hash != piece_hash(&piece, bytes))
            return DF_OK;
        DF_TRY(df_h5_io_patch(io, piece.addr, piece.size,
                              piece.stored ? bytes : NULL));
        at += sizeof piece + piece.stored;
    }
    return DF_OK;
}

df_status
df_h5_journal_load(struct df_h5_io *io, bool *found)
{
    struct df_file file;
    struct head head;
    df_status status = DF_OK;

    *found = false;
    if (!df_file_exists(io->journal_path))
        return DF_OK;
    DF_TRY(df_file_map(&file, io->journal_path));
    if (file.size >= sizeof head) {
        memcpy(&head, file.data, sizeof head);
        *found = memcmp(head.magic, magic, sizeof magic) == 0
                 && head.hash == df_hash_u64(head.committed);
        io->committed = head.committed;
        if (*found)
            status = load_pieces(io, &file);
    }
    df_file_unmap(&file);
    return status;
}

df_status
df_h5_journal_apply(struct df_h5_io *io)
{
    for (size_t i = io->n_patches; i-- > 0;) {
        const struct df_h5_patch *p = &io->patches[i];
        uint8_t *zeros = p->bytes ? NULL : calloc(1, p->size + 1);
        bool good = (p->bytes || zeros)
                    && df_write_at(io->fd, p->bytes ? p->bytes : zeros,
                                   p->size, p->addr);

        free(zeros);
        if (!good)
            return DF_FAIL_ERRNO(DF_IO, "%s: returning to the last commit: %s",
                                 io->path, strerror(errno));
    }
    if (ftruncate(io->fd, (off_t) io->committed))
        return DF_FAIL_ERRNO(DF_IO, "%s: returning to the last commit: %s",
                             io->path, strerror(errno));
    io->size = io->committed;
    return DF_OK;
}

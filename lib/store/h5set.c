/* Datasets: rows in and out of them.  Memory type and file type are always
   the same, so HDF5 converts nothing.  */

#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "store/h5_internal.h"

const char *const df_h5_tables[DF_H5_N_TABLES] = {
    [DF_H5_OFFSETS] = "offsets",
    [DF_H5_SAMPLE_IDS] = "ids",
    [DF_H5_INDICES] = "indices",
};

enum transfer {
    READ,
    WRITE
};

static herr_t
move(const struct df_h5_set *set, hid_t memory, hid_t space,
     enum transfer transfer, void *data)
{
    return transfer == READ
               ? H5Dread(set->id, set->type, memory, space, H5P_DEFAULT, data)
               : H5Dwrite(set->id, set->type, memory, space, H5P_DEFAULT,
                          data);
}

static bool
move_rows(const struct df_h5_set *set, uint64_t first, uint64_t n,
          enum transfer transfer, void *data)
{
    hsize_t start[2] = {first, 0}, count[2] = {n, set->cols};
    hid_t memory = H5Screate_simple(set->rank, count, NULL);
    hid_t space = H5Dget_space(set->id);
    bool good =
        memory >= 0 && space >= 0
        && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL)
               >= 0
        && move(set, memory, space, transfer, data) >= 0;

    if (memory >= 0)
        H5Sclose(memory);
    if (space >= 0)
        H5Sclose(space);
    return good;
}

df_status
df_h5_read_rows(const struct df_h5 *h5, const struct df_h5_set *set,
                uint64_t first, uint64_t n, void *data)
{
    if (n == 0 || move_rows(set, first, n, READ, data))
        return DF_OK;
    return df_h5_fail(h5->io, "%s: reading rows %" PRIu64 " to %" PRIu64,
                      set->name, first, first + n - 1);
}

df_status
df_h5_write_rows(const struct df_h5 *h5, const struct df_h5_set *set,
                 uint64_t first, uint64_t n, const void *data)
{
    if (n == 0
        || (move_rows(set, first, n, WRITE, (void *) data)
            && !h5->io->sys_errno))
        return DF_OK;
    return df_h5_fail(h5->io, "%s: writing rows %" PRIu64 " to %" PRIu64,
                      set->name, first, first + n - 1);
}

df_status
df_h5_resize(const struct df_h5 *h5, struct df_h5_set *set, uint64_t rows)
{
    hsize_t dims[2] = {rows, set->cols};

    if (rows == set->rows)
        return DF_OK;
    if (H5Dset_extent(set->id, dims) < 0 || h5->io->sys_errno)
        return df_h5_fail(h5->io, "%s: %" PRIu64 " rows", set->name, rows);
    set->rows = rows;
    return DF_OK;
}

/* Whether all chunks that hold ROW are stored.  That is a look-up in the
   index of chunks, while to count them HDF5 goes through all.  It says that
   a chunk is not there by failing with a text, or, in later versions, by
   size 0.  */
static df_status
is_stored(const struct df_h5 *h5, const struct df_h5_set *set, uint64_t row,
          bool *stored)
{
    hsize_t at[2] = {row / set->chunk_rows * set->chunk_rows, 0};

    *stored = true;
    for (at[1] = 0; at[1] < set->cols && *stored; at[1] += set->chunk_cols) {
        hsize_t bytes = 0;

        if (H5Dget_chunk_storage_size(set->id, at, &bytes) >= 0) {
            *stored = bytes > 0;
            continue;
        }
        char reason[128];
        df_h5_reason(reason, sizeof reason);
        *stored = false;
        if (!strstr(reason, "not allocated"))
            return df_h5_fail(h5->io, "%s: looking for row %" PRIu64,
                              set->name, row);
    }
    return DF_OK;
}

/* A dataset in one piece has its place from the first write on.  */
static df_status
find_whole(const struct df_h5 *h5, const struct df_h5_set *set, bool *stored)
{
    H5D_space_status_t space;

    if (H5Dget_space_status(set->id, &space) < 0)
        return df_h5_fail(h5->io, "%s: looking for its data", set->name);
    *stored = space == H5D_SPACE_STATUS_ALLOCATED;
    return DF_OK;
}

df_status
df_h5_find_hole(const struct df_h5 *h5, const struct df_h5_set *set,
                uint64_t first, uint64_t n, uint64_t *at, uint64_t *hole)
{
    uint64_t end = first + n, row = first;

    *hole = 0;
    while (row < end) {
        uint64_t next = end;
        bool stored = false;

        if (set->chunk_rows) {
            next = (row / set->chunk_rows + 1) * set->chunk_rows;
            next = next < end ? next : end;
            DF_TRY(is_stored(h5, set, row, &stored));
        } else {
            DF_TRY(find_whole(h5, set, &stored));
        }
        if (stored && *hole)
            return DF_OK;
        if (!stored) {
            *at = *hole ? *at : row;
            *hole = next - *at;
        }
        row = next;
    }
    return DF_OK;
}

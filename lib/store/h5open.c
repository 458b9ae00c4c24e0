/* Opening what is there: every dataset must be as the header says, and the
   tables must agree with each other.  */

#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/h5_internal.h"

void
df_h5_init(struct df_h5 *h5)
{
    *h5 = (struct df_h5){.file = -1, .committed = -1};
    for (size_t i = 0; i < DF_MAX_FIELDS; i++)
        h5->sets[i].id = h5->sets[i].type = -1;
    for (int i = 0; i < DF_H5_N_TABLES; i++)
        h5->tables[i].id = h5->tables[i].type = -1;
}

static bool
close_set(struct df_h5_set *set)
{
    bool good = set->id < 0 || H5Dclose(set->id) >= 0;

    if (set->type >= 0)
        H5Tclose(set->type);
    set->id = set->type = -1;
    return good;
}

df_status
df_h5_close(struct df_h5 *h5)
{
    bool good = h5->committed < 0 || H5Dclose(h5->committed) >= 0;

    for (size_t i = 0; i < DF_MAX_FIELDS; i++)
        good &= close_set(&h5->sets[i]);
    for (int i = 0; i < DF_H5_N_TABLES; i++)
        good &= close_set(&h5->tables[i]);
    good &= h5->file < 0 || H5Fclose(h5->file) >= 0;
    h5->file = h5->committed = -1;
    return good && (!h5->io || h5->io->dead || !h5->io->sys_errno)
               ? DF_OK
               : df_h5_fail(h5->io, "closing it");
}

static hssize_t
count_points(hid_t attribute)
{
    hid_t space = H5Aget_space(attribute);
    hssize_t n = H5Sget_simple_extent_npoints(space);

    H5Sclose(space);
    return n;
}

/* The text attribute NAME of OBJECT into BUF; "" if there is none of fixed
   length.  One of variable length lies in a heap, which alone of all metadata
   has no checksum: it isn't touched.  */
static void
get_attribute(hid_t object, const char *name, char *buf, size_t size)
{
    hid_t id = -1, type = -1;

    memset(buf, 0, size);
    if (H5Aexists(object, name) > 0)
        id = H5Aopen(object, name, H5P_DEFAULT);
    if (id >= 0)
        type = H5Aget_type(id);
    if (type >= 0 && H5Tget_class(type) == H5T_STRING
        && H5Tis_variable_str(type) == 0 && H5Tget_size(type) < size
        && count_points(id) == 1 && H5Aread(id, type, buf) < 0)
        memset(buf, 0, size);
    if (type >= 0)
        H5Tclose(type);
    if (id >= 0)
        H5Aclose(id);
}

/* bf16 as HDF5 can describe it: uint16 that is said to be, or a float of
   one sign, 8 exponent and 7 fraction bits.  */
static bool
is_bf16(hid_t type, hid_t set)
{
    char name[16];
    size_t sign, exponent, exponent_size, fraction, fraction_size;

    if (H5Tget_class(type) == H5T_FLOAT)
        return H5Tget_size(type) == 2 && H5Tget_order(type) == H5T_ORDER_LE
               && H5Tget_fields(type, &sign, &exponent, &exponent_size,
                                &fraction, &fraction_size)
                      >= 0
               && sign == 15 && exponent == 7 && exponent_size == 8
               && fraction == 0 && fraction_size == 7
               && H5Tget_ebias(type) == 127;
    get_attribute(set, "dtype", name, sizeof name);
    return H5Tequal(type, H5T_STD_U16LE) > 0 && strcmp(name, "bfloat16") == 0;
}

static bool
is_type(hid_t type, hid_t set, enum df_dtype dtype)
{
    switch (dtype) {
    case DF_U8:
        return H5Tequal(type, H5T_STD_U8LE) > 0;
    case DF_I32:
        return H5Tequal(type, H5T_STD_I32LE) > 0;
    case DF_BF16:
        return is_bf16(type, set);
    default:
        return H5Tequal(type, H5T_STD_U64LE) > 0;
    }
}

/* How its rows are stored.  */
static df_status
look_at_chunks(const struct df_h5 *h5, struct df_h5_set *set)
{
    hsize_t chunk[2] = {0, 1};
    hid_t create = H5Dget_create_plist(set->id);
    H5D_layout_t layout = H5Pget_layout(create);
    int filters = H5Pget_nfilters(create);

    if (layout == H5D_CHUNKED)
        H5Pget_chunk(create, set->rank, chunk);
    H5Pclose(create);
    set->chunk_rows = chunk[0];
    set->chunk_cols = set->rank == 1 ? 1 : chunk[1];
    if (filters != 0)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: %s has filters; compression isn't supported",
                       h5->io->path, set->name);
    if (layout != H5D_CHUNKED && layout != H5D_CONTIGUOUS)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: %s is neither chunked nor in one piece",
                       h5->io->path, set->name);
    return DF_OK;
}

/* Chunks larger than the cache are read past it, only the rows wanted: for
   samples in random order that moves every byte once.  A writer keeps the
   chunk that it fills.  */
static hid_t
open_id(const struct df_h5 *h5, const char *name)
{
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS), id = -1;

    if (!h5->io->writable && access >= 0)
        H5Pset_chunk_cache(access, 0, 0, 1.0);
    if (access >= 0)
        id = H5Dopen2(h5->file, name, access);
    if (access >= 0)
        H5Pclose(access);
    return id;
}

static df_status
open_set(const struct df_h5 *h5, struct df_h5_set *set, const char *name,
         enum df_dtype dtype, int rank, size_t cols)
{
    hsize_t dims[2] = {0, 1};
    hid_t space;
    int found;

    snprintf(set->name, sizeof set->name, "%s", name);
    if (H5Lexists(h5->file, name, H5P_DEFAULT) <= 0
        || (set->id = open_id(h5, name)) < 0)
        return DF_FAIL(DF_FORMAT, "%s: no dataset %s", h5->io->path, name);
    space = H5Dget_space(set->id);
    found = H5Sget_simple_extent_ndims(space);
    if (found == rank)
        H5Sget_simple_extent_dims(space, dims, NULL);
    H5Sclose(space);
    set->rank = rank;
    set->rows = dims[0];
    set->cols = cols;
    if (found != rank || dims[1] != cols)
        return DF_FAIL(DF_SHAPE,
                       "%s: %s has rank %d and %llu columns, not %d and %zu",
                       h5->io->path, name, found, (unsigned long long) dims[1],
                       rank, cols);
    set->type = H5Dget_type(set->id);
    if (!is_type(set->type, set->id, dtype))
        return DF_FAIL(DF_FORMAT, "%s: %s isn't %s%s", h5->io->path, name,
                       df_dtype_name(dtype),
                       dtype == DF_BF16 ? ": neither uint16 with the attribute"
                                          " dtype = bfloat16 nor such a float"
                                        : "");
    return look_at_chunks(h5, set);
}

/* The text of the header, to be freed.  */
static df_status
read_header(const struct df_h5 *h5, char **out)
{
    hid_t set = H5Dopen2(h5->file, "header", H5P_DEFAULT);
    hid_t type = set < 0 ? -1 : H5Dget_type(set);
    hid_t space = set < 0 ? -1 : H5Dget_space(set);
    size_t size = type < 0 ? 0 : H5Tget_size(type);
    bool good = type >= 0 && H5Tget_class(type) == H5T_STRING
                && H5Tis_variable_str(type) == 0
                && H5Sget_simple_extent_npoints(space) == 1
                && size <= DF_MAX_HEADER_TEXT;

    *out = good ? calloc(1, size + 1) : NULL;
    good =
        *out && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) >= 0;
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (set >= 0)
        H5Dclose(set);
    if (good)
        return DF_OK;
    free(*out);
    *out = NULL;
    return DF_FAIL(DF_FORMAT, "%s: no header: a string of fixed length",
                   h5->io->path);
}

static df_status
read_marker(struct df_h5 *h5)
{
    uint64_t marker[2];
    hid_t space;
    hssize_t n = 0;

    h5->committed = H5Dopen2(h5->file, "committed", H5P_DEFAULT);
    if (h5->committed >= 0) {
        space = H5Dget_space(h5->committed);
        n = H5Sget_simple_extent_npoints(space);
        H5Sclose(space);
    }
    if (n != 2
        || H5Dread(h5->committed, H5T_STD_U64LE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                   marker)
               < 0)
        return DF_FAIL(DF_FORMAT, "%s: no marker of what is committed",
                       h5->io->path);
    h5->n_samples = marker[0];
    h5->n_tokens = marker[1];
    return DF_OK;
}

/* What is committed must be there, and be possible: rows that were never
   stored take no bytes, but not all can be such.  */
static df_status
check_rows(const struct df_h5 *h5)
{
    if (h5->n_tokens > h5->io->size || h5->n_samples > h5->io->size)
        return DF_FAIL(DF_FORMAT,
                       "%s: %" PRIu64 " samples of %" PRIu64
                       " tokens in %" PRIu64 " bytes",
                       h5->io->path, h5->n_samples, h5->n_tokens,
                       h5->io->size);
    for (int i = 0; i < DF_H5_N_TABLES; i++)
        if (h5->tables[i].rows < h5->n_samples
            || (i == DF_H5_OFFSETS && h5->tables[i].rows == h5->n_samples))
            return DF_FAIL(
                DF_FORMAT,
                "%s: %s has %llu rows, but %" PRIu64 " samples are committed",
                h5->io->path, h5->tables[i].name,
                (unsigned long long) h5->tables[i].rows, h5->n_samples);
    return DF_OK;
}

df_status
df_h5_check_extents(const struct df_h5 *h5, uint64_t *rows)
{
    const struct df_h5_set *least = &h5->sets[0];

    for (size_t i = 1; i < h5->n_fields; i++)
        if (h5->sets[i].rows < least->rows)
            least = &h5->sets[i];
    *rows = least->rows;
    if (least->rows >= h5->n_tokens)
        return DF_OK;
    return DF_FAIL(DF_FORMAT,
                   "%s: %s has %llu rows, but %" PRIu64
                   " tokens are committed",
                   h5->io->path, least->name, (unsigned long long) least->rows,
                   h5->n_tokens);
}

static df_status
open_sets(struct df_h5 *h5)
{
    h5->n_fields = df_capture_fields(&h5->head.header, h5->fields);
    for (size_t i = 0; i < h5->n_fields; i++) {
        const struct df_field *f = &h5->fields[i];

        DF_TRY(
            open_set(h5, &h5->sets[i], f->name, f->dtype, f->rank, f->cols));
    }
    for (int i = 0; i < DF_H5_N_TABLES; i++)
        DF_TRY(open_set(h5, &h5->tables[i], df_h5_tables[i], DF_U64, 1, 1));
    return check_rows(h5);
}

/* HDF5's library trusts what it reads: in its older formats a damaged file
   can crash it, or keep it busy for ever.  In the one of 1.10 all metadata
   have checksums, which it looks at first.  */
static df_status
check_superblock(const struct df_h5_io *io)
{
    enum {
        SIGNATURE = 8,
        VERSION = 3
    };
    uint8_t start[SIGNATURE + 1];

    if (!df_read_at(io->fd, start, sizeof start, 0))
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", io->path, strerror(errno));
    if (memcmp(start, DF_H5_SIGNATURE, SIGNATURE) != 0)
        return DF_FAIL(DF_FORMAT, "%s: is not an HDF5 file", io->path);
    if (start[SIGNATURE] != VERSION)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: HDF5 with a superblock of version %d, not %d: its "
                       "metadata have no checksums; write it with the "
                       "library's version bound to 1.10 (h5py: libver='v110')",
                       io->path, start[SIGNATURE], VERSION);
    return DF_OK;
}

df_status
df_h5_open(struct df_h5 *h5)
{
    char format[32], *text;
    hid_t access;
    df_status status;

    DF_TRY(check_superblock(h5->io));
    access = df_h5_io_access(h5->io);
    if (access >= 0) {
        h5->file =
            H5Fopen(h5->io->path,
                    h5->io->writable ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access);
        H5Pclose(access);
    }
    if (h5->file < 0)
        return df_h5_fail(h5->io, "opening it");
    get_attribute(h5->file, "format", format, sizeof format);
    if (strncmp(format, "dflash-hdf5 ", 12) != 0)
        return DF_FAIL(DF_FORMAT,
                       "%s: HDF5, but not a capture: no attribute "
                       "format = dflash-hdf5 1, a string of fixed length",
                       h5->io->path);
    if (strcmp(format, "dflash-hdf5 1") != 0)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: format is '%s'; only dflash-hdf5 1 is understood",
                       h5->io->path, format);
    DF_TRY(read_header(h5, &text));
    status = df_head_parse(&h5->head, text, strlen(text), h5->io->path);
    free(text);
    DF_TRY(status);
    DF_TRY(read_marker(h5));
    return open_sets(h5);
}

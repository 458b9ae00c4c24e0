/* A new file: datasets without rows, the header, and the marker at 0.  */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/h5_internal.h"

enum {
    CHUNK_BYTES = 256 << 10,
    SMALL_CHUNK_BYTES = 32 << 10, /* of what is narrow: less is left over */
    NARROW = 256,                 /* bytes a row */
    CACHE_CHUNKS = 2,
    CACHE_SLOTS = 31
};

static hsize_t
chunk_rows(size_t row_bytes)
{
    size_t target = row_bytes < NARROW ? SMALL_CHUNK_BYTES : CHUNK_BYTES;

    return row_bytes < target ? target / row_bytes : 1;
}

/* Properties of SET as it is created, and as it is used: appending touches
   one chunk until it is full.  */
static bool
set_properties(const struct df_h5_set *set, size_t row_bytes, hid_t create,
               hid_t access)
{
    hsize_t chunk[2] = {set->chunk_rows, set->cols};
    size_t bytes = set->chunk_rows * row_bytes;

    return create >= 0 && access >= 0
           && H5Pset_chunk(create, set->rank, chunk) >= 0
           && H5Pset_chunk_cache(access, CACHE_SLOTS, CACHE_CHUNKS * bytes,
                                 1.0)
                  >= 0;
}

static bool
create_set(const struct df_h5 *h5, struct df_h5_set *set, size_t row_bytes)
{
    hsize_t now[2] = {0, set->cols}, most[2] = {H5S_UNLIMITED, set->cols};
    hid_t space = H5Screate_simple(set->rank, now, most);
    hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS);

    if (space >= 0 && set_properties(set, row_bytes, create, access))
        set->id = H5Dcreate2(h5->file, set->name, set->type, space,
                             H5P_DEFAULT, create, access);
    if (space >= 0)
        H5Sclose(space);
    if (create >= 0)
        H5Pclose(create);
    if (access >= 0)
        H5Pclose(access);
    return set->id >= 0;
}

/* The attribute NAME = TEXT on OBJECT, of fixed length: a variable one would
   lie in a heap, which alone of all metadata has no checksum.  */
static bool
put_attribute(hid_t object, const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t id = -1;
    bool good = type >= 0 && space >= 0 && H5Tset_size(type, strlen(text)) >= 0
                && H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0
                && H5Tset_cset(type, H5T_CSET_UTF8) >= 0;

    if (good)
        id = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    good = id >= 0 && H5Awrite(id, type, text) >= 0;
    if (id >= 0)
        good &= H5Aclose(id) >= 0;
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    return good;
}

static hid_t
file_type(enum df_dtype dtype)
{
    switch (dtype) {
    case DF_U8:
        return H5T_STD_U8LE;
    case DF_I32:
        return H5T_STD_I32LE;
    case DF_BF16:
        return H5T_STD_U16LE;
    default:
        return H5T_STD_U64LE;
    }
}

static df_status
create_field(struct df_h5 *h5, size_t i)
{
    const struct df_field *f = &h5->fields[i];
    struct df_h5_set *set = &h5->sets[i];

    memcpy(set->name, f->name, sizeof set->name);
    set->type = H5Tcopy(file_type(f->dtype));
    set->rank = f->rank;
    set->cols = set->chunk_cols = f->cols;
    set->chunk_rows = chunk_rows(f->row_bytes);
    if (!create_set(h5, set, f->row_bytes)
        || (f->dtype == DF_BF16
            && !put_attribute(set->id, "dtype", "bfloat16")))
        return df_h5_fail(h5->io, "creating %s", set->name);
    return DF_OK;
}

static df_status
create_table(struct df_h5 *h5, enum df_h5_table table)
{
    struct df_h5_set *set = &h5->tables[table];

    snprintf(set->name, sizeof set->name, "%s", df_h5_tables[table]);
    set->type = H5Tcopy(H5T_STD_U64LE);
    set->rank = 1;
    set->cols = set->chunk_cols = 1;
    set->chunk_rows = chunk_rows(sizeof(uint64_t));
    if (!create_set(h5, set, sizeof(uint64_t)))
        return df_h5_fail(h5->io, "creating %s", set->name);
    return DF_OK;
}

/* The header is a dataset, as attributes end at 64 KiB.  */
static df_status
create_header(const struct df_h5 *h5)
{
    char *text;
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR), id = -1;
    bool good;

    DF_TRY(df_head_text(&text, &h5->head.header));
    good = type >= 0 && space >= 0 && H5Tset_size(type, strlen(text)) >= 0
           && H5Tset_cset(type, H5T_CSET_UTF8) >= 0;
    if (good)
        id = H5Dcreate2(h5->file, "header", type, space, H5P_DEFAULT,
                        H5P_DEFAULT, H5P_DEFAULT);
    good = id >= 0
           && H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    if (id >= 0)
        good &= H5Dclose(id) >= 0;
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    free(text);
    return good ? DF_OK : df_h5_fail(h5->io, "writing the header");
}

/* The marker lies in its object's header: it is metadata to HDF5, and has
   its place from the start.  */
static df_status
create_marker(struct df_h5 *h5)
{
    const uint64_t none[2] = {0, 0};
    hsize_t dims[1] = {2};
    hid_t space = H5Screate_simple(1, dims, NULL);
    hid_t create = H5Pcreate(H5P_DATASET_CREATE);

    if (space >= 0 && create >= 0 && H5Pset_layout(create, H5D_COMPACT) >= 0)
        h5->committed = H5Dcreate2(h5->file, "committed", H5T_STD_U64LE, space,
                                   H5P_DEFAULT, create, H5P_DEFAULT);
    if (space >= 0)
        H5Sclose(space);
    if (create >= 0)
        H5Pclose(create);
    if (h5->committed < 0
        || H5Dwrite(h5->committed, H5T_STD_U64LE, H5S_ALL, H5S_ALL,
                    H5P_DEFAULT, none)
               < 0)
        return df_h5_fail(h5->io, "writing the marker");
    return DF_OK;
}

df_status
df_h5_create(struct df_h5 *h5, const struct df_capture_header *header)
{
    const uint64_t zero = 0;
    hid_t access;

    DF_TRY(df_head_copy(&h5->head, header));
    h5->n_fields = df_capture_fields(&h5->head.header, h5->fields);
    access = df_h5_io_access(h5->io);
    if (access >= 0) {
        h5->file = H5Fcreate(h5->io->path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
        H5Pclose(access);
    }
    if (h5->file < 0 || !put_attribute(h5->file, "format", "dflash-hdf5 1"))
        return df_h5_fail(h5->io, "creating it");
    DF_TRY(create_header(h5));
    DF_TRY(create_marker(h5));
    for (size_t i = 0; i < h5->n_fields; i++)
        DF_TRY(create_field(h5, i));
    for (int i = 0; i < DF_H5_N_TABLES; i++)
        DF_TRY(create_table(h5, i));
    DF_TRY(df_h5_resize(h5, &h5->tables[DF_H5_OFFSETS], 1));
    return df_h5_write_rows(h5, &h5->tables[DF_H5_OFFSETS], 0, 1, &zero);
}

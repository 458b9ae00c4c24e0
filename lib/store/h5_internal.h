/* h5_internal.h - a capture in HDF5: the datasets, and the writer's and the
   reader's view of them.  dflash-hdf5(5) describes the file.  */

#ifndef DF_H5_INTERNAL_H
#define DF_H5_INTERNAL_H

#include "store/backend_internal.h"
#include "store/h5io_internal.h"

/* Datasets besides the fields.  A row of FIELD is a token's, of these a
   sample's.  */
enum df_h5_table {
    DF_H5_OFFSETS, /* one row more: where samples begin and the last ends */
    DF_H5_SAMPLE_IDS,
    DF_H5_INDICES,
    DF_H5_N_TABLES
};
extern const char *const df_h5_tables[DF_H5_N_TABLES];

/* A dataset that is open.  */
struct df_h5_set {
    char name[32];
    hid_t id;   /* -1: not open */
    hid_t type; /* of its elements, in memory as in the file */
    int rank;
    hsize_t cols;
    hsize_t rows;       /* extent */
    hsize_t chunk_rows; /* 0: not chunked */
    hsize_t chunk_cols;
};

/* A file of captures that is open.  */
struct df_h5 {
    struct df_h5_io *io;
    hid_t file;
    hid_t committed; /* dataset */
    struct df_head head;
    size_t n_fields;
    struct df_field fields[DF_MAX_FIELDS];
    struct df_h5_set sets[DF_MAX_FIELDS]; /* of the fields */
    struct df_h5_set tables[DF_H5_N_TABLES];
    uint64_t n_samples, n_tokens; /* committed when it was opened */
};

/* Nothing open.  */
void df_h5_init(struct df_h5 *h5);

/* Begin a file under HEADER; open and check what is there.  The caller
   closes *H5 in any case.  Hold the lock, as for all below.  */
DF_MUST_USE df_status df_h5_create(struct df_h5 *h5,
                                   const struct df_capture_header *header);
DF_MUST_USE df_status df_h5_open(struct df_h5 *h5);

/* Check that the fields have the rows that are committed: DF_FORMAT.  *ROWS of
   all are there in any case.  */
DF_MUST_USE df_status df_h5_check_extents(const struct df_h5 *h5,
                                          uint64_t *rows);

/* Close what is open but the io.  Checked: DF_IO, of a file written.  */
DF_MUST_USE df_status df_h5_close(struct df_h5 *h5);

/* Read or write rows FIRST to FIRST + N - 1 of SET, which must exist.  */
DF_MUST_USE df_status df_h5_read_rows(const struct df_h5 *h5,
                                      const struct df_h5_set *set,
                                      uint64_t first, uint64_t n, void *data);
DF_MUST_USE df_status df_h5_write_rows(const struct df_h5 *h5,
                                       const struct df_h5_set *set,
                                       uint64_t first, uint64_t n,
                                       const void *data);
/* Make SET have ROWS rows.  */
DF_MUST_USE df_status df_h5_resize(const struct df_h5 *h5,
                                   struct df_h5_set *set, uint64_t rows);

/* Find the first rows of [FIRST, FIRST+N) of SET that are in no stored
   chunk: *HOLE of them from *AT on; *HOLE is 0 if there are none.  */
DF_MUST_USE df_status df_h5_find_hole(const struct df_h5 *h5,
                                      const struct df_h5_set *set,
                                      uint64_t first, uint64_t n, uint64_t *at,
                                      uint64_t *hole);

#endif

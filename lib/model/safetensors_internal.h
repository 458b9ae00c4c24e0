/* safetensors_internal.h - one safetensors image, and a set of them.  */

#ifndef DF_SAFETENSORS_INTERNAL_H
#define DF_SAFETENSORS_INTERNAL_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file_internal.h"
#include "dflash/safetensors.h"

/* One image.  Tensor names and metadata live in HEADER.  */
struct df_shard {
    char *path;          /* owned */
    struct df_file file; /* owned if MAPPED */
    bool mapped;
    json_t *header;            /* owned */
    struct df_tensor *tensors; /* owned, in order of their offsets */
    size_t n_tensors;
};

/* Map PATH and check all its header says; or check the SIZE bytes at IMAGE.
   On failure *SHARD is cleared.  */
DF_MUST_USE df_status df_shard_open(struct df_shard *shard, const char *path);
DF_MUST_USE df_status df_shard_view(struct df_shard *shard, const void *image,
                                    size_t size, const char *name);
void df_shard_clear(struct df_shard *shard);

struct df_tensors {
    char *path;
    struct df_shard *shards;
    size_t n_shards;
    struct df_tensor *tensors; /* sorted by name */
    size_t n_tensors;
    size_t unindexed;
    void *names, *data; /* owned; of tensors that lie in no file */
};

/* Open the shards of the index file PATH into TS, which is zeroed but for
   its path; the caller frees TS in any case.  */
DF_MUST_USE df_status df_index_open(struct df_tensors *ts, const char *path);

/* Compare two struct df_tensor for qsort and bsearch.  */
int df_tensor_by_name(const void *a, const void *b);

/* The element count of SHAPE and its bytes; false if they overflow.  */
bool df_shape_measure(const int64_t *shape, int rank, enum df_dtype dtype,
                      size_t *count, size_t *size);

#endif

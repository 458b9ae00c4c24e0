/* safetensors.h - named tensors in safetensors files.

       8 bytes: N | N bytes: JSON header | data, without holes

   Reading maps the files, so that opening a model costs its headers alone;
   a model is one file or several shards named by an index.  Everything a
   header says is checked when the file is opened; what the reference
   library refuses is refused here too.  Writing is atomic and lays tensors
   out as the reference library does.

   A struct df_tensor is borrowed from the struct df_tensors it came from.
   Both only read: they may be used by any number of threads.  */

#ifndef DFLASH_SAFETENSORS_H
#define DFLASH_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "dflash/dtype.h"

DF_BEGIN_DECLS

enum {
    DF_TENSOR_MAX_RANK = 8,
    DF_SAFETENSORS_MAX_HEADER = 100000000 /* bytes, as the reference has it */
};

struct df_tensors;

struct df_tensor {
    const char *name;
    const char *path; /* of the file it lies in */
    enum df_dtype dtype;
    int rank;                          /* 0 for a scalar */
    int64_t shape[DF_TENSOR_MAX_RANK]; /* RANK of them, each at least 0 */
    size_t count;                      /* elements */
    size_t size;                       /* bytes */
    /* SIZE bytes at any address: a header of odd length leaves even
       float32 misaligned, so never cast this pointer.  Use
       df_tensor_read_f32 or df_tensor_copy.  */
    const uint8_t *data;
};

/* Open PATH: a .safetensors file, an index ending in ".index.json", or a
   folder that holds model.safetensors or model.safetensors.index.json.
   Of an index, every shard must exist and hold what the index says.
   The caller frees *OUT.  DF_IO, DF_FORMAT; DF_UNSUPPORTED for a type of
   less than a byte and for ranks above DF_TENSOR_MAX_RANK.  */
DF_EXPORT DF_MUST_USE df_status df_tensors_open(struct df_tensors **out,
                                                const char *path);

/* As df_tensors_open, for one image of SIZE bytes at IMAGE, which stays the
   caller's and must outlive *OUT.  NAME is for messages.  */
DF_EXPORT DF_MUST_USE df_status df_tensors_view(struct df_tensors **out,
                                                const void *image, size_t size,
                                                const char *name);

/* TS may be NULL.  */
DF_EXPORT void df_tensors_free(struct df_tensors *ts);

/* PATH or NAME as it was given.  */
DF_EXPORT const char *df_tensors_path(const struct df_tensors *ts);

/* How many there are, and the one of index I, in byte order of the names.  */
DF_EXPORT size_t df_tensors_count(const struct df_tensors *ts);
DF_EXPORT const struct df_tensor *df_tensors_at(const struct df_tensors *ts,
                                                size_t i);

/* The tensor NAME, or NULL.  */
DF_EXPORT const struct df_tensor *df_tensors_find(const struct df_tensors *ts,
                                                  const char *name);

/* The tensor NAME; if there is none, DF_FORMAT with a message.  */
DF_EXPORT DF_MUST_USE df_status df_tensors_get(const struct df_tensors *ts,
                                               const char *name,
                                               const struct df_tensor **out);

/* How many tensors lie in shards without being in the index.  They are left
   out; worth a warning.  */
DF_EXPORT size_t df_tensors_unindexed(const struct df_tensors *ts);

/* The string KEY of the header's __metadata__ (of the first shard that has
   it), or NULL.  */
DF_EXPORT const char *df_tensors_metadata(const struct df_tensors *ts,
                                          const char *key);

/* Convert BF16, F16 or F32 exactly into the T->count floats at DST.  Any
   other type: DF_UNSUPPORTED, which names type and tensor.  */
DF_EXPORT DF_MUST_USE df_status df_tensor_read_f32(const struct df_tensor *t,
                                                   float *dst);

/* Copy the T->size bytes to DST as they are.  */
DF_EXPORT void df_tensor_copy(const struct df_tensor *t, void *dst);

/* "[4096, 2560]" into BUF of SIZE bytes, for messages.  Returns BUF.  */
DF_EXPORT const char *df_shape_text(char *buf, size_t size,
                                    const int64_t *shape, int rank);

/* What to write.  */
struct df_tensor_def {
    const char *name;
    enum df_dtype dtype;
    int rank;             /* 0 to DF_TENSOR_MAX_RANK */
    const int64_t *shape; /* [rank]; may be NULL for a scalar */
    const void *data;     /* contiguous; may be NULL if there are no bytes */
};

struct df_metadata_def {
    const char *key;
    const char *value;
};

/* A file or image to be written.  All pointers are read during the call
   only.  Names must be distinct, UTF-8, and not "__metadata__".  */
struct df_safetensors_def {
    const struct df_tensor_def *tensors;
    size_t n_tensors;
    const struct df_metadata_def *metadata;
    size_t n_metadata;
};

/* Write DEF to PATH: aside, synced, renamed.  DF_INVALID for a DEF that
   breaks the rules above; DF_IO leaves an old PATH as it was.  */
DF_EXPORT DF_MUST_USE df_status
df_safetensors_write(const char *path, const struct df_safetensors_def *def);

/* Write DEF as one image to FD, at its present place; NAME is for messages.
   df_safetensors_size says beforehand how many bytes that will be.  */
DF_EXPORT DF_MUST_USE df_status df_safetensors_write_fd(
    int fd, const char *name, const struct df_safetensors_def *def);
DF_EXPORT DF_MUST_USE df_status
df_safetensors_size(size_t *out, const struct df_safetensors_def *def);

/* The image of DEF in fresh memory, *SIZE bytes, to be freed.  */
DF_EXPORT DF_MUST_USE df_status df_safetensors_pack(
    uint8_t **out, size_t *size, const struct df_safetensors_def *def);

DF_END_DECLS
#endif

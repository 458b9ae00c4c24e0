/* stream_internal.h - a capture as a stream; dflash-stream(5) describes it.

       "dflash-stream 1 " JSON "\n"
       samples, each:  u64 length | safetensors image
       u64 0 | u64 number of samples  */

#ifndef DF_STREAM_INTERNAL_H
#define DF_STREAM_INTERNAL_H

#include "store/backend_internal.h"

#define DF_STREAM_NAME  "dflash-stream "
#define DF_STREAM_MAGIC DF_STREAM_NAME "1 "

/* What a sample says as an image: its metadata and tensors.  */
struct df_image_def {
    struct df_safetensors_def def; /* points into this */
    struct df_field fields[DF_MAX_FIELDS];
    struct df_tensor_def tensors[DF_MAX_FIELDS];
    int64_t shapes[DF_MAX_FIELDS][2];
    struct df_metadata_def metadata[3];
    char numbers[3][24];
};
void df_image_describe(struct df_image_def *out,
                       const struct df_capture_header *header,
                       const struct df_capture_sample *sample);

/* Let OUT point into IMAGE, of SIZE bytes, which SCRATCH holds, or, where that
   lies at odd places, into copies; of hidden states only if IMAGE isn't in
   SCRATCH's view.  WHERE begins messages.  */
DF_MUST_USE df_status df_image_parse(struct df_capture_scratch *scratch,
                                     const uint8_t *image, size_t size,
                                     const struct df_capture_header *header,
                                     const char *where,
                                     struct df_capture_sample *out);

/* The index, id and length of the image whose JSON header is the LEN bytes
   at TEXT.  */
DF_MUST_USE df_status df_image_peek(struct df_capture_entry *out,
                                    const char *text, size_t len,
                                    const char *where);

/* A file descriptor that is read through a buffer, in order.  */
struct df_input {
    int fd;
    const char *name;
    uint8_t *buffer;
    size_t at, end; /* what of it is unread */
    uint64_t taken; /* bytes handed out */
    /* If not NULL, asked while there is nothing to read: whether to give up.
     */
    bool (*gives_up)(void *arg);
    void *arg;
};
DF_MUST_USE df_status df_input_init(struct df_input *in, int fd,
                                    const char *name);
void df_input_clear(struct df_input *in);

/* Read up to SIZE bytes, as many as there are before the end: *GOT.  Short
   reads and signals don't matter.  DF_IO, DF_CANCELED.  */
DF_MUST_USE df_status df_input_read(struct df_input *in, void *out,
                                    size_t size, size_t *got);

#endif

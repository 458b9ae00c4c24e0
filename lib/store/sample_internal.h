/* sample_internal.h - samples in memory: what a reading thread keeps.  */

#ifndef DF_SAMPLE_INTERNAL_H
#define DF_SAMPLE_INTERNAL_H

#include "dflash/safetensors.h"
#include "store/header_internal.h"

/* Memory that grows and is kept from sample to sample.  */
struct df_room {
    uint8_t *data;
    size_t size; /* allocated */
};

/* At least SIZE bytes, aligned for any type; what was there is lost.  WHERE
   is for the message.  */
DF_MUST_USE df_status df_room_fit(struct df_room *room, uint64_t size,
                                  const char *where);

/* A file as its pages lie in memory: nothing is copied.  It must stay as
   long as it is.  */
struct df_view {
    uint8_t *data;
    uint64_t size;
};

/* See the SIZE bytes of FD, in place of what VIEW saw before.  If SIZE is 0,
   or where the system can't do that, nothing can be taken.  */
void df_view_open(struct df_view *view, int fd, uint64_t size);

/* The SIZE bytes at AT, all in memory; NULL if they can't be had: reading
   them tells why.  */
const uint8_t *df_view_take(const struct df_view *view, uint64_t at,
                            uint64_t size);
void df_view_close(struct df_view *view);

struct df_capture_scratch {
    struct df_room room;     /* the fields, if they lie nowhere else */
    struct df_room incoming; /* of a stream: the sample's bytes */
    struct df_view view;     /* of the file, if its sample is used in place */
    struct df_room rows;     /* where there the rows lie */
    const uint8_t *image;    /* of a stream's sample, or NULL */
    size_t image_size;
    struct df_tensors *tensors;
    struct df_capture_run *runs;
    size_t n_runs, max_runs;
};

/* The SIZE bytes at AT of FD: in the view, if there is one and they can be
   had there, else read.  WHERE begins messages.  DF_IO, DF_NO_MEMORY.  */
DF_MUST_USE df_status df_scratch_load(struct df_capture_scratch *scratch,
                                      int fd, uint64_t at, uint64_t size,
                                      const char *where, const uint8_t **out);

/* Forget the sample before.  */
void df_scratch_clear(struct df_capture_scratch *scratch);

/* Let OUT, of out->n tokens, point into SCRATCH's room, field by field.  */
DF_MUST_USE df_status df_scratch_lay_out(struct df_capture_scratch *scratch,
                                         const struct df_capture_header *h,
                                         struct df_capture_sample *out,
                                         const char *where);

/* Check SAMPLE before it is written: pointers, ids, mask.  DF_INVALID.  */
DF_MUST_USE df_status df_sample_check(const char *where,
                                      const struct df_capture_header *h,
                                      const struct df_capture_sample *sample);

/* "layer 17", "last hidden state", into BUF, for messages.  Returns BUF.  */
const char *df_layer_text(char *buf, size_t size,
                          const struct df_capture_header *h, size_t k);

/* A set of ids.  */
struct df_id_set {
    uint64_t *slots;
    bool *used;
    size_t size, count; /* SIZE is 0 or a power of 2 */
};
bool df_id_set_has(const struct df_id_set *set, uint64_t id);
/* DF_NO_MEMORY.  An id that is there already is no failure.  */
DF_MUST_USE df_status df_id_set_add(struct df_id_set *set, uint64_t id);
void df_id_set_clear(struct df_id_set *set);

#endif

/* upload_internal.h - weights from files to a device, in its act type.  */

#ifndef DF_UPLOAD_INTERNAL_H
#define DF_UPLOAD_INTERNAL_H

#include "dflash/device.h"
#include "dflash/safetensors.h"

/* Host memory that a part of a tensor is copied from.  */
struct df_upload_stage {
    void *memory;          /* [a part] act */
    struct df_event *done; /* copied */
};

/* While one part is copied, the next is read and converted.  */
struct df_uploader {
    struct df_device *dev;
    struct df_stream *stream;
    float *wide; /* [a part] */
    struct df_upload_stage stages[2];
    size_t n; /* parts so far */
};

/* df_uploader_end must follow, whether this fails or not.  */
DF_MUST_USE df_status df_uploader_begin(struct df_uploader *u,
                                        struct df_device *dev);
void df_uploader_end(struct df_uploader *u);

/* Bring T to DST on the device; done on return.  */
DF_MUST_USE df_status df_upload_tensor(struct df_uploader *u, void *dst,
                                       const struct df_tensor *t);

#endif

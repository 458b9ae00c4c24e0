/* upload_internal.h - weights from files to a device, in its act type.  */

#ifndef DF_UPLOAD_INTERNAL_H
#define DF_UPLOAD_INTERNAL_H

#include "dflash/device.h"
#include "dflash/safetensors.h"

struct df_uploader {
    struct df_device *dev;
    struct df_stream *stream;
    size_t count; /* elements that a tensor may have */
    float *wide;  /* [count] */
    void *narrow; /* [count] act, host memory */
};

/* df_uploader_end must follow, whether this fails or not.  */
DF_MUST_USE df_status df_uploader_begin(struct df_uploader *u,
                                        struct df_device *dev,
                                        size_t max_count);
void df_uploader_end(struct df_uploader *u);

/* Bring T, or N floats, to DST on the device; done on return.  */
DF_MUST_USE df_status df_upload_tensor(struct df_uploader *u, void *dst,
                                       const struct df_tensor *t);
DF_MUST_USE df_status df_upload_f32(struct df_uploader *u, void *dst,
                                    const float *src, size_t n);

#endif

/* rope_upload_internal.h - the rotation tables on a device.  */

#ifndef DF_ROPE_UPLOAD_INTERNAL_H
#define DF_ROPE_UPLOAD_INTERNAL_H

#include "dflash/device.h"
#include "dflash/rope.h"

/* Bring COS and SIN [positions,D/2] to DEV; done on return.  */
DF_MUST_USE df_status df_rope_upload(struct df_device *dev,
                                     const struct df_rope *rope, int D,
                                     size_t positions, float *cos, float *sin);

#endif

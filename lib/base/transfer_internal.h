/* transfer_internal.h - float arrays between a device and plain memory, for
   saving and loading: slow and simple.  */

#ifndef DF_TRANSFER_INTERNAL_H
#define DF_TRANSFER_INTERNAL_H

#include "dflash/device.h"

/* The N floats at SRC on DEV, into fresh memory that the caller frees.  */
DF_MUST_USE df_status df_download(struct df_device *dev, const float *src,
                                  size_t n, float **out);

/* BYTES between plain memory and DEV, either way; done on return.  */
DF_MUST_USE df_status df_copy_now(struct df_device *dev, void *dst,
                                  const void *src, size_t bytes);

#endif

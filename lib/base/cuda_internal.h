/* cuda_internal.h - what kernels/ offers the rest of the library.

   Only a build that configure found a CUDA toolkit for has these functions:
   config.h then defines HAVE_CUDA.  The header is read as C and as C++.  */

#ifndef DF_BASE_CUDA_INTERNAL_H
#define DF_BASE_CUDA_INTERNAL_H

#include "dflash/device.h"
#include "dflash/error.h"

DF_BEGIN_DECLS

/* Set *COUNT to the number of GPUs that the driver offers.  When it is 0,
   *WHY is the driver's reason, a constant string; else it is NULL.  Needs no
   driver to be called.  */
void df_cuda_device_count(int *count, const char **why);

/* Open CUDA device number INDEX.  DF_DEVICE if the driver offers none of
   that number, with its reason.  */
DF_MUST_USE df_status df_cuda_open(struct df_device **out, int index);

DF_END_DECLS
#endif

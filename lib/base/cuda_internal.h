/* cuda_internal.h - what kernels/ offers the rest of the library.

   Only a build that configure found a CUDA toolkit for has these functions:
   config.h then defines HAVE_CUDA.  */

#ifndef DF_BASE_CUDA_INTERNAL_H
#define DF_BASE_CUDA_INTERNAL_H

#include "dflash/defs.h"

DF_BEGIN_DECLS

/* Set *COUNT to the number of GPUs that the driver offers.  When it is 0,
   *WHY is the driver's reason, a constant string; else it is NULL.  Needs no
   driver to be called.  */
void df_cuda_device_count(int *count, const char **why);

DF_END_DECLS
#endif

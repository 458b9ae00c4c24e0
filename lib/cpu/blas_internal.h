/* blas_internal.h - CBLAS, without the I of the <complex.h> it brings: for
   us that is a size.  */

#ifndef DF_BLAS_INTERNAL_H
#define DF_BLAS_INTERNAL_H

#include <cblas.h>

#undef I

#endif

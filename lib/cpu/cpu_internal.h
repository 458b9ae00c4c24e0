/* cpu_internal.h - the CPU's operations: plain loops and CBLAS, float32.

   A cpu_OP function runs on a stream's thread, may split its work over the
   pool, and returns when the work is done.  */

#ifndef DF_CPU_INTERNAL_H
#define DF_CPU_INTERNAL_H

#include "base/device_internal.h"
#include "cpu/pool_internal.h"

#define X(op, flow) df_status cpu_##op(const struct df_##op##_args *args);
DF_OPS(X)
#undef X

/* LD, or WIDTH where rows are contiguous.  */
static inline size_t
df_ld(size_t ld, size_t width)
{
    return ld ? ld : width;
}

#endif

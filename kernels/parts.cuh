/* parts.cuh - sums over rows that many blocks have parts of.  */

#ifndef DF_PARTS_CUH
#define DF_PARTS_CUH

#include "cuda_internal.cuh"

/* Queue: sum[c] += the sum over i < N of parts[i,c], in that order.  */
df_status df_cuda_add_parts(struct cuda_stream *s, float *sum,
                            const float *parts, unsigned n, size_t C);

#endif

/* matmul.cuh - matrix products by cuBLASLt.

   The library is loaded when the first CUDA device is opened, not when the
   program starts: so the tools run on machines without it.  */

#ifndef DF_MATMUL_CUH
#define DF_MATMUL_CUH

#include <stddef.h>
#include <stdint.h>

#include "dflash/error.h"

enum {
    DF_MATMUL_PLANS = 1024 /* that a stream keeps */
};

struct df_blaslt;
struct df_matmul_plan;
struct cuda_stream;

/* What is known of a stream's products: the algorithm of each shape that
   was met, and the memory that they work in.  */
struct df_matmul_cache {
    struct df_matmul_plan *plans; /* [DF_MATMUL_PLANS], or NULL */
    void *workspace;
};

/* c[m,n] = (transpose_a ? a^T : a) (transpose_b ? b^T : b) + bias[n] +
   (accumulate ? c : 0), all row-major.  A and B are bf16, C bf16 or, WIDE,
   float32; sums are float32.  */
struct df_matmul {
    void *c;
    const void *a, *b;
    const void *bias; /* [n] bf16, or NULL */
    size_t m, n, k;
    size_t ldc, lda, ldb;
    bool transpose_a, transpose_b, wide, accumulate;
};

/* Load the library and make a handle for the current device, NAME.
   DF_UNSUPPORTED if it isn't there, with the loader's reason.  */
df_status df_blaslt_open(struct df_blaslt **out, const char *name);
void df_blaslt_close(struct df_blaslt *b);

/* Queue M on S.  The first product of a stream gets it its cache and its
   workspace; nothing is allocated afterwards.  */
df_status df_matmul(struct cuda_stream *s, const struct df_matmul *m);

#endif

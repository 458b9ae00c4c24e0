/* mma.cuh - the matrix units of sm_80 and later, by their own instructions.

   A fragment is a warp's share of a small matrix.  With g = lane / 4 and
   t = lane % 4, a lane holds

       of A[16,16]  a[0]: row g, columns 2t, 2t+1;  a[1]: row g+8;
                    a[2], a[3]: the same, 8 columns on
       of B[16,8]   b[0]: rows 2t, 2t+1 of column g;  b[1]: 8 rows on
       of C[16,8]   c[0], c[1]: row g, columns 2t, 2t+1;  c[2], c[3]: row g+8

   so two neighbouring C make, as bf16, an A.  */

#ifndef DF_MMA_CUH
#define DF_MMA_CUH

#include <stdint.h>

/* C += A B.  */
static __device__ __forceinline__ void
df_mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0),
                   "r"(b1));
}

/* Four matrices of 8 x 8 from shared memory: lanes 8i to 8i+7 say where the
   rows of number i are, and each lane gets, in X[i], columns 2t and 2t+1 of
   row g.  */
static __device__ __forceinline__ void
df_ldmatrix(uint32_t (&x)[4], const uint16_t *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
                 "{%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"((uint32_t) __cvta_generic_to_shared(row))
                 : "memory");
}

/* The same of the transposed matrices: rows 2t and 2t+1 of column g.  */
static __device__ __forceinline__ void
df_ldmatrix_trans(uint32_t (&x)[4], const uint16_t *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "
                 "{%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"((uint32_t) __cvta_generic_to_shared(row))
                 : "memory");
}

/* Copy 16 bytes to shared memory, or zeros if not THERE; done when the group
   that it is in has been waited for.  */
static __device__ __forceinline__ void
df_cp_async(uint16_t *shared, const uint16_t *global, bool there)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"((uint32_t) __cvta_generic_to_shared(shared)),
                   "l"(__cvta_generic_to_global(global)), "r"(there ? 16 : 0)
                 : "memory");
}

/* The same of a single number.  */
static __device__ __forceinline__ void
df_cp_async(float *shared, const float *global, bool there)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                 :
                 : "r"((uint32_t) __cvta_generic_to_shared(shared)),
                   "l"(__cvta_generic_to_global(global)), "r"(there ? 4 : 0)
                 : "memory");
}

/* The copies since the last call are a group.  */
static __device__ __forceinline__ void
df_cp_commit(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Wait for all of the thread's groups but the last N.  */
template <int N>
static __device__ __forceinline__ void
df_cp_wait(void)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

#endif

/* group.cuh - tiles and their products by warpgroups: the matrix units of
   sm_90a, which read tiles from shared memory themselves.

   A tile of N rows of D elements is D / 64 panels of N rows of 128 bytes, in
   which the eighth of a row that would be at place i is at i ^ row % 8.  A
   panel begins at a multiple of 1024 bytes.  That is what a descriptor calls
   a swizzle of 128 bytes, and it serves for both: products along the rows,
   and, transposed, along the columns.

   Fragments of A and C are those of mma.cuh, 16 rows for each of the four
   warps.  */

#ifndef DF_GROUP_CUH
#define DF_GROUP_CUH

#include "tile.cuh"

/* What a descriptor says of a tile: from AT on, groups of 8 rows follow each
   other at 1024 bytes.  */
static __device__ __forceinline__ uint64_t
df_describe_tile(const uint16_t *at)
{
    uint64_t address = __cvta_generic_to_shared(at);

    return address >> 4 | (uint64_t) 1 << 16 | (uint64_t) 64 << 32
           | (uint64_t) 1 << 62;
}

#define DF_C4(c, i) "+f"(c[i][0]), "+f"(c[i][1]), "+f"(c[i][2]), "+f"(c[i][3])
#define DF_C32(c)                                                    \
    DF_C4(c, 0), DF_C4(c, 1), DF_C4(c, 2), DF_C4(c, 3), DF_C4(c, 4), \
        DF_C4(c, 5), DF_C4(c, 6), DF_C4(c, 7)
#define DF_WGMMA                                                        \
    "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "             \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, "     \
    "%14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, " \
    "%27, %28, %29, %30, %31}, "

/* Begin C[64,64] = A[64,16] B[64,16]^T, or += if ADD, of tiles.  */
static __device__ __forceinline__ void
df_group_nt(float (*c)[4], uint64_t a, uint64_t b, bool add)
{
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %34, 0;\n" DF_WGMMA
                 "%32, %33, add, 1, 1, 0, 0;\n}"
                 : DF_C32(c)
                 : "l"(a), "l"(b), "r"((int) add));
}

/* Begin C[64,64] += A[64,16] B[16,64], A from registers.  */
static __device__ __forceinline__ void
df_group_pn(float (*c)[4], const uint32_t (&a)[4], uint64_t b)
{
    asm volatile(DF_WGMMA "{%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
                 : DF_C32(c)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

/* What products use has been written to registers.  */
static __device__ __forceinline__ void
df_group_fence(void)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/* The products since the last call are a group.  */
static __device__ __forceinline__ void
df_group_commit(void)
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* The kernels' products by warpgroups; as df_by_warp, for rows that can be
   moved 16 bytes at a time.  */
template <int HEAD> struct df_by_group {
    enum {
        D = HEAD,
        ROW = D, /* elements of shared memory */
        BASE = 1024,
        GROUPED = true
    };
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    static constexpr bool exists = true;
#else
    static constexpr bool exists = false;
#endif

    template <int THREADS, int N, typename At>
    static __device__ __forceinline__ void
    load(uint16_t *tile, int d, bool, At at)
    {
#pragma unroll
        for (int i = 0; i < N; i += THREADS / 8) {
            int row = i + (int) threadIdx.x / 8, c = threadIdx.x % 8 * 8;
            uint16_t *to = tile + row * 64 + (c ^ row % 8 * 8);

            if (N % (THREADS / 8) != 0 && row >= N)
                break;
            const uint16_t *from = at(row);

#pragma unroll
            for (int j = 0; j < D; j += 64)
                df_cp_async(to + j * N, from + j + c, from && j + c < d);
        }
    }

    /* The thread's copies to tiles are seen by products after a barrier.  */
    static __device__ __forceinline__ void
    arrive(void)
    {
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }

    /* Begin c[64,64] = the group's 64 rows of A, of ROWS, times B^T.  */
    template <int ROWS>
    static __device__ __forceinline__ void
    multiply_nt(float (&c)[1][8][4], const uint16_t *a, int r,
                const uint16_t *b)
    {
        uint64_t da = df_describe_tile(a + r / 64 * 64 * 64);
        uint64_t db = df_describe_tile(b);

        df_group_fence();
#pragma unroll
        for (int k = 0; k < D; k += 16) {
            int panel = k / 64 * 128, step = k % 64 * 2; /* bytes */

            df_group_nt(c[0], da + (panel * ROWS + step) / 16,
                        db + (panel * 64 + step) / 16, k > 0);
        }
        df_group_commit();
    }

    /* Begin c[64,8N] += p[64,8K] times the columns of B from FIRST on.  */
    template <int N, int K>
    static __device__ __forceinline__ void
    multiply_pn(float (&c)[1][N][4], const float (&p)[1][K][4],
                const uint16_t *b, int first)
    {
        uint64_t db = df_describe_tile(b + first * 8 * K);
        uint32_t a[K / 2][4];

#pragma unroll
        for (int i = 0; i < K * 2; i++) {
            const float *x = &p[0][i / 4 * 2 + i % 4 / 2][i % 2 * 2];

            a[i / 4][i % 4] = df_narrow2(x[0], x[1]);
        }
        df_group_fence();
#pragma unroll
        for (int k = 0; k < K / 2; k++)
#pragma unroll
            for (int n = 0; n < N; n += 8)
                df_group_pn(c[0] + n, a[k],
                            db + (n * 8 * K * 16 + k * 2048) / 16);
        df_group_commit();
    }

    /* Wait for all groups but the last PENDING, in which C is not.  */
    template <int PENDING, int N>
    static __device__ __forceinline__ void
    wait(float (&c)[1][N][4])
    {
        asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING)
                     : "memory");
#pragma unroll
        for (int i = 0; i < N * 4; i++)
            asm volatile("" : "+f"(c[0][i / 4][i % 4])::"memory");
    }
};

#endif

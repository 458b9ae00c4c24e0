/* tile.cuh - tiles of bf16 in shared memory, and their products by the matrix
   units.

   A warp multiplies fragments: 16 M rows of A, from a tile or from registers,
   with 8 N columns of B, from a tile.  mma.cuh says what a lane holds.  */

#ifndef DF_TILE_CUH
#define DF_TILE_CUH

#include "math.cuh"
#include "mma.cuh"

/* A tile in shared memory has rows of D elements and 8 more, so that 8 rows
   of a matrix fall on different banks.  */
template <int D> struct df_tile {
    enum {
        PITCH = D + 8
    };
};

/* Fragment A of rows R to R+15 and columns C to C+15 of TILE.  */
template <int D>
static __device__ __forceinline__ void
df_load_a(uint32_t (&a)[4], const uint16_t *tile, int r, int c)
{
    int lane = threadIdx.x % WARP;

    df_ldmatrix(a, tile + (r + lane % 16) * df_tile<D>::PITCH + c
                       + lane / 16 * 8);
}

/* c[16M,8N] += the warp's 16M rows from R on of A times, transposed, the 8N
   rows of B, over D columns.  */
template <int D, int M, int N>
static __device__ __forceinline__ void
df_multiply_nt(float (&c)[M][N][4], const uint16_t *a, int r,
               const uint16_t *b)
{
    int lane = threadIdx.x % WARP;
    const uint16_t *row =
        b + (lane % 8 + lane / 16 * 8) * df_tile<D>::PITCH + lane / 8 % 2 * 8;

#pragma unroll
    for (int k = 0; k < D; k += 16) {
        uint32_t fa[M][4], fb[4];

#pragma unroll
        for (int m = 0; m < M; m++)
            df_load_a<D>(fa[m], a, r + m * 16, k);
#pragma unroll
        for (int n = 0; n < N; n += 2) {
            df_ldmatrix(fb, row + n * 8 * df_tile<D>::PITCH + k);
#pragma unroll
            for (int m = 0; m < M; m++) {
                df_mma(c[m][n], fa[m], fb[0], fb[1]);
                df_mma(c[m][n + 1], fa[m], fb[2], fb[3]);
            }
        }
    }
}

/* c[16M,8N] += p[16M,8K] times the 8K rows of B, columns from FIRST on.  P
   is rounded to bf16.  */
template <int D, int M, int N, int K>
static __device__ __forceinline__ void
df_multiply_pn(float (&c)[M][N][4], const float (&p)[M][K][4],
               const uint16_t *b, int first)
{
    int lane = threadIdx.x % WARP;
    const uint16_t *row =
        b + lane % 16 * df_tile<D>::PITCH + lane / 16 * 8 + first;

#pragma unroll
    for (int k = 0; k < K; k += 2) {
        uint32_t fa[M][4], fb[4];

#pragma unroll
        for (int i = 0; i < M * 4; i++) {
            const float *x = &p[i / 4][k + i % 4 / 2][i % 2 * 2];

            fa[i / 4][i % 4] = df_narrow2(x[0], x[1]);
        }
#pragma unroll
        for (int n = 0; n < N; n += 2) {
            df_ldmatrix_trans(fb, row + k * 8 * df_tile<D>::PITCH + n * 8);
#pragma unroll
            for (int m = 0; m < M; m++) {
                df_mma(c[m][n], fa[m], fb[0], fb[1]);
                df_mma(c[m][n + 1], fa[m], fb[2], fb[3]);
            }
        }
    }
}

template <int M, int N>
static __device__ __forceinline__ void
df_clear(float (&c)[M][N][4])
{
#pragma unroll
    for (int i = 0; i < M * N * 4; i++)
        c[i / 4 / N][i / 4 % N][i % 4] = 0;
}

/* Write half H (0: row g, 1: row g+8) of C[16,8N], times SCALE, to the d
   elements at TO, that C's column 0 belongs to.  */
template <int N>
static __device__ __forceinline__ void
df_store_row(uint16_t *to, int d, bool wide, const float (&c)[N][4], int h,
             float scale)
{
    int t = threadIdx.x % 4;

#pragma unroll
    for (int n = 0; n < N; n++) {
        int at = n * 8 + t * 2;
        float x = c[n][2 * h] * scale, y = c[n][2 * h + 1] * scale;

        if (wide && at < d)
            *(uint32_t *) (to + at) = df_narrow2(x, y);
        if (!wide && at < d)
            to[at] = df_narrow(x);
        if (!wide && at + 1 < d)
            to[at + 1] = df_narrow(y);
    }
}

/* The kernels' products by warps.  */
template <int HEAD> struct df_by_warp {
    enum {
        D = HEAD,
        ROW = df_tile<D>::PITCH, /* elements of shared memory */
        BASE = 16, /* what a tile's first byte is a multiple of */
        GROUPED = false
    };
    static constexpr bool exists = true;

    /* Bring N rows to TILE; AT(i) is where row i is, or NULL: zeros, as behind
       the last of d elements.  Few threads have a row, so AT is called by
       each.  The copies are left to be committed.  */
    template <int THREADS, int N, typename At>
    static __device__ __forceinline__ void
    load(uint16_t *tile, int d, bool wide, At at)
    {
#pragma unroll 1
        for (int row = threadIdx.x / 4; row < N; row += THREADS / 4) {
            const uint16_t *from = at(row);

#pragma unroll
            for (int i = 0; i < D; i += 32) {
                int c = i + threadIdx.x % 4 * 8;
                uint16_t *to = tile + row * ROW + c;

                if (wide)
                    df_cp_async(to, from + c, from && c < d);
                else
                    for (int j = 0; j < 8; j++)
                        to[j] = from && c + j < d ? from[c + j] : 0;
            }
        }
    }

    static __device__ __forceinline__ void
    arrive(void)
    {
    }

    template <int ROWS, int M, int N>
    static __device__ __forceinline__ void
    multiply_nt(float (&c)[M][N][4], const uint16_t *a, int r,
                const uint16_t *b)
    {
        df_clear(c);
        df_multiply_nt<D>(c, a, r, b);
    }

    template <int M, int N, int K>
    static __device__ __forceinline__ void
    multiply_pn(float (&c)[M][N][4], const float (&p)[M][K][4],
                const uint16_t *b, int first)
    {
        df_multiply_pn<D>(c, p, b, first);
    }

    template <int PENDING, int M, int N>
    static __device__ __forceinline__ void
    wait(float (&c)[M][N][4])
    {
        (void) c;
    }
};

#endif

/* flash.cu - attention forward, for causal batches and the drafter's blocks.

   attention        out[T,A,D] <- q[T,A,D], k[T,G,D], v[T,G,D]
   draft_attention  out[Nb,A,D], lse[Nb,A] <- q, ctx k v, block k v

   The method is that of FlashAttention-2 (Dao 2023): a block has ROWS rows of
   queries of one sequence and key/value head, a warp 16 of them, and goes
   over their keys in tiles, keeping each row's maximum and sum:

       S = Q K^T,  m' = max(m, max S),  P = e^(S - m'),
       O = O e^(m - m') + P V,  out = O / sum

   While a tile is worked on, the next is copied.  All query heads of a
   key/value head are in one block, and so are neighbouring draft blocks,
   whose prefixes are nearly the same: so keys are fetched once for all.  The
   longest rows go first.  Bound by the matrix units.  */

#include <math.h>

#include "flash.cuh"

enum {
    ROWS = 64,
    THREADS = ROWS / 16 * WARP
};

/* Keys of a tile, and tiles in shared memory: as fits sm_86, which has 99
   KiB.  */
template <int D> struct shape {
    enum {
        KEYS = D > 128 ? 32 : 64,
        STAGES = D > 128 ? 1 : 2,
        TILE = KEYS * df_tile<D>::PITCH,
        SHARED = (ROWS * df_tile<D>::PITCH + 2 * STAGES * TILE) * 2
    };
};

/* The two rows of a lane: number g and g + 8 of its warp.  */
template <int D> struct lane_rows {
    float o[D / 8][4];
    float max[2], sum[2];       /* of exponents to base 2; a lane's own sum */
    struct df_range seen[2][2]; /* by row and side */
};

/* S, products of queries and keys, become exponents; O and SUM follow the
   new maximum.  */
template <int D, int N>
static __device__ __forceinline__ void
soften(struct lane_rows<D> &r, float (&s)[N][4], float scale,
       const struct df_step &step)
{
    int t = threadIdx.x % 4;

#pragma unroll
    for (int h = 0; h < 2; h++) {
        struct df_range seen = step.side ? r.seen[h][1] : r.seen[h][0];
        float m = r.max[h];

#pragma unroll
        for (int i = 0; i < N * 2; i++) {
            float &x = s[i / 2][h * 2 + i % 2];
            int key = step.key + i / 2 * 8 + t * 2 + i % 2;

            x = key >= seen.low && key < seen.high ? x * scale : -INFINITY;
            m = fmaxf(m, x);
        }
        m = fmaxf(m, __shfl_xor_sync(ALL_LANES, m, 1));
        m = fmaxf(m, __shfl_xor_sync(ALL_LANES, m, 2));
        float base = m == -INFINITY ? 0 : m, factor = exp2f(r.max[h] - base);

        r.max[h] = m;
        r.sum[h] *= factor;
#pragma unroll
        for (int i = 0; i < N * 2; i++) {
            float &x = s[i / 2][h * 2 + i % 2];

            x = exp2f(x - base);
            r.sum[h] += x;
        }
#pragma unroll
        for (int i = 0; i < D / 8; i++) {
            r.o[i][h * 2] *= factor;
            r.o[i][h * 2 + 1] *= factor;
        }
    }
}

template <int D>
static __device__ __forceinline__ void
begin_rows(struct lane_rows<D> &r, const struct df_flash &f,
           const struct df_task &t, int m)
{
    df_clear(r.o);
#pragma unroll
    for (int h = 0; h < 2; h++) {
        int row = m + h * 8;

        r.max[h] = -INFINITY;
        r.sum[h] = 0;
        r.seen[h][0] = r.seen[h][1] = {0, 0};
        if (row < t.rows) {
            r.seen[h][0] = df_seen(f, t, row, false);
            r.seen[h][1] = df_seen(f, t, row, true);
        }
    }
}

template <int D>
static __device__ __forceinline__ void
finish_rows(const struct lane_rows<D> &r, const struct df_flash &f,
            const struct df_task &t, int m)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float sum = r.sum[h];
        int head, row;

        sum += __shfl_xor_sync(ALL_LANES, sum, 1);
        sum += __shfl_xor_sync(ALL_LANES, sum, 2);
        if (m + h * 8 >= t.rows)
            continue;
        row = df_row_of(f, t, m + h * 8, &head);
        df_store_row(f.out.data + row * f.out.ld + (size_t) head * f.D, f.D,
                     f.wide, r.o, h, 1 / sum);
        if (f.lse && threadIdx.x % 4 == 0)
            f.lse[(size_t) row * f.A + head] = r.max[h] * DF_LN2 + logf(sum);
    }
}

template <int D>
static __global__ void
__launch_bounds__(THREADS) attend(struct df_flash f, int n_tiles)
{
    typedef shape<D> S;
    extern __shared__ __align__(16) uint16_t shared[];
    __shared__ struct df_range all;
    uint16_t *q = shared, *k = q + ROWS * df_tile<D>::PITCH;
    uint16_t *v = k + S::STAGES * S::TILE;
    int task = blockIdx.x, seq = task / f.G % f.B;
    int m = (n_tiles - 1 - task / f.G / f.B) * ROWS;
    int r0 = threadIdx.x / WARP * 16, lane_row = threadIdx.x % WARP / 4;
    struct df_task t = df_task_of(f, seq, task % f.G);
    struct lane_rows<D> r;

    if (m >= t.rows)
        return;
    struct df_walk w = df_walk_of<S::KEYS>(f, t, m, ROWS, &all);
    int n = w.tiles[0] + w.tiles[1];
    auto load = [&](int i) {
        struct df_step step = df_step_of<S::KEYS>(w, i);
        int at = i % S::STAGES * S::TILE;

        df_load_keys<D, THREADS, S::KEYS>(k + at, f, f.k, t.kv, step);
        df_load_keys<D, THREADS, S::KEYS>(v + at, f, f.v, t.kv, step);
    };

    df_load_queries<D, THREADS, ROWS>(q, f, t, f.q, m);
    if (S::STAGES > 1)
        load(0);
    df_cp_commit();
    begin_rows<D>(r, f, t, m + r0 + lane_row);
    for (int i = 0; i < n; i++) {
        float s[S::KEYS / 8][4];
        int at = i % S::STAGES * S::TILE;

        if (S::STAGES == 1)
            load(i);
        else if (i + 1 < n)
            load(i + 1);
        df_cp_commit();
        df_cp_wait<S::STAGES - 1>();
        __syncthreads();
        df_clear(s);
        df_multiply_nt<D>(s, q, r0, k + at);
        soften<D>(r, s, f.scale * DF_LOG2E, df_step_of<S::KEYS>(w, i));
        df_multiply_pn<D>(r.o, s, v + at, 0);
        __syncthreads();
    }
    finish_rows<D>(r, f, t, m + r0 + lane_row);
}

template <int D>
static df_status
run(struct cuda_stream *s, const char *op, const struct df_flash *f)
{
    int n_tiles = (f->max_rows + ROWS - 1) / ROWS;
    size_t grid;

    DF_TRY(df_cuda_shared((const void *) attend<D>, shape<D>::SHARED, op));
    DF_TRY(df_cuda_blocks(op, (size_t) n_tiles, (size_t) f->B * f->G, &grid));
    attend<D>
        <<<(unsigned) grid, THREADS, shape<D>::SHARED, s->cu>>>(*f, n_tiles);
    DF_LAUNCHED(attention);
    return DF_OK;
}

df_status
df_flash_forward(struct cuda_stream *s, const char *op,
                 const struct df_flash *f)
{
    return DF_BY_HEAD_SIZE(op, f->D, run, s, op, f);
}

/* flash.cu - attention forward, for causal batches and the drafter's blocks.

   attention        out[T,A,D] <- q[T,A,D], k[T,G,D], v[T,G,D]
   draft_attention  out[Nb,A,D], lse[Nb,A] <- q, ctx k v, block k v

   The method is that of FlashAttention-2 (Dao 2023): a block has ROWS rows of
   queries of one sequence and key/value head, a warp 16 M of them, and goes
   over their keys in tiles, keeping each row's maximum and sum:

       S = Q K^T,  m' = max(m, max S),  P = e^(S - m'),
       O = O e^(m - m') + P V,  out = O / sum

   V is copied while S is made, and the next K while O is.  All query heads of
   a key/value head are in one block, and so are neighbouring draft blocks,
   whose prefixes are nearly the same: so keys are fetched once for all.  The
   longest rows go first.

   Where few queries see many keys, as in decoding, blocks share the keys of a
   row in splits of a fixed size, and a second kernel combines what they leave
   in the order of the splits.

   Bound by the matrix units and by shared memory, which a fragment of K or V
   is read from for every 16 M rows: hence M = 2 where the registers allow
   it.  */

#include <math.h>

#include "flash.cuh"

enum {
    COMBINE_THREADS = 128
};

/* Shared memory of warps fits sm_86, which has 99 KiB.  */
template <class By> struct shape {
    enum {
        D = By::D,
        THREADS = By::GROUPED ? 256 : 128,
        M = By::GROUPED || D > 128 ? 1 : 2,
        ROWS = THREADS / WARP * 16 * M,
        KEYS = D > 128 ? 32 : 64,
        STAGES = By::GROUPED ? 2 : 1,
        BLOCKS = By::GROUPED ? 2 : 1, /* that a multiprocessor has room for */
        TILE = KEYS * By::ROW,
        SHARED = (ROWS * By::ROW + 2 * STAGES * TILE) * 2 + By::BASE
    };
};

/* The rows of a lane: g and g + 8 of each of its warp's M fragments.  */
template <int D, int M> struct lane_rows {
    float o[M][D / 8][4];
    float max[M][2], sum[M][2]; /* to base 2; a lane's own sum */
};

/* What a row doesn't see becomes -inf.  The lane's first row is number R of
   the block.  */
template <int M, int N, int ROWS>
static __device__ __forceinline__ void
mask(float (&s)[M][N][4], const struct df_sight<ROWS> &sight,
     const struct df_step &step, int r)
{
    int t = threadIdx.x % 4;

#pragma unroll
    for (int i = 0; i < M * 2; i++) {
        struct df_range seen = sight.seen[step.side][r + i * 8];

#pragma unroll
        for (int j = 0; j < N * 2; j++) {
            float &x = s[i / 2][j / 2][i % 2 * 2 + j % 2];
            int key = step.key + j / 2 * 8 + t * 2 + j % 2;

            if (key < seen.low || key >= seen.high)
                x = -INFINITY;
        }
    }
}

/* S becomes exponents of SCALE times itself; O and SUM follow the new
   maximum.  */
template <int D, int M, int N>
static __device__ __forceinline__ void
soften(struct lane_rows<D, M> &r, float (&s)[M][N][4], float scale)
{
#pragma unroll
    for (int i = 0; i < M * 2; i++) {
        int m = i / 2, h = i % 2 * 2;
        float max = -INFINITY, sum = 0;

#pragma unroll
        for (int j = 0; j < N; j++)
            max = fmaxf(max, fmaxf(s[m][j][h], s[m][j][h + 1]));
        max = fmaxf(max, __shfl_xor_sync(ALL_LANES, max, 1));
        max = fmaxf(max, __shfl_xor_sync(ALL_LANES, max, 2));
        max = fmaxf(max * scale, r.max[m][i % 2]);
        float base = max == -INFINITY ? 0 : max;
        float factor = df_exp2(r.max[m][i % 2] - base);

#pragma unroll
        for (int j = 0; j < N; j++) {
            s[m][j][h] = df_exp2(s[m][j][h] * scale - base);
            s[m][j][h + 1] = df_exp2(s[m][j][h + 1] * scale - base);
            sum += s[m][j][h] + s[m][j][h + 1];
        }
        r.max[m][i % 2] = max;
        r.sum[m][i % 2] = r.sum[m][i % 2] * factor + sum;
        if (__ballot_sync(ALL_LANES, factor != 1) == 0)
            continue;
#pragma unroll
        for (int j = 0; j < D / 8; j++) {
            r.o[m][j][h] *= factor;
            r.o[m][j][h + 1] *= factor;
        }
    }
}

/* The lane's first row is M0 of the task.  */
template <int D, int M>
static __device__ __forceinline__ void
finish_rows(const struct lane_rows<D, M> &r, const struct df_flash &f,
            const struct df_task &t, int m0)
{
#pragma unroll
    for (int i = 0; i < M * 2; i++) {
        float sum = r.sum[i / 2][i % 2];
        int head, row;

        sum += __shfl_xor_sync(ALL_LANES, sum, 1);
        sum += __shfl_xor_sync(ALL_LANES, sum, 2);
        if (m0 + i * 8 >= t.rows)
            continue;
        row = df_row_of(f, t, m0 + i * 8, &head);
        df_store_row(df_head_of(f.out, row, head, f.D), f.D, f.wide,
                     r.o[i / 2], i % 2, 1 / sum);
        if (f.lse && threadIdx.x % 4 == 0)
            f.lse[(size_t) row * f.A + head] =
                r.max[i / 2][i % 2] * DF_LN2 + logf(sum);
    }
}

/* The same, left to be combined with what other blocks leave.  */
template <int D, int M>
static __device__ __forceinline__ void
leave_rows(const struct lane_rows<D, M> &r, const struct df_flash &f,
           const struct df_task &t, int m0)
{
    int column = threadIdx.x % 4 * 2;

#pragma unroll
    for (int i = 0; i < M * 2; i++) {
        float sum = r.sum[i / 2][i % 2];
        int head, row;

        sum += __shfl_xor_sync(ALL_LANES, sum, 1);
        sum += __shfl_xor_sync(ALL_LANES, sum, 2);
        if (m0 + i * 8 >= t.rows)
            continue;
        row = df_row_of(f, t, m0 + i * 8, &head);
        float *to =
            f.parts
            + (((size_t) blockIdx.y * f.T + row) * f.A + head) * (f.D + 2);

#pragma unroll
        for (int j = 0; j < D / 8; j++)
#pragma unroll
            for (int k = 0; k < 2; k++)
                if (j * 8 + column + k < f.D)
                    to[j * 8 + column + k] = r.o[i / 2][j][i % 2 * 2 + k];
        if (column == 0) {
            to[f.D] = r.max[i / 2][i % 2];
            to[f.D + 1] = sum;
        }
    }
}

/* Of W, what lies in the block's split of the keys.  */
template <int KEYS>
static __device__ __forceinline__ void
take_split(struct df_walk &w, const struct df_flash &f,
           const struct df_task &t)
{
    struct df_range &any = w.side[0].any;
    int low = t.start + (int) blockIdx.y * f.split;

    any.low = max(any.low, low);
    any.high = min(any.high, low + f.split);
    w.tiles[0] =
        any.low < any.high ? (any.high - any.low + KEYS - 1) / KEYS : 0;
}

template <int D, int M>
static __device__ __forceinline__ void
begin_rows(struct lane_rows<D, M> &r)
{
    df_clear(r.o);
#pragma unroll
    for (int i = 0; i < M * 2; i++) {
        r.max[i / 2][i % 2] = -INFINITY;
        r.sum[i / 2][i % 2] = 0;
    }
}

template <class By>
static __device__ __forceinline__ void
attend_rows(const struct df_flash &f, const struct df_task &t, int m0,
            uint16_t *shared)
{
    typedef shape<By> S;
    __shared__ struct df_sight<S::ROWS> sight;
    uint16_t *q = df_tiles_of<By>(shared), *k = q + S::ROWS * By::ROW;
    uint16_t *v = k + S::STAGES * S::TILE;
    int r0 = threadIdx.x / WARP * 16 * S::M;
    int lane_row = r0 + (int) threadIdx.x % WARP / 4;
    struct lane_rows<By::D, S::M> r;
    struct df_walk w = df_look<S::KEYS>(sight, f, t, m0);

    if (f.split) {
        take_split<S::KEYS>(w, f, t);
        if (w.tiles[0] == 0)
            return;
    }
    int n = w.tiles[0] + w.tiles[1];
    auto load = [&](uint16_t *tile, const struct df_sides &from, int i) {
        struct df_step step = df_step_of<S::KEYS>(w, i);

        if (i < n)
            df_load_keys<By, S::THREADS, S::KEYS>(
                tile + i % S::STAGES * S::TILE, f, from, t.kv, step.side,
                {step.key, step.end});
        df_cp_commit();
    };
    auto arrive = [&]() {
        df_cp_wait<0>();
        By::arrive();
        __syncthreads();
    };

    df_load_queries<By, S::THREADS, S::ROWS>(q, f, t, f.q, m0);
    load(k, f.k, 0);
    if (S::STAGES > 1)
        load(v, f.v, 0);
    begin_rows(r);
    for (int i = 0; i < n; i++) {
        float s[S::M][S::KEYS / 8][4];
        int at = i % S::STAGES * S::TILE;

        arrive(); /* K is there, and the V before has been used */
        if (S::STAGES == 1)
            load(v, f.v, i);
        By::template multiply_nt<S::ROWS>(s, q, r0, k + at);
        if (S::STAGES > 1) {
            load(k, f.k, i + 1);
            load(v, f.v, i + 1);
        }
        By::template wait<0>(s);
        struct df_step step = df_step_of<S::KEYS>(w, i);

        if (!step.whole)
            mask(s, sight, step, lane_row);
        soften(r, s, f.scale * DF_LOG2E);
        if (S::STAGES == 1) {
            arrive(); /* V is there, and K has been used */
            load(k, f.k, i + 1);
        }
        By::multiply_pn(r.o, s, v + at, 0);
        By::template wait<0>(r.o);
    }
    if (f.split)
        leave_rows(r, f, t, m0 + lane_row);
    else
        finish_rows(r, f, t, m0 + lane_row);
}

template <class By>
static __global__ void
__launch_bounds__(shape<By>::THREADS, shape<By>::BLOCKS)
    attend(struct df_flash f, int n_tiles)
{
    extern __shared__ __align__(16) uint16_t shared[];
    int task = blockIdx.x, seq = task / f.G % f.B;
    int m0 = (n_tiles - 1 - task / f.G / f.B) * shape<By>::ROWS;
    struct df_task t = df_task_of(f, seq, task % f.G);

    if constexpr (By::exists)
        if (m0 < t.rows)
            attend_rows<By>(f, t, m0, shared);
}

/* A row with a head: the parts that the splits of its keys have left, in
   their order.  Splits that no row of a block sees left nothing.  */
static __global__ void
__launch_bounds__(COMBINE_THREADS) combine(struct df_flash f)
{
    int seq = blockIdx.x / f.max_tokens, i = blockIdx.x % f.max_tokens;
    int row = f.cu_seqlens[seq] + i, head = blockIdx.y;

    if (row >= f.cu_seqlens[seq + 1])
        return;
    int place = f.past[seq] + i;
    int low = f.window && place >= f.window ? place - f.window + 1 : 0;
    int first = low / f.split, last = place / f.split;
    size_t step = (size_t) f.T * f.A * (f.D + 2);
    const float *parts =
        f.parts + ((size_t) row * f.A + head) * (f.D + 2) + first * step;
    float max = -INFINITY, sum = 0;

    for (int s = 0; s <= last - first; s++)
        max = fmaxf(max, parts[s * step + f.D]);
    for (int s = 0; s <= last - first; s++)
        sum +=
            df_exp2(parts[s * step + f.D] - max) * parts[s * step + f.D + 1];
    for (int c = threadIdx.x; c < f.D; c += COMBINE_THREADS) {
        float x = 0;

        for (int s = 0; s <= last - first; s++)
            x += df_exp2(parts[s * step + f.D] - max) * parts[s * step + c];
        df_head_of(f.out, row, head, f.D)[c] = df_narrow(x / sum);
    }
}

template <class By>
static df_status
run(struct cuda_stream *s, const char *op, const struct df_flash *f)
{
    typedef shape<By> S;
    int n_tiles = (f->max_rows + S::ROWS - 1) / S::ROWS;
    size_t grid;

    DF_TRY(df_cuda_shared((const void *) attend<By>, S::SHARED, op));
    DF_TRY(df_cuda_blocks(op, (size_t) n_tiles, (size_t) f->B * f->G, &grid));
    attend<By><<<dim3((unsigned) grid, (unsigned) f->splits), S::THREADS,
                 S::SHARED, s->cu>>>(*f, n_tiles);
    DF_LAUNCHED(attention);
    if (!f->split)
        return DF_OK;
    combine<<<dim3((unsigned) (f->B * f->max_tokens), (unsigned) f->A),
              COMBINE_THREADS, 0, s->cu>>>(*f);
    DF_LAUNCHED(attention);
    return DF_OK;
}

df_status
df_flash_forward(struct cuda_stream *s, const char *op,
                 const struct df_flash *f)
{
    bool groups =
        !f->split
        && df_flash_grouped(*f, (const void *) attend<df_by_group<128>>);

    return DF_BY_HEAD_SIZE(op, f->D, groups, run, s, op, f);
}

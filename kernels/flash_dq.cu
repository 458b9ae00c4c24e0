/* flash_dq.cu - backward pass of the drafter's attention, by queries.

   With P = e^(scale q.k - lse), from the forward pass's lse, in two kernels:

       delta = sum_d dout * out            a warp a row
       dS = P * (dO V^T - delta),  dQ = scale * dS K

   The second goes over tiles of keys as flash.cu does: a block has ROWS rows
   of queries, a warp 16 M of them.  K, which is used twice, has two places
   in shared memory, and V one.  The gradients of keys and values are
   flash_dkv.cu's, which sums over the queries: so no sum is shared between
   blocks, and the bits are the same every time.  Bound by the matrix units
   and shared memory.  */

#include "flash.cuh"

enum {
    DOT_WARPS = 4
};

/* Shared memory of warps fits sm_86, which has 99 KiB.  */
template <class By> struct shape {
    enum {
        D = By::D,
        THREADS = By::GROUPED ? 384 : 128,
        M = By::GROUPED || D > 128 ? 1 : 2,
        ROWS = THREADS / WARP * 16 * M,
        KEYS = By::GROUPED ? 64 : D > 128 ? 16 : 32,
        V_STAGES = By::GROUPED ? 2 : 1,
        TILE = KEYS * By::ROW,
        SHARED = (2 * ROWS * By::ROW + (2 + V_STAGES) * TILE) * 2 + By::BASE
    };
};

/* delta[row,head] = sum_d dout * out.  */
template <int V>
static __global__ void
__launch_bounds__(DOT_WARPS *WARP) dot_rows(struct df_flash_bwd g)
{
    unsigned item = blockIdx.x * DOT_WARPS + threadIdx.x / WARP;
    unsigned row = item / (unsigned) g.f.A, head = item % (unsigned) g.f.A;
    float x[V], y[V], sum = 0;

    if (row >= (unsigned) g.rows)
        return;
    const uint16_t *dout = df_head_of(g.dout, (int) row, (int) head, g.f.D);
    const uint16_t *out = df_head_of(g.f.out, (int) row, (int) head, g.f.D);

    for (int d = threadIdx.x % WARP * V; d < g.f.D; d += WARP * V) {
        df_load<V>(x, dout + d);
        df_load<V>(y, out + d);
#pragma unroll
        for (int i = 0; i < V; i++)
            sum += x[i] * y[i];
    }
    sum = df_warp_sum(sum);
    if (threadIdx.x % WARP == 0)
        g.delta[item] = sum;
}

/* The rows of a lane: g and g + 8 of each of its warp's M fragments.  */
template <int D, int M> struct lane_rows {
    float dq[M][D / 8][4];
    float lse[M][2], delta[M][2]; /* LSE to base 2 */
};

/* The lane's first row is M0 of the task.  */
template <int D, int M>
static __device__ __forceinline__ void
begin_rows(struct lane_rows<D, M> &r, const struct df_flash_bwd &g,
           const struct df_task &t, int m0)
{
    df_clear(r.dq);
#pragma unroll
    for (int i = 0; i < M * 2; i++) {
        int head, row = m0 + i * 8;

        r.lse[i / 2][i % 2] = r.delta[i / 2][i % 2] = 0;
        if (row >= t.rows)
            continue;
        size_t at = (size_t) df_row_of(g.f, t, row, &head) * g.f.A;

        r.lse[i / 2][i % 2] = g.f.lse[at + head] * DF_LOG2E;
        r.delta[i / 2][i % 2] = g.delta[at + head];
    }
}

/* S, products of queries and keys, becomes P.  The lane's first row is number
   R of the block.  */
template <int D, int M, int N, int ROWS>
static __device__ __forceinline__ void
soften(float (&s)[M][N][4], const struct lane_rows<D, M> &rows,
       const struct df_sight<ROWS> &sight, const struct df_step &step, int r,
       float scale)
{
    int t = threadIdx.x % 4;

#pragma unroll
    for (int i = 0; i < M * N * 4; i++) {
        float &x = s[i / 4 / N][i / 4 % N][i % 4];

        x = df_exp2(x * scale - rows.lse[i / 4 / N][i % 4 / 2]);
    }
    if (step.whole)
        return;
#pragma unroll
    for (int i = 0; i < M * 2; i++) {
        struct df_range seen = sight.seen[step.side][r + i * 8];

#pragma unroll
        for (int j = 0; j < N * 2; j++) {
            int key = step.key + j / 2 * 8 + t * 2 + j % 2;

            if (key < seen.low || key >= seen.high)
                s[i / 2][j / 2][i % 2 * 2 + j % 2] = 0;
        }
    }
}

/* DP, products of gradients and values, becomes dS.  */
template <int D, int M, int N>
static __device__ __forceinline__ void
differentiate(float (&dp)[M][N][4], const float (&p)[M][N][4],
              const struct lane_rows<D, M> &rows)
{
#pragma unroll
    for (int i = 0; i < M * N * 4; i++) {
        int m = i / 4 / N, n = i / 4 % N, c = i % 4;

        dp[m][n][c] = p[m][n][c] * (dp[m][n][c] - rows.delta[m][c / 2]);
    }
}

template <int D, int M>
static __device__ __forceinline__ void
store_rows(const struct lane_rows<D, M> &r, const struct df_flash_bwd &g,
           const struct df_task &t, int m0)
{
#pragma unroll
    for (int i = 0; i < M * 2; i++) {
        int head, row;

        if (m0 + i * 8 >= t.rows)
            continue;
        row = df_row_of(g.f, t, m0 + i * 8, &head);
        df_store_row(df_head_of(g.dq, row, head, g.f.D), g.f.D, g.f.wide,
                     r.dq[i / 2], i % 2, g.f.scale);
    }
}

template <class By>
static __device__ __forceinline__ void
differentiate_rows(const struct df_flash_bwd &g, const struct df_task &t,
                   int m0, uint16_t *shared)
{
    typedef shape<By> S;
    __shared__ struct df_sight<S::ROWS> sight;
    uint16_t *q = df_tiles_of<By>(shared), *dout = q + S::ROWS * By::ROW;
    uint16_t *k = dout + S::ROWS * By::ROW, *v = k + 2 * S::TILE;
    int r0 = threadIdx.x / WARP * 16 * S::M;
    int lane_row = r0 + (int) threadIdx.x % WARP / 4;
    struct lane_rows<By::D, S::M> r;
    struct df_walk w = df_look<S::KEYS>(sight, g.f, t, m0);
    int n = w.tiles[0] + w.tiles[1];
    auto load = [&](uint16_t *tile, const struct df_sides &from, int i) {
        struct df_step step = df_step_of<S::KEYS>(w, i);

        if (i < n)
            df_load_keys<By, S::THREADS, S::KEYS>(
                tile, g.f, from, t.kv, step.side, {step.key, step.end});
        df_cp_commit();
    };

    df_load_queries<By, S::THREADS, S::ROWS>(q, g.f, t, g.f.q, m0);
    df_load_queries<By, S::THREADS, S::ROWS>(dout, g.f, t, g.dout, m0);
    load(k, g.f.k, 0);
    load(v, g.f.v, 0);
    begin_rows(r, g, t, m0 + lane_row);
    for (int i = 0; i < n; i++) {
        float s[S::M][S::KEYS / 8][4], dp[S::M][S::KEYS / 8][4];
        uint16_t *now = k + i % 2 * S::TILE, *next = k + (i + 1) % 2 * S::TILE;
        uint16_t *v_next = v + (i + 1) % S::V_STAGES * S::TILE;

        df_cp_wait<0>();
        By::arrive();
        __syncthreads(); /* K and V are there, the K before has been used */
        if (S::V_STAGES == 1)
            load(next, g.f.k, i + 1);
        By::template multiply_nt<S::ROWS>(s, q, r0, now);
        By::template multiply_nt<S::ROWS>(dp, dout, r0,
                                          v + i % S::V_STAGES * S::TILE);
        if (S::V_STAGES > 1)
            load(next, g.f.k, i + 1);
        else
            __syncthreads(); /* V has been used */
        load(v_next, g.f.v, i + 1);
        By::template wait<1>(s);
        soften(s, r, sight, df_step_of<S::KEYS>(w, i), lane_row,
               g.f.scale * DF_LOG2E);
        By::template wait<0>(dp);
        differentiate(dp, s, r);
        By::multiply_pn(r.dq, dp, now, 0);
        By::template wait<0>(r.dq);
    }
    store_rows(r, g, t, m0 + lane_row);
}

template <class By>
static __global__ void
__launch_bounds__(shape<By>::THREADS)
    differentiate_queries(struct df_flash_bwd g, int n_tiles)
{
    extern __shared__ __align__(16) uint16_t shared[];
    int task = blockIdx.x, seq = task / g.f.G % g.f.B;
    int m0 = (n_tiles - 1 - task / g.f.G / g.f.B) * shape<By>::ROWS;
    struct df_task t = df_task_of(g.f, seq, task % g.f.G);

    if constexpr (By::exists)
        if (m0 < t.rows)
            differentiate_rows<By>(g, t, m0, shared);
}

template <class By>
static df_status
run(struct cuda_stream *s, const char *op, const struct df_flash_bwd *g)
{
    typedef shape<By> S;
    int n_tiles = (g->f.max_rows + S::ROWS - 1) / S::ROWS;
    size_t grid;

    DF_TRY(df_cuda_shared((const void *) differentiate_queries<By>, S::SHARED,
                          op));
    DF_TRY(
        df_cuda_blocks(op, (size_t) n_tiles, (size_t) g->f.B * g->f.G, &grid));
    differentiate_queries<By>
        <<<(unsigned) grid, S::THREADS, S::SHARED, s->cu>>>(*g, n_tiles);
    DF_LAUNCHED(draft_attention_bwd);
    return DF_OK;
}

df_status
df_flash_dq(struct cuda_stream *s, const char *op,
            const struct df_flash_bwd *g)
{
    bool groups = df_flash_grouped(
        g->f, (const void *) differentiate_queries<df_by_group<128>>);
    size_t grid;

    DF_TRY(df_cuda_blocks(op, df_ceil((size_t) g->rows * g->f.A, DOT_WARPS), 1,
                          &grid));
    if (g->f.wide)
        dot_rows<4><<<(unsigned) grid, DOT_WARPS * WARP, 0, s->cu>>>(*g);
    else
        dot_rows<1><<<(unsigned) grid, DOT_WARPS * WARP, 0, s->cu>>>(*g);
    DF_LAUNCHED(draft_attention_bwd);
    return DF_BY_HEAD_SIZE(op, g->f.D, groups, run, s, op, g);
}

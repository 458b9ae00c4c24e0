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
    WARPS = 4,
    THREADS = WARPS * WARP
};

/* Shared memory fits sm_86, which has 99 KiB.  */
template <int D> struct shape {
    enum {
        M = D > 128 ? 1 : 2,
        ROWS = WARPS * 16 * M,
        KEYS = D > 128 ? 16 : 32,
        PITCH = df_tile<D>::PITCH,
        TILE = KEYS * PITCH,
        SHARED = (2 * ROWS * PITCH + 3 * TILE) * 2
    };
};

/* delta[row,head] = sum_d dout * out.  */
template <int V>
static __global__ void
__launch_bounds__(THREADS) dot_rows(struct df_flash_bwd g)
{
    unsigned item = blockIdx.x * WARPS + threadIdx.x / WARP;
    unsigned row = item / (unsigned) g.f.A, head = item % (unsigned) g.f.A;
    float x[V], y[V], sum = 0;

    if (row >= (unsigned) g.rows)
        return;
    size_t at = (size_t) head * g.f.D;
    const uint16_t *dout = g.dout.data + row * g.dout.ld + at;
    const uint16_t *out = g.f.out.data + row * g.f.out.ld + at;

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

/* S = dS, from the products S of queries and keys and DP of gradients and
   values.  The lane's first row is number R of the block.  */
template <int D, int M, int N, int ROWS>
static __device__ __forceinline__ void
differentiate(float (&s)[M][N][4], const float (&dp)[M][N][4],
              const struct lane_rows<D, M> &rows,
              const struct df_sight<ROWS> &sight, const struct df_step &step,
              int r, float scale)
{
    int t = threadIdx.x % 4;

#pragma unroll
    for (int i = 0; i < M * 2; i++) {
        struct df_range seen = sight.seen[step.side][r + i * 8];
        float lse = rows.lse[i / 2][i % 2], delta = rows.delta[i / 2][i % 2];

#pragma unroll
        for (int j = 0; j < N * 2; j++) {
            int at = i % 2 * 2 + j % 2;
            int key = step.key + j / 2 * 8 + t * 2 + j % 2;
            float &x = s[i / 2][j / 2][at];

            x = df_exp2(x * scale - lse) * (dp[i / 2][j / 2][at] - delta);
            if (!step.whole && (key < seen.low || key >= seen.high))
                x = 0;
        }
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
        df_store_row(g.dq.data + row * g.dq.ld + (size_t) head * g.f.D, g.f.D,
                     g.f.wide, r.dq[i / 2], i % 2, g.f.scale);
    }
}

template <int D>
static __global__ void
__launch_bounds__(THREADS)
    differentiate_queries(struct df_flash_bwd g, int n_tiles)
{
    typedef shape<D> S;
    extern __shared__ __align__(16) uint16_t shared[];
    __shared__ struct df_sight<S::ROWS> sight;
    uint16_t *q = shared, *dout = q + S::ROWS * S::PITCH;
    uint16_t *v = dout + S::ROWS * S::PITCH, *k = v + S::TILE;
    int task = blockIdx.x, seq = task / g.f.G % g.f.B;
    int m0 = (n_tiles - 1 - task / g.f.G / g.f.B) * S::ROWS;
    int r0 = threadIdx.x / WARP * 16 * S::M;
    int lane_row = r0 + (int) threadIdx.x % WARP / 4;
    struct df_task t = df_task_of(g.f, seq, task % g.f.G);
    struct lane_rows<D, S::M> r;

    if (m0 >= t.rows)
        return;
    struct df_walk w = df_look<S::KEYS>(sight, g.f, t, m0);
    int n = w.tiles[0] + w.tiles[1];
    auto load = [&](uint16_t *tile, const struct df_sides &from, int i) {
        struct df_step step = df_step_of<S::KEYS>(w, i);

        if (i < n)
            df_load_keys<D, THREADS, S::KEYS>(tile, g.f, from, t.kv, step.side,
                                              {step.key, step.end});
        df_cp_commit();
    };

    df_load_queries<D, THREADS, S::ROWS>(q, g.f, t, g.f.q, m0);
    df_load_queries<D, THREADS, S::ROWS>(dout, g.f, t, g.dout, m0);
    load(k, g.f.k, 0);
    load(v, g.f.v, 0);
    begin_rows(r, g, t, m0 + lane_row);
    for (int i = 0; i < n; i++) {
        float s[S::M][S::KEYS / 8][4], dp[S::M][S::KEYS / 8][4];
        uint16_t *now = k + i % 2 * S::TILE, *next = k + (i + 1) % 2 * S::TILE;

        df_cp_wait<0>();
        __syncthreads(); /* K and V are there, the K before has been used */
        load(next, g.f.k, i + 1);
        df_clear(dp);
        df_multiply_nt<D>(dp, dout, r0, v);
        df_clear(s);
        df_multiply_nt<D>(s, q, r0, now);
        __syncthreads(); /* V has been used */
        load(v, g.f.v, i + 1);
        differentiate(s, dp, r, sight, df_step_of<S::KEYS>(w, i), lane_row,
                      g.f.scale * DF_LOG2E);
        df_multiply_pn<D>(r.dq, s, now, 0);
    }
    store_rows(r, g, t, m0 + lane_row);
}

template <int D>
static df_status
run(struct cuda_stream *s, const char *op, const struct df_flash_bwd *g)
{
    int n_tiles = (g->f.max_rows + shape<D>::ROWS - 1) / shape<D>::ROWS;
    size_t grid;

    DF_TRY(df_cuda_shared((const void *) differentiate_queries<D>,
                          shape<D>::SHARED, op));
    DF_TRY(
        df_cuda_blocks(op, (size_t) n_tiles, (size_t) g->f.B * g->f.G, &grid));
    differentiate_queries<D>
        <<<(unsigned) grid, THREADS, shape<D>::SHARED, s->cu>>>(*g, n_tiles);
    DF_LAUNCHED(draft_attention_bwd);
    return DF_OK;
}

df_status
df_flash_dq(struct cuda_stream *s, const char *op,
            const struct df_flash_bwd *g)
{
    size_t grid;

    DF_TRY(df_cuda_blocks(op, df_ceil((size_t) g->rows * g->f.A, WARPS), 1,
                          &grid));
    if (g->f.wide)
        dot_rows<4><<<(unsigned) grid, THREADS, 0, s->cu>>>(*g);
    else
        dot_rows<1><<<(unsigned) grid, THREADS, 0, s->cu>>>(*g);
    DF_LAUNCHED(draft_attention_bwd);
    return DF_BY_HEAD_SIZE(op, g->f.D, run, s, op, g);
}

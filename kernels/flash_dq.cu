/* flash_dq.cu - backward pass of the drafter's attention, by queries.

   With P = e^(scale q.k - lse), from the forward pass's lse, in two kernels:

       delta = sum_d dout * out            a warp a row
       dS = P * (dO V^T - delta),  dQ = scale * dS K

   The second goes over tiles of keys as flash.cu does: a block has ROWS rows
   of queries, a warp 16 of them.  The gradients of keys and values are
   flash_dkv.cu's, which sums over the queries: so no sum is shared between
   blocks, and the bits are the same every time.  Bound by the matrix
   units.  */

#include "flash.cuh"

enum {
    ROWS = 64,
    THREADS = ROWS / 16 * WARP
};

template <int D> struct shape {
    enum {
        KEYS = D > 128 ? 16 : 32,
        STAGES = D > 128 ? 1 : 2,
        TILE = KEYS * df_tile<D>::PITCH,
        SHARED = (2 * ROWS * df_tile<D>::PITCH + 2 * STAGES * TILE) * 2
    };
};

/* delta[row,head] = sum_d dout * out.  */
static __global__ void
__launch_bounds__(THREADS) dot_rows(struct df_flash_bwd g)
{
    size_t item = (size_t) blockIdx.x * (THREADS / WARP) + threadIdx.x / WARP;
    size_t row = item / g.f.A, at = item % g.f.A * g.f.D;
    float sum = 0;

    if (row >= (size_t) g.rows)
        return;
    const uint16_t *dout = g.dout.data + row * g.dout.ld + at;
    const uint16_t *out = g.f.out.data + row * g.f.out.ld + at;

    for (int d = threadIdx.x % WARP; d < g.f.D; d += WARP)
        sum += df_wide(dout[d]) * df_wide(out[d]);
    sum = df_warp_sum(sum);
    if (threadIdx.x % WARP == 0)
        g.delta[item] = sum;
}

/* The two rows of a lane.  */
struct lane_rows {
    float lse[2], delta[2]; /* LSE to base 2 */
    struct df_range seen[2][2];
};

static __device__ __forceinline__ void
begin_rows(struct lane_rows &r, const struct df_flash_bwd &g,
           const struct df_task &t, int m)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        int head, row = m + h * 8;

        r.lse[h] = r.delta[h] = 0;
        r.seen[h][0] = r.seen[h][1] = {0, 0};
        if (row >= t.rows)
            continue;
        r.seen[h][0] = df_seen(g.f, t, row, false);
        r.seen[h][1] = df_seen(g.f, t, row, true);
        size_t at = (size_t) df_row_of(g.f, t, row, &head) * g.f.A;

        r.lse[h] = g.f.lse[at + head] * DF_LOG2E;
        r.delta[h] = g.delta[at + head];
    }
}

/* S = dS, from the products S of queries and keys and DP of gradients and
   values.  */
template <int N>
static __device__ __forceinline__ void
differentiate(float (&s)[N][4], const float (&dp)[N][4],
              const struct lane_rows &r, const struct df_step &step,
              float scale)
{
    int t = threadIdx.x % 4;

#pragma unroll
    for (int i = 0; i < N * 4; i++) {
        int h = i % 4 / 2, key = step.key + i / 4 * 8 + t * 2 + i % 2;
        struct df_range seen = step.side ? r.seen[h][1] : r.seen[h][0];
        float p = exp2f(s[i / 4][i % 4] * scale - r.lse[h]);

        s[i / 4][i % 4] = key >= seen.low && key < seen.high
                              ? p * (dp[i / 4][i % 4] - r.delta[h])
                              : 0;
    }
}

template <int D>
static __device__ __forceinline__ void
store_rows(const float (&dq)[D / 8][4], const struct df_flash_bwd &g,
           const struct df_task &t, int m)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        int head, row;

        if (m + h * 8 >= t.rows)
            continue;
        row = df_row_of(g.f, t, m + h * 8, &head);
        df_store_row(g.dq.data + row * g.dq.ld + (size_t) head * g.f.D, g.f.D,
                     g.f.wide, dq, h, g.f.scale);
    }
}

template <int D>
static __global__ void
__launch_bounds__(THREADS)
    differentiate_queries(struct df_flash_bwd g, int n_tiles)
{
    typedef shape<D> S;
    extern __shared__ __align__(16) uint16_t shared[];
    __shared__ struct df_range all;
    uint16_t *q = shared, *dout = q + ROWS * df_tile<D>::PITCH;
    uint16_t *k = dout + ROWS * df_tile<D>::PITCH;
    uint16_t *v = k + S::STAGES * S::TILE;
    int task = blockIdx.x, seq = task / g.f.G % g.f.B;
    int m = (n_tiles - 1 - task / g.f.G / g.f.B) * ROWS;
    int r0 = threadIdx.x / WARP * 16, lane_row = threadIdx.x % WARP / 4;
    struct df_task t = df_task_of(g.f, seq, task % g.f.G);
    struct lane_rows r;
    float dq[D / 8][4];

    if (m >= t.rows)
        return;
    struct df_walk w = df_walk_of<S::KEYS>(g.f, t, m, ROWS, &all);
    int n = w.tiles[0] + w.tiles[1];
    auto load = [&](int i) {
        struct df_step step = df_step_of<S::KEYS>(w, i);
        int at = i % S::STAGES * S::TILE;

        df_load_keys<D, THREADS, S::KEYS>(k + at, g.f, g.f.k, t.kv, step);
        df_load_keys<D, THREADS, S::KEYS>(v + at, g.f, g.f.v, t.kv, step);
    };

    df_load_queries<D, THREADS, ROWS>(q, g.f, t, g.f.q, m);
    df_load_queries<D, THREADS, ROWS>(dout, g.f, t, g.dout, m);
    if (S::STAGES > 1)
        load(0);
    df_cp_commit();
    begin_rows(r, g, t, m + r0 + lane_row);
    df_clear(dq);
    for (int i = 0; i < n; i++) {
        float s[S::KEYS / 8][4], dp[S::KEYS / 8][4];
        int at = i % S::STAGES * S::TILE;

        if (S::STAGES == 1)
            load(i);
        else if (i + 1 < n)
            load(i + 1);
        df_cp_commit();
        df_cp_wait<S::STAGES - 1>();
        __syncthreads();
        df_clear(s);
        df_clear(dp);
        df_multiply_nt<D>(s, q, r0, k + at);
        df_multiply_nt<D>(dp, dout, r0, v + at);
        differentiate(s, dp, r, df_step_of<S::KEYS>(w, i),
                      g.f.scale * DF_LOG2E);
        df_multiply_pn<D>(dq, s, k + at, 0);
        __syncthreads();
    }
    store_rows<D>(dq, g, t, m + r0 + lane_row);
}

template <int D>
static df_status
run(struct cuda_stream *s, const char *op, const struct df_flash_bwd *g)
{
    int n_tiles = (g->f.max_rows + ROWS - 1) / ROWS;
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

    DF_TRY(df_cuda_blocks(
        op, df_ceil((size_t) g->rows * g->f.A, THREADS / WARP), 1, &grid));
    dot_rows<<<(unsigned) grid, THREADS, 0, s->cu>>>(*g);
    DF_LAUNCHED(draft_attention_bwd);
    return DF_BY_HEAD_SIZE(op, g->f.D, run, s, op, g);
}

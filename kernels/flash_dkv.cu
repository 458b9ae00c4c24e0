/* flash_dkv.cu - backward pass of the drafter's attention, by keys.

   A block has KEYS keys of the context, or of blocks' own rows, with one
   key/value head, a warp 16 of them, and goes over the rows of queries that
   may see one of them in tiles of QUERIES:

       S^T = K Q^T,  P^T = e^(scale S^T - lse),  dV += P^T dO
       dS^T = P^T * (V dO^T - delta),            dK += scale * dS^T Q

   The blocks of a sequence that don't reach a tile of keys are skipped: a
   warp looks at 32 tiles of queries at once.  Sums are in registers and in
   the order of the rows.  Heads of more than 128 elements have two blocks,
   each with half of the columns of dK and dV.  Bound by the matrix units.  */

#include "flash.cuh"

enum {
    KEYS = 64,
    THREADS = KEYS / 16 * WARP
};

template <int D> struct shape {
    enum {
        QUERIES = D > 128 ? 16 : 32,
        STAGES = D > 128 ? 1 : 2,
        COLUMNS = D > 128 ? D / 2 : D, /* of dK and dV */
        TILE = QUERIES * df_tile<D>::PITCH,
        SHARED = (2 * KEYS * df_tile<D>::PITCH + 2 * STAGES * TILE) * 2
    };
};

/* What a row of queries brings along.  */
struct __align__(16) column
{
    float lse, delta; /* LSE to base 2 */
    struct df_range seen;
};

/* The keys of a block: KEY to END - 1 of a side, of which the rows of queries
   FIRST to LAST - 1 may see some.  */
struct keys {
    int side, key, end;
    int first, last;
};

/* False: the sequence has no such keys.  */
static __device__ __forceinline__ bool
find_keys(struct keys *k, const struct df_flash &f, const struct df_task &t,
          int seq, int side, int tile)
{
    int block_rows = f.heads * f.b;
    const int32_t *cu = side ? f.cu_blocks : f.cu_seqlens;
    int size = side ? f.b : 1;

    k->side = side;
    k->key = cu[seq] * size + tile * KEYS;
    k->end = min(cu[seq + 1] * size, k->key + KEYS);
    k->first = 0;
    k->last = t.rows;
    if (side) {
        k->first = (k->key / f.b - t.first) * block_rows;
        k->last = ((k->end - 1) / f.b + 1 - t.first) * block_rows;
    }
    return k->key < k->end;
}

/* Whether one of the N rows from M on may see one of the keys.  Slot 0 sees
   the earliest keys of its block.  */
static __device__ __forceinline__ bool
reaches(const struct df_flash &f, const struct df_task &t,
        const struct keys &k, int m, int n)
{
    int block_rows = f.heads * f.b;
    int last = (min(m + n, k.last) - 1) / block_rows;

    if (k.side)
        return true;
    for (int i = m / block_rows; i <= last; i++) {
        struct df_range r = df_seen(f, t, i * block_rows, false);

        if (r.low < k.end && r.high > k.key)
            return true;
    }
    return false;
}

/* The first tile of N rows at M, M + N, ... that reaches the keys; k.last if
   none does.  All lanes of a warp must call, and all warps find the same.  */
static __device__ __forceinline__ int
next_tile(const struct df_flash &f, const struct df_task &t,
          const struct keys &k, int m, int n)
{
    for (; m < k.last; m += WARP * n) {
        int mine = m + (int) threadIdx.x % WARP * n;
        bool good = mine < k.last && reaches(f, t, k, mine, n);
        unsigned found = __ballot_sync(ALL_LANES, good);

        if (found)
            return m + (__ffs((int) found) - 1) * n;
    }
    return k.last;
}

template <int N>
static __device__ __forceinline__ void
load_columns(struct column (&c)[N], const struct df_flash_bwd &g,
             const struct df_task &t, const struct keys &k, int m)
{
    for (int i = threadIdx.x; i < N; i += THREADS) {
        c[i] = {
            0, 0, {0, 0}
        };
        if (m + i < k.last) {
            int head, row = df_row_of(g.f, t, m + i, &head);
            size_t at = (size_t) row * g.f.A + head;

            c[i] = {g.f.lse[at] * DF_LOG2E, g.delta[at],
                    df_seen(g.f, t, m + i, k.side)};
        }
    }
}

/* From products of keys and queries to P.  KEY is the lane's first.  */
template <int N, int C>
static __device__ __forceinline__ void
soften(float (&s)[1][N][4], const struct column (&c)[C], int key, float scale)
{
    int t = threadIdx.x % 4;

#pragma unroll
    for (int i = 0; i < N * 2; i++) {
        struct column q = c[i / 2 * 8 + t * 2 + i % 2];

#pragma unroll
        for (int h = 0; h < 2; h++) {
            float &x = s[0][i / 2][h * 2 + i % 2];
            int mine = key + h * 8;

            x = df_exp2(x * scale - q.lse);
            if (mine < q.seen.low || mine >= q.seen.high)
                x = 0;
        }
    }
}

/* DP, products of values and gradients, becomes dS.  */
template <int N, int C>
static __device__ __forceinline__ void
differentiate(float (&dp)[1][N][4], const float (&p)[1][N][4],
              const struct column (&c)[C])
{
    int t = threadIdx.x % 4;

#pragma unroll
    for (int i = 0; i < N * 4; i++) {
        float delta = c[i / 4 * 8 + t * 2 + i % 2].delta;

        dp[0][i / 4][i % 4] =
            p[0][i / 4][i % 4] * (dp[0][i / 4][i % 4] - delta);
    }
}

/* Columns FIRST on of dK or dV.  */
template <int N>
static __device__ __forceinline__ void
store_keys(const struct df_sides &to, const float (&c)[1][N][4],
           const struct df_flash_bwd &g, const struct df_task &t,
           const struct keys &k, int first, float scale)
{
    struct df_rows rows = k.side ? to.side[1] : to.side[0];
    int key = k.key + threadIdx.x / WARP * 16 + threadIdx.x % WARP / 4;

#pragma unroll
    for (int h = 0; h < 2; h++)
        if (key + h * 8 < k.end)
            df_store_row(rows.data + (size_t) (key + h * 8) * rows.ld
                             + (size_t) t.kv * g.f.D + first,
                         g.f.D - first, g.f.wide, c[0], h, scale);
}

template <int D>
static __global__ void
__launch_bounds__(THREADS) differentiate_keys(struct df_flash_bwd g, int side)
{
    typedef shape<D> S;
    extern __shared__ __align__(16) uint16_t shared[];
    __shared__ struct column columns[S::STAGES][S::QUERIES];
    uint16_t *k_tile = shared, *v_tile = k_tile + KEYS * df_tile<D>::PITCH;
    uint16_t *q = v_tile + KEYS * df_tile<D>::PITCH;
    uint16_t *dout = q + S::STAGES * S::TILE;
    int first = blockIdx.y * S::COLUMNS, task = blockIdx.x;
    int seq = task / g.f.G % g.f.B, r0 = threadIdx.x / WARP * 16;
    struct df_task t = df_task_of(g.f, seq, task % g.f.G);
    float dk[1][S::COLUMNS / 8][4], dv[1][S::COLUMNS / 8][4];
    struct keys k;

    if (!find_keys(&k, g.f, t, seq, side, task / g.f.G / g.f.B))
        return;
    auto load = [&](int m, int stage) {
        df_load_queries<D, THREADS, S::QUERIES>(q + stage * S::TILE, g.f, t,
                                                g.f.q, m);
        df_load_queries<D, THREADS, S::QUERIES>(dout + stage * S::TILE, g.f, t,
                                                g.dout, m);
        load_columns(columns[stage], g, t, k, m);
    };
    int m = next_tile(g.f, t, k, k.first, S::QUERIES);

    df_load_keys<D, THREADS, KEYS>(k_tile, g.f, g.f.k, t.kv, k.side,
                                   {k.key, k.end});
    df_load_keys<D, THREADS, KEYS>(v_tile, g.f, g.f.v, t.kv, k.side,
                                   {k.key, k.end});
    if (S::STAGES > 1 && m < k.last)
        load(m, 0);
    df_cp_commit();
    df_clear(dk);
    df_clear(dv);
    for (int i = 0; m < k.last; i++) {
        float s[1][S::QUERIES / 8][4], dp[1][S::QUERIES / 8][4];
        int now = i % S::STAGES, at = now * S::TILE;
        int next = next_tile(g.f, t, k, m + S::QUERIES, S::QUERIES);

        if (S::STAGES == 1)
            load(m, 0);
        else if (next < k.last)
            load(next, 1 - now);
        df_cp_commit();
        df_cp_wait<S::STAGES - 1>();
        __syncthreads();
        df_clear(s);
        df_multiply_nt<D>(s, k_tile, r0, q + at);
        soften(s, columns[now], k.key + r0 + (int) threadIdx.x % WARP / 4,
               g.f.scale * DF_LOG2E);
        df_multiply_pn<D>(dv, s, dout + at, first);
        df_clear(dp);
        df_multiply_nt<D>(dp, v_tile, r0, dout + at);
        differentiate(dp, s, columns[now]);
        df_multiply_pn<D>(dk, dp, q + at, first);
        __syncthreads();
        m = next;
    }
    df_cp_wait<0>(); /* the keys, if nobody sees them */
    store_keys(g.dk, dk, g, t, k, first, g.f.scale);
    store_keys(g.dv, dv, g, t, k, first, 1.0f);
}

/* The gradients of one side's keys, of which a sequence has at most MOST.  */
template <int D>
static df_status
run(struct cuda_stream *s, const char *op, const struct df_flash_bwd *g,
    int side, int most)
{
    size_t tiles = df_ceil((size_t) most, KEYS), grid;

    if (tiles == 0)
        return DF_OK;
    DF_TRY(df_cuda_shared((const void *) differentiate_keys<D>,
                          shape<D>::SHARED, op));
    DF_TRY(df_cuda_blocks(op, tiles, (size_t) g->f.B * g->f.G, &grid));
    differentiate_keys<D><<<dim3((unsigned) grid, D / shape<D>::COLUMNS),
                            THREADS, shape<D>::SHARED, s->cu>>>(*g, side);
    DF_LAUNCHED(draft_attention_bwd);
    return DF_OK;
}

df_status
df_flash_dkv(struct cuda_stream *s, const char *op,
             const struct df_flash_bwd *g)
{
    DF_TRY(DF_BY_HEAD_SIZE(op, g->f.D, run, s, op, g, 0, g->max_seqlen));
    return DF_BY_HEAD_SIZE(op, g->f.D, run, s, op, g, 1, g->max_own);
}

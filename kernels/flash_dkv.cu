/* flash_dkv.cu - backward pass of the drafter's attention, by keys.

   A block has KEYS keys of the context, or of blocks' own rows, with one
   key/value head, a warp 16 of them, and goes over the rows of queries that
   may see one of them in tiles of QUERIES:

       S^T = K Q^T,  P^T = e^(scale S^T - lse),  dV += P^T dO
       dS^T = P^T * (V dO^T - delta),            dK += scale * dS^T Q

   The blocks of a sequence that don't reach a tile of keys are skipped, and
   where all see all of it, nothing is masked: a warp looks at 32 tiles of
   queries at once.  Sums are in registers and in the order of the rows.
   Heads of more than 128 elements have two blocks, each with half of the
   columns of dK and dV.  Bound by the matrix units.  */

#include "flash.cuh"

/* Shared memory of warps fits sm_86, which has 99 KiB.  */
template <class By> struct shape {
    enum {
        D = By::D,
        KEYS = By::GROUPED ? 128 : 64,
        THREADS = KEYS / 16 * WARP,
        QUERIES = By::GROUPED ? 64 : D > 128 ? 16 : 32,
        STAGES = D > 128 ? 1 : 2,
        COLUMNS = D > 128 ? D / 2 : D, /* of dK and dV */
        TILE = QUERIES * By::ROW,
        SHARED = (2 * KEYS * By::ROW + 2 * STAGES * TILE) * 2 + By::BASE
    };
};

/* What N rows of queries bring along.  */
template <int N> struct columns {
    float lse[N], delta[N];
};

/* The tiles of rows of queries that see a block's keys, as a queue: of the 32
   from FIRST on, those that are left, and those that see all of them.  */
struct queue {
    int first;
    unsigned some, all;
};

/* Some rows of queries; WHOLE: all of them see all keys.  */
struct rows {
    int m;
    bool whole;
};

/* The keys of a block: KEY to END - 1 of a side, of which the rows of queries
   FIRST to LAST - 1 may see some.  */
struct keys {
    int side, key, end;
    int first, last;
};

/* Tile TILE of N keys; false: the sequence has no such keys.  */
static __device__ __forceinline__ bool
find_keys(struct keys *k, const struct df_flash &f, const struct df_task &t,
          int seq, int side, int tile, int n)
{
    int block_rows = f.heads * f.b;
    const int32_t *cu = side ? f.cu_blocks : f.cu_seqlens;
    int size = side ? f.b : 1;

    k->side = side;
    k->key = cu[seq] * size + tile * n;
    k->end = min(cu[seq + 1] * size, k->key + n);
    k->first = 0;
    k->last = t.rows;
    if (side) {
        k->first = (k->key / f.b - t.first) * block_rows;
        k->last = ((k->end - 1) / f.b + 1 - t.first) * block_rows;
    }
    return k->key < k->end;
}

/* Whether the rows M to LAST - 1, of N, see some of the keys, or all.  Slot 0
   sees the earliest keys of its block and no later ones than the others.  */
static __device__ __forceinline__ void
look(bool *some, bool *all, const struct df_flash &f, const struct df_task &t,
     const struct keys &k, int m, int n)
{
    int block_rows = f.heads * f.b;
    int end = df_divide(min(m + n, k.last) - 1, f.by_block);

    *some = k.side && m < k.last;
    *all = m + n <= k.last;
    for (int i = df_divide(m, f.by_block); m < k.last && i <= end; i++) {
        struct df_range r = df_seen(f, t, i * block_rows, k.side);
        struct df_range s = df_seen(f, t, i * block_rows + f.b - 1, k.side);

        *some |= r.low < k.end && r.high > k.key;
        *all &= s.low <= k.key && r.high >= k.end;
    }
}

/* The next N rows that see some keys, K.LAST if none do.  All lanes of a warp
   must call, and all warps find the same.  */
static __device__ __forceinline__ struct rows
next_rows(struct queue *q, const struct df_flash &f, const struct df_task &t,
          const struct keys &k, int n)
{
    while (q->some == 0) {
        bool some, all;

        q->first += WARP * n;
        if (q->first >= k.last)
            return {k.last, false};
        look(&some, &all, f, t, k, q->first + (int) threadIdx.x % WARP * n, n);
        q->some = __ballot_sync(ALL_LANES, some);
        q->all = __ballot_sync(ALL_LANES, all);
    }
    int i = __ffs((int) q->some) - 1;

    q->some &= q->some - 1;
    return {q->first + i * n, (q->all >> i & 1) != 0};
}

/* The copies are left to be committed.  */
template <int N>
static __device__ __forceinline__ void
load_columns(struct columns<N> &c, const struct df_flash_bwd &g,
             const struct df_task &t, const struct keys &k, int m)
{
    for (int i = threadIdx.x; i < N; i += blockDim.x) {
        bool there = m + i < k.last;
        int head, row = df_row_of(g.f, t, there ? m + i : m, &head);
        size_t at = (size_t) row * g.f.A + head;

        df_cp_async(c.lse + i, g.f.lse + at, there);
        df_cp_async(c.delta + i, g.delta + at, there);
    }
}

/* From products of keys and queries to P.  */
template <int N, int C>
static __device__ __forceinline__ void
soften(float (&s)[1][N][4], const struct columns<C> &c, float scale)
{
    int t = threadIdx.x % 4;

#pragma unroll
    for (int i = 0; i < N * 2; i++) {
        float lse = c.lse[i / 2 * 8 + t * 2 + i % 2] * DF_LOG2E;

#pragma unroll
        for (int h = 0; h < 2; h++) {
            float &x = s[0][i / 2][h * 2 + i % 2];

            x = df_exp2(x * scale - lse);
        }
    }
}

/* P becomes 0 where a row of queries, the first one M, doesn't see a key, the
   lane's first one KEY.  */
template <int N>
static __device__ __forceinline__ void
mask(float (&p)[1][N][4], const struct df_flash &f, const struct df_task &t,
     const struct keys &k, int m, int key)
{
#pragma unroll
    for (int i = 0; i < N * 2; i++) {
        int row = m + i / 2 * 8 + (int) threadIdx.x % 4 * 2 + i % 2;
        struct df_range seen = {0, 0};

        if (row < k.last)
            seen = df_seen(f, t, row, k.side);
#pragma unroll
        for (int h = 0; h < 2; h++)
            if (key + h * 8 < seen.low || key + h * 8 >= seen.high)
                p[0][i / 2][h * 2 + i % 2] = 0;
    }
}

/* DP, products of values and gradients, becomes dS.  */
template <int N, int C>
static __device__ __forceinline__ void
differentiate(float (&dp)[1][N][4], const float (&p)[1][N][4],
              const struct columns<C> &c)
{
    int t = threadIdx.x % 4;

#pragma unroll
    for (int i = 0; i < N * 4; i++) {
        float delta = c.delta[i / 4 * 8 + t * 2 + i % 2];

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
            df_store_row(df_head_of(rows, key + h * 8, t.kv, g.f.D) + first,
                         g.f.D - first, g.f.wide, c[0], h, scale);
}

template <class By>
static __device__ __forceinline__ void
sum_keys(const struct df_flash_bwd &g, const struct df_task &t,
         const struct keys &k, uint16_t *shared)
{
    typedef shape<By> S;
    __shared__ struct columns<S::QUERIES> columns[S::STAGES];
    uint16_t *k_tile = df_tiles_of<By>(shared);
    uint16_t *v_tile = k_tile + S::KEYS * By::ROW;
    uint16_t *q = v_tile + S::KEYS * By::ROW, *dout = q + S::STAGES * S::TILE;
    int first = blockIdx.y * S::COLUMNS, r0 = threadIdx.x / WARP * 16;
    int key = k.key + r0 + (int) threadIdx.x % WARP / 4;
    float dk[1][S::COLUMNS / 8][4], dv[1][S::COLUMNS / 8][4];
    auto load = [&](int m, int stage) {
        df_load_queries<By, S::THREADS, S::QUERIES>(q + stage * S::TILE, g.f,
                                                    t, g.f.q, m);
        df_load_queries<By, S::THREADS, S::QUERIES>(dout + stage * S::TILE,
                                                    g.f, t, g.dout, m);
        load_columns(columns[stage], g, t, k, m);
    };
    struct queue queue = {k.first - WARP * S::QUERIES, 0, 0};
    struct rows rows = next_rows(&queue, g.f, t, k, S::QUERIES);

    df_load_keys<By, S::THREADS, S::KEYS>(k_tile, g.f, g.f.k, t.kv, k.side,
                                          {k.key, k.end});
    df_load_keys<By, S::THREADS, S::KEYS>(v_tile, g.f, g.f.v, t.kv, k.side,
                                          {k.key, k.end});
    if (S::STAGES > 1 && rows.m < k.last)
        load(rows.m, 0);
    df_clear(dk);
    df_clear(dv);
    for (int i = 0; rows.m < k.last; i++) {
        float s[1][S::QUERIES / 8][4], dp[1][S::QUERIES / 8][4];
        int now = i % S::STAGES, at = now * S::TILE;
        struct rows next;

        if (S::STAGES == 1) {
            __syncthreads(); /* the rows before have been used */
            load(rows.m, 0);
        }
        df_cp_commit();
        df_cp_wait<0>();
        By::arrive();
        __syncthreads(); /* the rows are there, those before used */
        By::template multiply_nt<S::KEYS>(s, k_tile, r0, q + at);
        By::template multiply_nt<S::KEYS>(dp, v_tile, r0, dout + at);
        next = next_rows(&queue, g.f, t, k, S::QUERIES);
        if (S::STAGES > 1 && next.m < k.last)
            load(next.m, 1 - now);
        By::template wait<1>(s);
        soften(s, columns[now], g.f.scale * DF_LOG2E);
        if (!rows.whole)
            mask(s, g.f, t, k, rows.m, key);
        By::multiply_pn(dv, s, dout + at, first);
        By::template wait<1>(dp);
        differentiate(dp, s, columns[now]);
        By::multiply_pn(dk, dp, q + at, first);
        By::template wait<0>(dv);
        By::template wait<0>(dk);
        rows = next;
    }
    df_cp_commit();
    df_cp_wait<0>(); /* the keys, if nobody sees them */
    store_keys(g.dk, dk, g, t, k, first, g.f.scale);
    store_keys(g.dv, dv, g, t, k, first, 1.0f);
}

template <class By>
static __global__ void
__launch_bounds__(shape<By>::THREADS)
    differentiate_keys(struct df_flash_bwd g, int side)
{
    extern __shared__ __align__(16) uint16_t shared[];
    int task = blockIdx.x, seq = task / g.f.G % g.f.B;
    struct df_task t = df_task_of(g.f, seq, task % g.f.G);
    struct keys k;

    if constexpr (By::exists)
        if (find_keys(&k, g.f, t, seq, side, task / g.f.G / g.f.B,
                      shape<By>::KEYS))
            sum_keys<By>(g, t, k, shared);
}

/* The gradients of one side's keys, of which a sequence has at most MOST.  */
template <class By>
static df_status
run(struct cuda_stream *s, const char *op, const struct df_flash_bwd *g,
    int side, int most)
{
    typedef shape<By> S;
    size_t tiles = df_ceil((size_t) most, S::KEYS), grid;

    if (tiles == 0)
        return DF_OK;
    DF_TRY(
        df_cuda_shared((const void *) differentiate_keys<By>, S::SHARED, op));
    DF_TRY(df_cuda_blocks(op, tiles, (size_t) g->f.B * g->f.G, &grid));
    differentiate_keys<By><<<dim3((unsigned) grid, S::D / S::COLUMNS),
                             S::THREADS, S::SHARED, s->cu>>>(*g, side);
    DF_LAUNCHED(draft_attention_bwd);
    return DF_OK;
}

df_status
df_flash_dkv(struct cuda_stream *s, const char *op,
             const struct df_flash_bwd *g)
{
    bool groups = df_flash_grouped(
        g->f, (const void *) differentiate_keys<df_by_group<128>>);

    DF_TRY(
        DF_BY_HEAD_SIZE(op, g->f.D, groups, run, s, op, g, 0, g->max_seqlen));
    return DF_BY_HEAD_SIZE(op, g->f.D, groups, run, s, op, g, 1, g->max_own);
}

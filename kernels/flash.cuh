/* flash.cuh - what the attention kernels share: which keys a query sees, and
   how a block walks over them.

   A row is a query of one head.  The query heads of a key/value head see the
   same keys, so a task is one sequence, one key/value head and a stretch of
   its rows, numbered from 0:

       causal   row m: token m / heads, head m % heads
       draft    row m: block m / (heads * b), head m / b % heads, slot m % b

   There is no mask: what a row sees is one range of the context's rows and
   one of the blocks' own rows, the latter empty if there are no blocks.  */

#ifndef DF_FLASH_CUH
#define DF_FLASH_CUH

#include <limits.h>

#include "cuda_internal.cuh"
#include "group.cuh"

/* Rows of bf16 in global memory, with heads side by side.  */
struct df_rows {
    uint16_t *data;
    unsigned ld;
};

/* LD 0: the rows are WIDTH wide.  */
static inline struct df_rows
df_rows_of(const void *data, size_t ld, size_t width)
{
    return {(uint16_t *) data, (unsigned) df_ld(ld, width)};
}

/* Head HEAD, of D elements, in row ROW.  */
static __device__ __forceinline__ uint16_t *
df_head_of(const struct df_rows &r, int row, int head, int d)
{
    return r.data + (uint64_t) (unsigned) row * r.ld + head * d;
}

/* Keys or values: of the context, and of the blocks.  */
struct df_sides {
    struct df_rows side[2];
};

/* Division of what is not negative by a number that the host knows (Granlund
   and Montgomery 1994).  */
struct df_divisor {
    unsigned factor, shift;
};

static inline struct df_divisor
df_divisor_of(int d)
{
    struct df_divisor r = {0, 0};

    while ((1ull << r.shift) < (unsigned) d)
        r.shift++;
    r.factor = (unsigned) ((((1ull << r.shift) - d) << 32) / d + 1);
    return r;
}

static __device__ __forceinline__ int
df_divide(int n, struct df_divisor d)
{
    return (int) ((__umulhi((unsigned) n, d.factor) + (unsigned) n)
                  >> d.shift);
}

/* A whole call.  The lengths are ints: so are the indices in memory.  */
struct df_flash {
    struct df_rows q, out;
    struct df_sides k, v;
    float *lse; /* or NULL */
    const int32_t *cu_seqlens;
    const int32_t *kv_begin, *past; /* causal with a cache, or NULL */
    const int32_t *cu_blocks, *begin, *anchor;  /* draft */
    int B, A, G, D, heads;                      /* heads = A / G */
    int b;                                      /* 0: causal */
    struct df_divisor by_heads, by_b, by_block; /* heads; b; heads * b */
    int window;
    int max_rows; /* of a sequence and head */
    float scale;
    bool wide; /* rows can be moved 16 bytes at a time */
    /* Causal, for few queries over many keys: a block has SPLIT of a
       sequence's keys, 0: all, and leaves its part of the result.  */
    int split, splits;
    int T, max_tokens; /* rows of queries, in all and of a sequence */
    float *parts; /* [splits,T,A,D+2]: sums, their maximum, their weight */
};

/* One sequence with one key/value head.  */
struct df_task {
    int first; /* token, or block */
    int start; /* first context row */
    int past;  /* causal: context rows before those of the queries */
    int rows;  /* of queries */
    int kv;
};

struct df_range {
    int low, high;
};

static __device__ __forceinline__ struct df_task
df_task_of(const struct df_flash &f, int seq, int kv)
{
    const int32_t *cu = f.b ? f.cu_blocks : f.cu_seqlens;
    struct df_task t;

    t.first = cu[seq];
    t.start = f.kv_begin ? f.kv_begin[seq] : f.cu_seqlens[seq];
    t.past = f.past ? f.past[seq] : 0;
    t.rows = (cu[seq + 1] - t.first) * f.heads * (f.b ? f.b : 1);
    t.kv = kv;
    return t;
}

/* Where row M lies: its row of queries, and its head among all.  */
static __device__ __forceinline__ int
df_row_of(const struct df_flash &f, const struct df_task &t, int m, int *head)
{
    int heads = t.kv * f.heads;

    if (!f.b) {
        int i = df_divide(m, f.by_heads);

        *head = heads + m - i * f.heads;
        return t.first + i;
    }
    int n = df_divide(m, f.by_block), rest = m - n * f.heads * f.b;
    int h = df_divide(rest, f.by_b);

    *head = heads + h;
    return (t.first + n) * f.b + rest - h * f.b;
}

/* What row M sees of the context; of OWN rows.  */
static __device__ __forceinline__ struct df_range
df_seen(const struct df_flash &f, const struct df_task &t, int m, bool own)
{
    struct df_range r = {0, 0};

    if (!f.b) {
        int place = t.past + df_divide(m, f.by_heads);

        if (own)
            return r;
        r.low = t.start;
        if (f.window && place >= f.window)
            r.low += place - f.window + 1;
        r.high = t.start + place + 1;
        return r;
    }
    int n = t.first + df_divide(m, f.by_block);
    int j = m - df_divide(m, f.by_b) * f.b;

    if (own) {
        r.low = n * f.b;
        r.high = r.low + (f.window ? j + 1 : f.b);
        return r;
    }
    r.low = f.begin[n];
    r.high = f.anchor[n];
    if (f.window && r.high - r.low + j > f.window - 1)
        r.low = min(r.high, r.high + j - (f.window - 1));
    return r;
}

/* What a block's rows of queries see of one side: keys that any of them
   sees, and keys that all see.  */
struct df_view {
    struct df_range any, all;
};

/* The tiles of keys that a block goes over: of the context, then of the
   blocks.  */
struct df_walk {
    struct df_view side[2];
    int tiles[2];
};

struct df_step {
    int side, key, end; /* first key of the tile; end of the side's keys */
    bool whole;         /* all rows see all of the tile */
};

template <int N>
static __device__ __forceinline__ struct df_step
df_step_of(const struct df_walk &w, int i)
{
    struct df_step s;

    s.side = i >= w.tiles[0];
    struct df_view view = s.side ? w.side[1] : w.side[0];

    s.key = view.any.low + (s.side ? i - w.tiles[0] : i) * N;
    s.end = view.any.high;
    s.whole = s.key >= view.all.low && s.key + N <= view.all.high;
    return s;
}

/* What each of a block's N rows sees, and all together; shared memory.  */
template <int N> struct df_sight {
    struct df_range seen[2][N];
    struct df_view view[2];
};

/* Look at the N rows of queries from M on; those behind the last see
   nothing.  The walk goes in tiles of KEYS, which causal ones count from the
   start of the sequence: so a row's bits don't depend on the rows beside it.
   All threads must call.  */
template <int KEYS, int N>
static __device__ __forceinline__ struct df_walk
df_look(struct df_sight<N> &sight, const struct df_flash &f,
        const struct df_task &t, int m)
{
    struct df_walk w;

    if (threadIdx.x < 2)
        sight.view[threadIdx.x] = {
            {INT_MAX, 0      },
            {0,       INT_MAX}
        };
    __syncthreads();
    for (int i = threadIdx.x; i < 2 * N; i += blockDim.x) {
        int side = i / N, row = m + i % N;
        struct df_range r = {0, 0};
        struct df_view *view = &sight.view[side];

        if (row < t.rows)
            r = df_seen(f, t, row, side);
        sight.seen[side][i % N] = r;
        if (r.low < r.high) {
            atomicMin(&view->any.low, r.low);
            atomicMax(&view->any.high, r.high);
        }
        atomicMax(&view->all.low, r.low);
        atomicMin(&view->all.high, r.high);
    }
    __syncthreads();
    for (int i = 0; i < 2; i++) {
        w.side[i] = sight.view[i];
        if (w.side[i].any.low >= w.side[i].any.high)
            w.side[i].any.low = w.side[i].any.high = 0;
        else if (!f.b)
            w.side[i].any.low -= (w.side[i].any.low - t.start) % KEYS;
        w.tiles[i] =
            (w.side[i].any.high - w.side[i].any.low + KEYS - 1) / KEYS;
    }
    return w;
}

/* A tile of the N rows of one key/value head from R.low on.  */
template <class By, int THREADS, int N>
static __device__ __forceinline__ void
df_load_keys(uint16_t *tile, const struct df_flash &f,
             const struct df_sides &from, int kv, int side, struct df_range r)
{
    struct df_rows rows = side ? from.side[1] : from.side[0];

    By::template load<THREADS, N>(tile, f.D, f.wide, [&](int i) {
        return r.low + i < r.high ? df_head_of(rows, r.low + i, kv, f.D)
                                  : (const uint16_t *) NULL;
    });
}

/* A tile of N rows of queries, from row M on.  */
template <class By, int THREADS, int N>
static __device__ __forceinline__ void
df_load_queries(uint16_t *tile, const struct df_flash &f,
                const struct df_task &t, const struct df_rows &from, int m)
{
    By::template load<THREADS, N>(tile, f.D, f.wide, [&](int i) {
        int head, row = df_row_of(f, t, min(m + i, t.rows - 1), &head);

        return m + i < t.rows ? df_head_of(from, row, head, f.D)
                              : (const uint16_t *) NULL;
    });
}

/* Where the tiles of By begin in a block's shared memory.  */
template <class By>
static __device__ __forceinline__ uint16_t *
df_tiles_of(uint16_t *shared)
{
    unsigned address = (unsigned) __cvta_generic_to_shared(shared);

    return shared + (By::BASE - address % By::BASE) % By::BASE / 2;
}

/* Whether F's products can be made by groups of warps, as KERNEL's are.  */
static inline bool
df_flash_grouped(const struct df_flash &f, const void *kernel)
{
    return f.wide && df_cuda_has(kernel);
}

/* RUN<how products are made, with the padded head size>(...) for heads of d
   elements; by groups of warps, where there are such kernels, if GROUPS.  */
#define DF_BY_HEAD_SIZE(op, d, groups, run, ...)                           \
    ((groups) && (d) > 32 && (d) <= 64 ? run<df_by_group<64>>(__VA_ARGS__) \
     : (groups) && (d) > 64 && (d) <= 128                                  \
         ? run<df_by_group<128>>(__VA_ARGS__)                              \
     : (d) <= 32  ? run<df_by_warp<32>>(__VA_ARGS__)                       \
     : (d) <= 64  ? run<df_by_warp<64>>(__VA_ARGS__)                       \
     : (d) <= 128 ? run<df_by_warp<128>>(__VA_ARGS__)                      \
     : (d) <= 256 ? run<df_by_warp<256>>(__VA_ARGS__)                      \
                  : DF_FAIL(DF_UNSUPPORTED,                                \
                            "%s: head size %d, 256 is the most", op, (d)))

static inline bool
df_rows_aligned(const struct df_rows &rows)
{
    return df_aligned(8, rows.data, rows.ld);
}

/* The rows of the heads of TOKENS, which must leave room in an int.  */
static inline df_status
df_flash_rows(const char *op, struct df_flash *f, size_t tokens)
{
    if (tokens > (size_t) (INT_MAX / 2 / f->heads))
        return DF_FAIL(DF_SHAPE, "%s: %zu rows of %d heads are too many", op,
                       tokens, f->heads);
    f->max_rows = (int) tokens * f->heads;
    f->by_heads = df_divisor_of(f->heads);
    if (f->b) {
        f->by_b = df_divisor_of(f->b);
        f->by_block = df_divisor_of(f->heads * f->b);
    }
    return DF_OK;
}

/* Queue the forward pass of F.  */
df_status df_flash_forward(struct cuda_stream *s, const char *op,
                           const struct df_flash *f);

/* The backward pass; f.lse is what the forward pass has left.  */
struct df_flash_bwd {
    struct df_flash f;
    struct df_rows dout, dq;
    struct df_sides dk, dv;
    float *delta;            /* [rows,A], scratch */
    int rows;                /* of queries, in all sequences */
    int max_seqlen, max_own; /* rows of a sequence: context, its blocks' */
};

/* Queue what gives delta and dq; then, from delta, dk and dv.  */
df_status df_flash_dq(struct cuda_stream *s, const char *op,
                      const struct df_flash_bwd *g);
df_status df_flash_dkv(struct cuda_stream *s, const char *op,
                       const struct df_flash_bwd *g);

#endif

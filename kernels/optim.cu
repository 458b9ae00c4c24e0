/* optim.cu - the optimizer: norm of the gradient, clipping, AdamW.

   sum_squares  sum <- x[N]
   clip         state <- sum
   adamw        w[N], m[N], v[N] <- g[N], state

   Bound by memory: 4 bytes an element read for the norm; for AdamW 16 read
   and 14 written.  The norm is added up in two passes in an order that N
   alone decides.  The host sees nothing of it.  */

#include "cuda_internal.cuh"
#include "math.cuh"

enum {
    THREADS = 256,
    WARPS = THREADS / WARP,
    PARTS = 1024,      /* of a sum of squares */
    MOST_BLOCKS = 2112 /* of adamw: 16 for each processor of an H200 */
};

/* parts[block] = the squares of every gridDim-th stretch of x.  A thread
   takes 4 elements at a time, in the same order wherever x lies.  */
static __global__ void
__launch_bounds__(THREADS)
    square(double *parts, const float *x, size_t n, bool wide)
{
    __shared__ double sums[WARPS];
    size_t step = (size_t) gridDim.x * THREADS * 4;
    double total = 0;
    float v[4];

    for (size_t i = ((size_t) blockIdx.x * THREADS + threadIdx.x) * 4; i < n;
         i += step) {
        if (wide && i + 4 <= n)
            df_load<4>(v, x + i);
        else
            for (int j = 0; j < 4; j++)
                v[j] = i + j < n ? x[i + j] : 0;
#pragma unroll
        for (int j = 0; j < 4; j++)
            total += (double) v[j] * (double) v[j];
    }
    total = df_block_sum(total, sums);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = total;
}

static __global__ void
__launch_bounds__(THREADS) add_up(double *sum, const double *parts, unsigned n)
{
    __shared__ double sums[WARPS];
    double total = 0;

    for (unsigned i = threadIdx.x; i < n; i += THREADS)
        total += parts[i];
    total = df_block_sum(total, sums);
    if (threadIdx.x == 0)
        *sum = total;
}

df_status
cuda_sum_squares(struct cuda_stream *s, const struct df_sum_squares_args *a)
{
    unsigned parts = df_grid(df_ceil(a->N, THREADS * 4), PARTS);
    void *scratch;

    DF_TRY(df_cuda_scratch(s, PARTS * sizeof(double), &scratch));
    if (parts > 0) {
        square<<<parts, THREADS, 0, s->cu>>>((double *) scratch, a->x, a->N,
                                             (uintptr_t) a->x % 16 == 0);
        DF_LAUNCHED(sum_squares);
    }
    add_up<<<1, THREADS, 0, s->cu>>>(a->sum, (const double *) scratch, parts);
    DF_LAUNCHED(sum_squares);
    return DF_OK;
}

static __global__ void
clip(struct df_clip_args a)
{
    struct df_step_state *s = a.state;

    s->norm = a.scale * sqrt(*a.sum);
    if (!isfinite(s->norm)) {
        s->factor = 0;
        s->skipped++;
        s->skipped_in_a_row++;
        return;
    }
    s->factor = a.scale;
    if (a.max_norm > 0)
        s->factor *= fmin(1.0, a.max_norm / (s->norm + 1e-6));
    s->applied++;
    s->skipped_in_a_row = 0;
}

df_status
cuda_clip(struct cuda_stream *s, const struct df_clip_args *a)
{
    clip<<<1, 1, 0, s->cu>>>(*a);
    DF_LAUNCHED(clip);
    return DF_OK;
}

/* What is the same for all weights of a step.  */
struct step {
    float factor; /* of the gradient */
    float keep;   /* 1 - lr * weight_decay */
    float rate;   /* lr / (1 - beta1^t) */
    float root;   /* sqrt (1 - beta2^t) */
};

static __device__ struct step
make_step(const struct df_adamw_args &a)
{
    double lr = (double) a.lr, t = (double) a.state->applied;
    struct step s;

    s.factor = (float) a.state->factor;
    s.keep = (float) (1 - lr * (double) a.weight_decay);
    s.rate = (float) (lr / (1 - pow((double) a.beta1, t)));
    s.root = (float) sqrt(1 - pow((double) a.beta2, t));
    return s;
}

template <int V>
static __device__ __forceinline__ void
update(const struct df_adamw_args &a, const struct step &s, size_t i)
{
    float w[V], m[V], v[V], g[V];

    df_load<V>(w, a.w + i);
    df_load<V>(m, a.m + i);
    df_load<V>(v, a.v + i);
    df_load<V>(g, a.g + i);
#pragma unroll
    for (int j = 0; j < V; j++) {
        float d = s.factor * g[j];

        m[j] = a.beta1 * m[j] + (1 - a.beta1) * d;
        v[j] = a.beta2 * v[j] + (1 - a.beta2) * (d * d);
        w[j] = s.keep * w[j] - s.rate * m[j] / (sqrtf(v[j]) / s.root + a.eps);
    }
    df_store<V>(a.w + i, w);
    df_store<V>(a.m + i, m);
    df_store<V>(a.v + i, v);
    if (a.w_act)
        df_store<V>((uint16_t *) a.w_act + i, w);
}

template <int V>
static __global__ void
__launch_bounds__(THREADS) adamw(struct df_adamw_args a)
{
    __shared__ struct step step;
    size_t stride = (size_t) gridDim.x * THREADS * V;

    if (a.state->factor == 0)
        return;
    if (threadIdx.x == 0)
        step = make_step(a);
    __syncthreads();
    for (size_t i = ((size_t) blockIdx.x * THREADS + threadIdx.x) * V; i < a.N;
         i += stride)
        update<V>(a, step, i);
}

df_status
cuda_adamw(struct cuda_stream *s, const struct df_adamw_args *a)
{
    uintptr_t all = (uintptr_t) a->w | (uintptr_t) a->m | (uintptr_t) a->v
                    | (uintptr_t) a->g;
    bool wide =
        a->N % 4 == 0 && all % 16 == 0 && (uintptr_t) a->w_act % 8 == 0;
    size_t items = wide ? a->N / 4 : a->N;
    unsigned grid = df_grid(df_ceil(items, THREADS), MOST_BLOCKS);

    if (wide)
        adamw<4><<<grid, THREADS, 0, s->cu>>>(*a);
    else
        adamw<1><<<grid, THREADS, 0, s->cu>>>(*a);
    DF_LAUNCHED(adamw);
    return DF_OK;
}

/* rows.cu - rows taken from and put into tables, and a sum.

   embed         x[T,H] <- table[V,H], ids[T]
   gather_rows   y[R,C] <- x[T,C], index[R]
   put_rows      y[T,C] <- x[R,C], index[R]
   scatter_rows  y[T,C] <- x[R,C], index[R], scale[R]
   add           a[N] <- a[N], b[N]

   A block a row; bound by memory.  */

#include "cuda_internal.cuh"
#include "math.cuh"

enum {
    THREADS = 128,
    MOST_BLOCKS = 1 << 16 /* of a kernel that strides over elements */
};

/* y[r] = x[index[r]].  Bits are moved, so that NaN keep theirs.  */
template <int V>
static __global__ void
gather(uint16_t *y, const uint16_t *x, const int32_t *index, size_t C,
       size_t ldy)
{
    typedef df_vector<uint16_t, V> vector;
    const uint16_t *from = x + (size_t) index[blockIdx.x] * C;
    uint16_t *to = y + blockIdx.x * ldy;

    for (size_t c = threadIdx.x * V; c < C; c += THREADS * V)
        *(vector *) (to + c) = *(const vector *) (from + c);
}

df_status
cuda_gather_rows(struct cuda_stream *s, const struct df_gather_rows_args *a)
{
    uint16_t *y = (uint16_t *) a->y;
    const uint16_t *x = (const uint16_t *) a->x;

    size_t ldy = df_ld(a->ldy, a->C);

    if (df_aligned(8, y, ldy) && df_aligned(8, x, a->C))
        gather<8><<<(unsigned) a->R, THREADS, 0, s->cu>>>(y, x, a->index, a->C,
                                                          ldy);
    else
        gather<1><<<(unsigned) a->R, THREADS, 0, s->cu>>>(y, x, a->index, a->C,
                                                          ldy);
    DF_LAUNCHED(gather_rows);
    return DF_OK;
}

/* y[index[r]] = x[r].  */
template <int V>
static __global__ void
put(uint16_t *y, const uint16_t *x, const int32_t *index, size_t C, size_t ldy,
    size_t ldx)
{
    typedef df_vector<uint16_t, V> vector;
    int32_t row = index[blockIdx.x];
    const uint16_t *from = x + blockIdx.x * ldx;

    if (row < 0)
        return;
    for (size_t c = threadIdx.x * V; c < C; c += THREADS * V)
        *(vector *) (y + (size_t) row * ldy + c) =
            *(const vector *) (from + c);
}

df_status
cuda_put_rows(struct cuda_stream *s, const struct df_put_rows_args *a)
{
    uint16_t *y = (uint16_t *) a->y;
    const uint16_t *x = (const uint16_t *) a->x;
    size_t ldy = df_ld(a->ldy, a->C), ldx = df_ld(a->ldx, a->C);

    if (a->C % 8 == 0 && df_aligned(8, y, ldy) && df_aligned(8, x, ldx))
        put<8><<<(unsigned) a->R, THREADS, 0, s->cu>>>(y, x, a->index, a->C,
                                                       ldy, ldx);
    else
        put<1><<<(unsigned) a->R, THREADS, 0, s->cu>>>(y, x, a->index, a->C,
                                                       ldy, ldx);
    DF_LAUNCHED(put_rows);
    return DF_OK;
}

df_status
cuda_embed(struct cuda_stream *s, const struct df_embed_args *a)
{
    struct df_gather_rows_args rows = {.y = a->x,
                                       .x = a->table,
                                       .index = a->ids,
                                       .R = a->T,
                                       .C = a->H,
                                       .T = a->V,
                                       .ldy = 0};

    return cuda_gather_rows(s, &rows);
}

/* y[index[r]] = scale[r] * x[r]; the other rows have been cleared.  */
template <int V>
static __global__ void
scatter(uint16_t *y, const uint16_t *x, const int32_t *index,
        const float *scale, size_t C)
{
    const uint16_t *from = x + blockIdx.x * C;
    uint16_t *to = y + (size_t) index[blockIdx.x] * C;
    float factor = scale[blockIdx.x], v[V];

    for (size_t c = threadIdx.x * V; c < C; c += THREADS * V) {
        df_load<V>(v, from + c);
#pragma unroll
        for (int i = 0; i < V; i++)
            v[i] *= factor;
        df_store<V>(to + c, v);
    }
}

df_status
cuda_scatter_rows(struct cuda_stream *s, const struct df_scatter_rows_args *a)
{
    uint16_t *y = (uint16_t *) a->y;
    const uint16_t *x = (const uint16_t *) a->x;

    DF_CUDA(cudaMemsetAsync(y, 0, a->T * a->C * sizeof *y, s->cu));
    if (a->R == 0)
        return DF_OK;
    if (df_aligned(8, y, a->C) && df_aligned(8, x, a->C))
        scatter<8><<<(unsigned) a->R, THREADS, 0, s->cu>>>(y, x, a->index,
                                                           a->scale, a->C);
    else
        scatter<1><<<(unsigned) a->R, THREADS, 0, s->cu>>>(y, x, a->index,
                                                           a->scale, a->C);
    DF_LAUNCHED(scatter_rows);
    return DF_OK;
}

template <int V>
static __global__ void
sum(float *a, const float *b, size_t n)
{
    size_t step = (size_t) gridDim.x * THREADS * V;
    float x[V], y[V];

    for (size_t i = ((size_t) blockIdx.x * THREADS + threadIdx.x) * V; i < n;
         i += step) {
        df_load<V>(x, a + i);
        df_load<V>(y, b + i);
#pragma unroll
        for (int j = 0; j < V; j++)
            x[j] += y[j];
        df_store<V>(a + i, x);
    }
}

df_status
cuda_add(struct cuda_stream *s, const struct df_add_args *a)
{
    bool wide = a->N % 4 == 0 && (uintptr_t) a->a % 16 == 0
                && (uintptr_t) a->b % 16 == 0;
    size_t items = wide ? a->N / 4 : a->N;
    unsigned grid = df_grid(df_ceil(items, THREADS), MOST_BLOCKS);

    if (wide)
        sum<4><<<grid, THREADS, 0, s->cu>>>(a->a, a->b, a->N);
    else
        sum<1><<<grid, THREADS, 0, s->cu>>>(a->a, a->b, a->N);
    DF_LAUNCHED(add);
    return DF_OK;
}

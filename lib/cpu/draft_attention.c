#include <config.h>

#include <math.h>

#include "cpu/cpu_internal.h"
#include "cpu/draft_chunk_internal.h"
#include "cpu/simd_internal.h"

/* A task is a chunk of blocks with one key/value head.  */

/* Exponents of each row in S; X[rows,D], their mean of the values, is left
   to be divided by SUM[rows].  */
struct scratch {
    float *s, *x, *sum;
};

static df_status
get_scratch(struct scratch *out, const struct df_chunk *c)
{
    size_t row = c->width + c->D + 1;
    void *mem;

    DF_TRY(df_scratch(c->rows * row * sizeof(float), &mem));
    out->s = mem;
    out->x = out->s + c->rows * c->width;
    out->sum = out->x + c->rows * c->D;
    return DF_OK;
}

static void
softmax_chunk(const struct df_chunk *c,
              const struct df_draft_attention_args *a, size_t kv,
              const struct scratch *t)
{
    for (size_t m = 0; m < c->rows; m++) {
        size_t lo, hi, head, row = df_chunk_row(c, m, &head);
        float *s = t->s + m * c->width, max;

        df_chunk_seen(c, m / c->block_rows, m % c->map->b, &lo, &hi);
        max = cpu_max_row(s + lo, hi - lo);
        t->sum[m] = cpu_exp_row(s + lo, hi - lo, max);
        if (a->lse)
            a->lse[row * a->A + kv * c->heads + head] = max + logf(t->sum[m]);
    }
}

static df_status
attend_chunk(void *arg, size_t task)
{
    const struct df_draft_attention_args *a = arg;
    size_t heads = a->A / a->G, D = a->D, kv = task % a->G;
    size_t seq = task / a->G % a->map.B,
           most = df_chunk_blocks(&a->map, heads);
    size_t first =
        (size_t) a->map.cu_blocks[seq] + task / a->G / a->map.B * most;
    size_t end = (size_t) a->map.cu_blocks[seq + 1];
    size_t ldctx = df_ld(a->ldk_ctx, a->G * D), ld = df_ld(a->ldk, a->G * D);
    struct df_heads q = {(float *) a->q + kv * heads * D,
                         df_ld(a->ldq, a->A * D)};
    struct df_heads out = {(float *) a->out + kv * heads * D,
                           df_ld(a->ldo, a->A * D)};
    struct df_sides k = {(float *) a->k_ctx + kv * D, (float *) a->k + kv * D,
                         ldctx, ld};
    struct df_sides v = {(float *) a->v_ctx + kv * D, (float *) a->v + kv * D,
                         df_ld(a->ldv_ctx, a->G * D), df_ld(a->ldv, a->G * D)};
    struct df_chunk c;
    struct scratch t;

    if (first >= end)
        return DF_OK;
    df_chunk_init(&c, &a->map, D, heads, a->window, first,
                  end - first < most ? end - first : most);
    DF_TRY(get_scratch(&t, &c));
    df_chunk_load(&c, t.x, q, a->scale);
    df_chunk_scores(&c, t.s, t.x, k);
    softmax_chunk(&c, a, kv, &t);
    df_chunk_gather(&c, t.x, t.s, v);
    for (size_t m = 0; m < c.rows; m++)
        cpu_scale_row(t.x + m * D, t.x + m * D, 1 / t.sum[m], D);
    df_chunk_store(&c, out, t.x, 1.0f);
    return DF_OK;
}

df_status
cpu_draft_attention(const struct df_draft_attention_args *args)
{
    struct df_draft_attention_args copy = *args;
    size_t most = df_chunk_blocks(&args->map, args->A / args->G);
    size_t chunks = (args->map.max_blocks + most - 1) / most;

    return df_pool_run(attend_chunk, &copy, chunks * args->map.B * args->G);
}

#include <config.h>

#include <string.h>

#include "cpu/cpu_internal.h"
#include "cpu/draft_chunk_internal.h"
#include "cpu/simd_internal.h"

/* A task is a whole sequence with one key/value head, chunk after chunk: so
   the gradients of context rows are summed in the order of the blocks, in
   place.  Per chunk, with P recomputed from lse:

       dV += P^T dO,  dS = P * (dO V^T - delta),  delta = sum_d dO * out
       dK += dS^T Q,  dQ = dS K  */

struct scratch {
    float *p, *ds; /* [rows,width] */
    float *q, *x;  /* [rows,D] scaled queries; dO, then dQ */
    float *delta;  /* [rows] */
};

struct sequence {
    const struct df_draft_attention_bwd_args *args;
    size_t kv;
    struct df_heads q, out, dout, dq;
    struct df_sides k, v, dk, dv;
};

static struct df_sides
sides(const void *ctx, size_t ldctx, const void *own, size_t ldown, size_t G,
      size_t D, size_t kv)
{
    return (struct df_sides){(float *) ctx + kv * D, (float *) own + kv * D,
                             df_ld(ldctx, G * D), df_ld(ldown, G * D)};
}

static struct sequence
make_sequence(const struct df_draft_attention_bwd_args *a, size_t kv)
{
    size_t width = a->A * a->D, at = kv * (a->A / a->G) * a->D;

    return (struct sequence){
        .args = a,
        .kv = kv,
        .q = {(float *) a->q + at,    df_ld(a->ldq,  width)},
        .out = {(float *) a->out + at,  df_ld(a->ldo,  width)},
        .dout = {(float *) a->dout + at, df_ld(a->lddo, width)},
        .dq = {(float *) a->dq + at,   df_ld(a->lddq, width)},
        .k = sides(a->k_ctx, a->ldk_ctx, a->k, a->ldk, a->G, a->D, kv),
        .v = sides(a->v_ctx, a->ldv_ctx, a->v, a->ldv, a->G, a->D, kv),
        .dk = sides(a->dk_ctx, a->lddk_ctx, a->dk, a->lddk, a->G, a->D, kv),
        .dv = sides(a->dv_ctx, a->lddv_ctx, a->dv, a->lddv, a->G, a->D, kv)
    };
}

static df_status
get_scratch(struct scratch *out, const struct df_chunk *c)
{
    size_t row = 2 * (c->width + c->D) + 1;
    void *mem;

    DF_TRY(df_scratch(c->rows * row * sizeof(float), &mem));
    out->p = mem;
    out->ds = out->p + c->rows * c->width;
    out->q = out->ds + c->rows * c->width;
    out->x = out->q + c->rows * c->D;
    out->delta = out->x + c->rows * c->D;
    return DF_OK;
}

/* P from the scores in t->p, delta from dO in t->x.  */
static void
exp_chunk(const struct df_chunk *c, const struct sequence *s,
          const struct scratch *t)
{
    const struct df_draft_attention_bwd_args *a = s->args;

    for (size_t m = 0; m < c->rows; m++) {
        size_t lo, hi, head, row = df_chunk_row(c, m, &head);
        size_t i = row * a->A + s->kv * c->heads + head;

        df_chunk_seen(c, m / c->block_rows, m % c->map->b, &lo, &hi);
        cpu_exp_row(t->p + m * c->width + lo, hi - lo, a->lse[i]);
        a->delta[i] =
            cpu_dot_row(t->x + m * c->D,
                        s->out.data + row * s->out.ld + head * c->D, c->D);
        t->delta[m] = a->delta[i];
    }
}

/* From dP to dS in t->ds.  */
static void
softmax_bwd_chunk(const struct df_chunk *c, const struct scratch *t)
{
    for (size_t m = 0; m < c->rows; m++) {
        size_t lo, hi, at = m * c->width;

        df_chunk_seen(c, m / c->block_rows, m % c->map->b, &lo, &hi);
        cpu_softmax_bwd_row(t->ds + at + lo, t->p + at + lo, t->delta[m],
                            hi - lo);
    }
}

static df_status
differentiate_chunk(const struct df_chunk *c, const struct sequence *s)
{
    float scale = s->args->scale;
    struct scratch t;

    DF_TRY(get_scratch(&t, c));
    df_chunk_load(c, t.q, s->q, scale);
    df_chunk_load(c, t.x, s->dout, 1.0f);
    df_chunk_scores(c, t.p, t.q, s->k);
    exp_chunk(c, s, &t);
    df_chunk_scatter(c, s->dv, t.p, t.x);
    df_chunk_scores(c, t.ds, t.x, s->v);
    softmax_bwd_chunk(c, &t);
    df_chunk_scatter(c, s->dk, t.ds, t.q);
    df_chunk_gather(c, t.x, t.ds, s->k);
    df_chunk_store(c, s->dq, t.x, scale);
    return DF_OK;
}

static df_status
differentiate_sequence(void *arg, size_t task)
{
    const struct df_draft_attention_bwd_args *a = arg;
    size_t seq = task / a->G, heads = a->A / a->G;
    size_t end = (size_t) a->map.cu_blocks[seq + 1], n;
    struct sequence s = make_sequence(a, task % a->G);

    for (size_t i = (size_t) a->map.cu_blocks[seq]; i < end; i += n) {
        struct df_chunk c;

        n = df_chunk_blocks(&a->map, heads);
        if (n > end - i)
            n = end - i;
        df_chunk_init(&c, &a->map, a->D, heads, a->window, i, n);
        DF_TRY(differentiate_chunk(&c, &s));
    }
    return DF_OK;
}

df_status
cpu_draft_attention_bwd(const struct df_draft_attention_bwd_args *args)
{
    struct df_draft_attention_bwd_args copy = *args;
    size_t width = args->G * args->D;
    size_t lddk = df_ld(args->lddk_ctx, width);
    size_t lddv = df_ld(args->lddv_ctx, width);

    for (size_t t = 0; t < args->map.T; t++) {
        memset((float *) args->dk_ctx + t * lddk, 0, width * sizeof(float));
        memset((float *) args->dv_ctx + t * lddv, 0, width * sizeof(float));
    }
    return df_pool_run(differentiate_sequence, &copy, args->map.B * args->G);
}

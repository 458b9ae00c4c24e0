/* draft.h - batches of draft blocks for the tests of the drafter's attention,
   and the attention written plainly, in double.  */

#ifndef DF_TEST_DRAFT_H
#define DF_TEST_DRAFT_H

#include "cpu/cpu_internal.h"
#include "unit/cpu/buffers.h"

enum {
    MAX_SEQS = 6,
    MAX_BLOCKS = 256
};

struct draft_case {
    const char *label;
    int32_t len[MAX_SEQS + 1]; /* up to the first 0 */
    size_t per_seq;            /* blocks of a sequence; the last has none */
    size_t b, A, G, D;
    int32_t window;
    size_t pad; /* of all rows */
};

/* Everything in float; the arguments of both passes point here.  */
struct draft {
    struct df_block_map map;
    int32_t cu[MAX_SEQS + 1], cu_blocks[MAX_SEQS + 1];
    int32_t begin[MAX_BLOCKS], anchor[MAX_BLOCKS];
    size_t A, G, D, ldq, ldk; /* of all wide and all narrow matrices */
    size_t rows, n_q, n_k, n_ctx, n_lse;
    int32_t window;
    float scale;
    float *q, *k, *v, *k_ctx, *v_ctx, *dout;
};

/* Blocks at the start, at the end, on top of each other, and between.  */
static inline int32_t
test_anchor(size_t i, size_t n, int32_t len)
{
    if (i < 2)
        return 0;
    if (i + 1 == n)
        return len - 1;
    return (int32_t) ((i - 1) * (size_t) len / n);
}

static inline void
draft_map(struct draft *x, const struct draft_case *t)
{
    struct df_block_map *m = &x->map;

    m->b = t->b;
    m->cu_seqlens = x->cu;
    m->cu_blocks = x->cu_blocks;
    m->begin = x->begin;
    m->anchor = x->anchor;
    for (; t->len[m->B]; m->B++) {
        size_t s = m->B, len = (size_t) t->len[s];
        size_t n = s > 0 && t->len[s + 1] == 0 ? 0 : t->per_seq;

        for (size_t i = 0; i < n; i++, m->N++) {
            x->begin[m->N] = x->cu[s];
            x->anchor[m->N] = x->cu[s] + test_anchor(i, n, t->len[s]);
        }
        x->cu[s + 1] = x->cu[s] + t->len[s];
        x->cu_blocks[s + 1] = (int32_t) m->N;
        m->max_seqlen = len > m->max_seqlen ? len : m->max_seqlen;
        m->max_blocks = n > m->max_blocks ? n : m->max_blocks;
    }
    m->T = (size_t) x->cu[m->B];
}

static inline void
draft_set_up(struct draft *x, const struct draft_case *t)
{
    *x = (struct draft){.A = t->A,
                        .G = t->G,
                        .D = t->D,
                        .ldq = t->A * t->D + t->pad,
                        .ldk = t->G * t->D + t->pad,
                        .window = t->window,
                        .scale = 0.3f};
    draft_map(x, t);
    x->rows = x->map.N * t->b;
    x->n_q = x->rows * x->ldq;
    x->n_k = x->rows * x->ldk;
    x->n_ctx = x->map.T * x->ldk;
    x->n_lse = x->rows * t->A;
    x->q = random_floats(x->n_q);
    x->dout = random_floats(x->n_q);
    x->k = random_floats(x->n_k);
    x->v = random_floats(x->n_k);
    x->k_ctx = random_floats(x->n_ctx);
    x->v_ctx = random_floats(x->n_ctx);
}

static inline void
draft_tear_down(struct draft *x)
{
    free(x->q);
    free(x->dout);
    free(x->k);
    free(x->v);
    free(x->k_ctx);
    free(x->v_ctx);
}

static inline struct df_draft_attention_args
draft_args(const struct draft *x, float *out, float *lse)
{
    return (struct df_draft_attention_args){.out = out,
                                            .lse = lse,
                                            .q = x->q,
                                            .k_ctx = x->k_ctx,
                                            .v_ctx = x->v_ctx,
                                            .k = x->k,
                                            .v = x->v,
                                            .map = x->map,
                                            .A = x->A,
                                            .G = x->G,
                                            .D = x->D,
                                            .ldo = x->ldq,
                                            .ldq = x->ldq,
                                            .ldk_ctx = x->ldk,
                                            .ldv_ctx = x->ldk,
                                            .ldk = x->ldk,
                                            .ldv = x->ldk,
                                            .window = x->window,
                                            .scale = x->scale};
}

/* Whether slot J of block N sees key I: context rows first, then slots of
   all blocks.  As training.md words it.  */
static inline bool
draft_sees(const struct draft *x, size_t n, size_t j, size_t i)
{
    int64_t p = x->anchor[n], W = x->window, key = (int64_t) i;
    size_t T = x->map.T, b = x->map.b;

    if (i >= T)
        return (i - T) / b == n && (W == 0 || (i - T) % b <= j);
    return key >= x->begin[n] && key < p
           && (W == 0 || key >= p + (int64_t) j - (W - 1));
}

/* The tensors of the reference: doubles that a test may nudge.  */
struct draft_double {
    double *q, *k, *v, *k_ctx, *v_ctx;
};

static inline double *
widen(const float *src, size_t n)
{
    double *p = zeroed(n, sizeof *p);

    for (size_t i = 0; i < n; i++)
        p[i] = (double) src[i];
    return p;
}

static inline struct draft_double
draft_widen(const struct draft *x)
{
    return (struct draft_double){
        widen(x->q, x->n_q), widen(x->k, x->n_k), widen(x->v, x->n_k),
        widen(x->k_ctx, x->n_ctx), widen(x->v_ctx, x->n_ctx)};
}

static inline void
draft_free_double(struct draft_double *y)
{
    free(y->q);
    free(y->k);
    free(y->v);
    free(y->k_ctx);
    free(y->v_ctx);
}

/* Row ROW, head H: OUT[D]; the log of the sum of exponents is returned.  */
static inline double
draft_reference(const struct draft *x, const struct draft_double *y,
                size_t row, size_t h, double *out)
{
    size_t b = x->map.b, D = x->D, T = x->map.T, n = row / b;
    size_t at = h / (x->A / x->G) * D;
    double sum = 0;

    memset(out, 0, D * sizeof *out);
    for (size_t i = 0; i < T + (n + 1) * b; i++) {
        bool ctx = i < T;
        const double *k =
            (ctx ? y->k_ctx + i * x->ldk : y->k + (i - T) * x->ldk) + at;
        const double *v =
            (ctx ? y->v_ctx + i * x->ldk : y->v + (i - T) * x->ldk) + at;
        double dot = 0, p;

        if (!draft_sees(x, n, row % b, i))
            continue;
        for (size_t d = 0; d < D; d++)
            dot += y->q[row * x->ldq + h * D + d] * k[d];
        p = exp(dot * (double) x->scale);
        sum += p;
        for (size_t d = 0; d < D; d++)
            out[d] += p * v[d];
    }
    for (size_t d = 0; d < D; d++)
        out[d] /= sum;
    return log(sum);
}

#endif

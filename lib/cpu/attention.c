#include <config.h>

#include <string.h>

#include "cpu/cpu_internal.h"
#include "cpu/simd_internal.h"

/* A task is the queries of one head at TILE places of a sequence, counted
   from its start:

       keys  begin .... f0 ........ q0 ......... q0+TILE
              window's |  seen by   | the tile's own,
              edge     |  all       | causal

   Every sgemm has a shape that q0, the window and D give, never the length
   of the sequence or what else is in the batch; rows behind the end, and
   before the first query behind a cached past, are zeros.  So the bits of a
   row depend on its own past alone.  The two ends, where rows see different
   keys, are weighed row by row over just the keys that the row sees: what a
   row doesn't see isn't even multiplied by 0, and a NaN stays with those who
   look at it.  */
enum {
    TILE = 64
};

struct tile {
    const struct df_attention_args *args;
    size_t first, start; /* rows of the sequence's place 0: of the queries,
                            were they all there, and of the keys */
    size_t i0, n;        /* the tile's queries are [i0, n) of its places */
    size_t q0, k0, f0;   /* places in the sequence */
    size_t width;        /* keys from K0 to the end of the tile */
    float *s;            /* [TILE,width] scores, then exponents */
    float *q, *k;        /* [TILE,D] the tile's queries and keys, padded */
    float *o;            /* [TILE,D] */
};

/* First key that query T of the sequence sees.  */
static size_t
first_key(size_t t, int32_t window)
{
    return window > 0 && t + 1 > (size_t) window ? t + 1 - (size_t) window : 0;
}

static df_status
get_scratch(struct tile *t, size_t D)
{
    size_t side = TILE * D;
    void *mem;

    DF_TRY(df_scratch((TILE * t->width + 3 * side) * sizeof(float), &mem));
    t->s = mem;
    t->q = t->s + TILE * t->width;
    t->k = t->q + side;
    t->o = t->k + side;
    memset(t->q, 0, 3 * side * sizeof(float));
    return DF_OK;
}

/* Scores of all keys from K0 on, seen or not.  */
static void
score_tile(const struct tile *t, const float *q, const float *k, size_t ldq,
           size_t ldk)
{
    size_t D = t->args->D, old = t->q0 - t->k0;

    for (size_t i = t->i0; i < t->n; i++)
        cpu_scale_row(t->q + i * D, q + (t->first + t->q0 + i) * ldq,
                      t->args->scale, D);
    for (size_t i = 0; i < t->n; i++)
        memcpy(t->k + i * D, k + (t->start + t->q0 + i) * ldk,
               D * sizeof(float));
    df_gemm_nt(TILE, old, D, t->q, D, k + (t->start + t->k0) * ldk, ldk, t->s,
               t->width);
    df_gemm_nt(TILE, TILE, D, t->q, D, t->k, D, t->s + old, t->width);
}

/* Softmax over the keys that a query sees, and the values' mean.  */
static void
weigh_tile(const struct tile *t, const float *v, size_t ldv, float *out,
           size_t ldo)
{
    size_t D = t->args->D;
    const float *v0 = v + (t->start + t->k0) * ldv;

    for (size_t i = t->i0; i < t->n; i++) {
        size_t q = t->q0 + i, lo = first_key(q, t->args->window);
        size_t right = lo > t->q0 ? lo : t->q0;
        float *s = t->s + i * t->width, *o = t->o + i * D;
        float max = cpu_max_row(s + lo - t->k0, q + 1 - lo);
        float sum = cpu_exp_row(s + lo - t->k0, q + 1 - lo, max);

        if (lo < t->f0)
            cpu_weigh_rows(o, s + lo - t->k0, v0 + (lo - t->k0) * ldv, ldv,
                           t->f0 - lo, D);
        cpu_weigh_rows(o, s + right - t->k0, v0 + (right - t->k0) * ldv, ldv,
                       q + 1 - right, D);
        t->q[i * D] = 1 / sum;
    }
    df_gemm_nn(TILE, D, t->q0 - t->f0, t->s + t->f0 - t->k0, t->width,
               v0 + (t->f0 - t->k0) * ldv, ldv, 1.0f, t->o, D);
    for (size_t i = t->i0; i < t->n; i++)
        cpu_scale_row(out + (t->first + t->q0 + i) * ldo, t->o + i * D,
                      t->q[i * D], D);
}

/* Tiles that the queries of a sequence may touch.  */
static size_t
max_tiles(const struct df_attention_args *a)
{
    return (a->max_seqlen + (a->past ? 2 * TILE - 2 : TILE - 1)) / TILE;
}

/* Tile number TASK of its sequence, from the last; false if there is none.  */
static bool
find_tile(struct tile *t, const struct df_attention_args *a, size_t task)
{
    size_t seq = task / a->A % a->B, tile = task / a->A / a->B;
    size_t begin = (size_t) a->cu_seqlens[seq];
    size_t len = (size_t) a->cu_seqlens[seq + 1] - begin;
    size_t past = a->past ? (size_t) a->past[seq] : 0;

    *t =
        (struct tile){.args = a,
                      .first = begin - past, /* may wrap around, and back */
                      .start = a->kv_begin ? (size_t) a->kv_begin[seq] : begin,
                      .q0 = (past / TILE + max_tiles(a) - 1 - tile) * TILE};
    if (len == 0 || t->q0 >= past + len)
        return false;
    t->i0 = past > t->q0 ? past - t->q0 : 0;
    t->n = past + len - t->q0 < TILE ? past + len - t->q0 : TILE;
    t->k0 = first_key(t->q0, a->window);
    t->f0 = first_key(t->q0 + TILE - 1, a->window);
    if (t->f0 > t->q0)
        t->f0 = t->q0;
    t->width = t->q0 + TILE - t->k0;
    return true;
}

static df_status
attend_tile(void *arg, size_t task)
{
    const struct df_attention_args *a = arg;
    size_t head = task % a->A, kv = head / (a->A / a->G), D = a->D;
    struct tile t;

    if (!find_tile(&t, a, task))
        return DF_OK;
    DF_TRY(get_scratch(&t, D));
    score_tile(&t, (const float *) a->q + head * D,
               (const float *) a->k + kv * D, df_ld(a->ldq, a->A * D),
               df_ld(a->ldk, a->G * D));
    weigh_tile(&t, (const float *) a->v + kv * D, df_ld(a->ldv, a->G * D),
               (float *) a->out + head * D, df_ld(a->ldo, a->A * D));
    return DF_OK;
}

df_status
cpu_attention(const struct df_attention_args *args)
{
    struct df_attention_args copy = *args;

    return df_pool_run(attend_tile, &copy,
                       max_tiles(args) * args->B * args->A);
}

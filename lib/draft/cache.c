/* The drafter's forward pass without what only training needs, over a cache
   of its context.  */
#include <config.h>

#include <stdlib.h>

#include "draft/cache_internal.h"
#include "model/rope_upload_internal.h"

struct df_draft_cache {
    const struct df_drafter *d;
    size_t rows, max_T, max_M, positions;

    struct df_arena buffers;
    void **kv;         /* [L] [rows,2GD]: a key, then a value */
    float *cos, *sin;  /* [positions,D/2] */
    void *features;    /* [max_T,K*H] */
    void *fc, *kv_new; /* [max_T,H], [max_T,2GD] */
    void *x, *xn;      /* [max_M,H] */
    void *qkv;         /* [max_M,(A+2G)D] */
    void *att;         /* [max_M,A*D] */
    void *gu, *h;      /* [max_M,2I], [max_M,I] */
};

static void
layout(struct df_arena *a, void *owner)
{
    struct df_draft_cache *c = owner;
    const struct df_drafter *d = c->d;
    size_t s = df_act_size(d), q = d->A * d->D, kv = d->G * d->D;

    for (size_t i = 0; i < d->L; i++)
        c->kv[i] = df_arena_take(a, c->rows * 2 * kv, s);
    c->cos = df_arena_take(a, c->positions * d->D / 2, sizeof *c->cos);
    c->sin = df_arena_take(a, c->positions * d->D / 2, sizeof *c->sin);
    c->features = df_arena_take(a, c->max_T * d->K * d->H, s);
    c->fc = df_arena_take(a, c->max_T * d->H, s);
    c->kv_new = df_arena_take(a, c->max_T * 2 * kv, s);
    c->x = df_arena_take(a, c->max_M * d->H, s);
    c->xn = df_arena_take(a, c->max_M * d->H, s);
    c->qkv = df_arena_take(a, c->max_M * (q + 2 * kv), s);
    c->att = df_arena_take(a, c->max_M * q, s);
    c->gu = df_arena_take(a, c->max_M * 2 * d->I, s);
    c->h = df_arena_take(a, c->max_M * d->I, s);
}

static df_status
set_up(struct df_draft_cache *c)
{
    const struct df_drafter *d = c->d;

    c->kv = calloc(d->L, sizeof *c->kv);
    if (!c->kv)
        return DF_FAIL(DF_NO_MEMORY, "a cache of %zu draft layers", d->L);
    DF_TRY(df_arena_make(&c->buffers, d->dev, DF_MEM_DEVICE, layout, c));
    return df_rope_upload(d->dev, &d->config.d.rope, (int) d->D, c->positions,
                          c->cos, c->sin);
}

df_status
df_draft_cache_new(struct df_draft_cache **out,
                   const struct df_drafter *drafter, size_t rows, size_t max_T,
                   size_t max_M, size_t positions)
{
    struct df_draft_cache *c = calloc(1, sizeof *c);
    df_status status;

    *out = NULL;
    if (!c)
        return DF_FAIL(DF_NO_MEMORY, "a drafter's cache");
    *c = (struct df_draft_cache){.d = drafter,
                                 .rows = rows,
                                 .max_T = max_T,
                                 .max_M = max_M,
                                 .positions = positions};
    status = set_up(c);
    if (status != DF_OK)
        df_draft_cache_free(c);
    else
        *out = c;
    return status;
}

void
df_draft_cache_free(struct df_draft_cache *c)
{
    if (!c)
        return;
    df_arena_free(&c->buffers);
    free(c->kv);
    free(c);
}

void *
df_draft_features(struct df_draft_cache *c)
{
    return c->features;
}

/* y = x w^T, added to Y if SUM.  */
static df_status
project(struct df_stream *s, void *y, const void *x, const struct weight *w,
        size_t T, size_t N, size_t K, bool sum)
{
    return df_linear(s, &(struct df_linear_args){.y = y,
                                                 .x = x,
                                                 .w = w->w,
                                                 .T = T,
                                                 .N = N,
                                                 .K = K,
                                                 .accumulate = sum});
}

static df_status
norm(const struct df_draft_cache *c, struct df_stream *s, void *y,
     const void *x, const struct weight *w, size_t T)
{
    return df_rmsnorm(s, &(struct df_rmsnorm_args){.y = y,
                                                   .x = x,
                                                   .w = w->w,
                                                   .T = T,
                                                   .C = c->d->H,
                                                   .eps = c->d->eps});
}

/* Norm and rotate N heads of each row of X, in place; rows are LD apart.  */
static df_status
norm_and_rotate(const struct df_draft_cache *c, struct df_stream *s, void *x,
                const struct weight *w, const int32_t *pos, size_t T, size_t N,
                size_t ld)
{
    return df_head_norm_rope(
        s, &(struct df_head_norm_rope_args){.y = x,
                                            .x = x,
                                            .w = w->w,
                                            .cos = c->cos,
                                            .sin = c->sin,
                                            .pos = pos,
                                            .T = T,
                                            .N = N,
                                            .D = c->d->D,
                                            .P = c->positions,
                                            .ldy = ld,
                                            .ldx = ld,
                                            .eps = c->d->eps});
}

df_status
df_draft_extend(struct df_draft_cache *c, struct df_stream *s, size_t T,
                const int32_t *pos, const int32_t *row)
{
    const struct df_drafter *d = c->d;
    size_t width = 2 * d->G * d->D;

    DF_TRY(
        project(s, c->fc, c->features, &d->fc, T, d->H, d->K * d->H, false));
    DF_TRY(norm(c, s, c->fc, c->fc, &d->hidden_norm, T));
    for (size_t i = 0; i < d->L; i++) {
        const struct draft_layer *l = &d->layers[i];

        DF_TRY(project(s, c->kv_new, c->fc, &l->kv, T, width, d->H, false));
        DF_TRY(
            norm_and_rotate(c, s, c->kv_new, &l->k_norm, pos, T, d->G, width));
        DF_TRY(df_put_rows(s, &(struct df_put_rows_args){.y = c->kv[i],
                                                         .x = c->kv_new,
                                                         .index = row,
                                                         .R = T,
                                                         .C = width,
                                                         .T = c->rows}));
    }
    return DF_OK;
}

static df_status
attend(struct df_draft_cache *c, struct df_stream *s, size_t layer,
       const struct df_block_map *map)
{
    const struct df_drafter *d = c->d;
    size_t q = d->A * d->D, kv = d->G * d->D, act = df_act_size(d);
    const char *qkv = c->qkv, *cache = c->kv[layer];

    return df_draft_attention(s, &(struct df_draft_attention_args){
                                     .out = c->att,
                                     .q = qkv,
                                     .k_ctx = cache,
                                     .v_ctx = cache + kv * act,
                                     .k = qkv + q * act,
                                     .v = qkv + (q + kv) * act,
                                     .map = *map,
                                     .A = d->A,
                                     .G = d->G,
                                     .D = d->D,
                                     .ldq = q + 2 * kv,
                                     .ldk_ctx = 2 * kv,
                                     .ldv_ctx = 2 * kv,
                                     .ldk = q + 2 * kv,
                                     .ldv = q + 2 * kv,
                                     .window = d->config.d.window[layer],
                                     .scale = d->scale});
}

static df_status
run_layer(struct df_draft_cache *c, struct df_stream *s, size_t layer,
          const struct df_block_map *map, const int32_t *pos)
{
    const struct df_drafter *d = c->d;
    const struct draft_layer *l = &d->layers[layer];
    size_t M = map->N * map->b, q = d->A * d->D, ld = q + 2 * d->G * d->D;
    char *k = (char *) c->qkv + q * df_act_size(d);

    DF_TRY(norm(c, s, c->xn, c->x, &l->input_norm, M));
    DF_TRY(project(s, c->qkv, c->xn, &l->qkv, M, ld, d->H, false));
    DF_TRY(norm_and_rotate(c, s, c->qkv, &l->q_norm, pos, M, d->A, ld));
    DF_TRY(norm_and_rotate(c, s, k, &l->k_norm, pos, M, d->G, ld));
    DF_TRY(attend(c, s, layer, map));
    DF_TRY(project(s, c->x, c->att, &l->o, M, d->H, q, true));
    DF_TRY(norm(c, s, c->xn, c->x, &l->mlp_norm, M));
    DF_TRY(project(s, c->gu, c->xn, &l->gate_up, M, 2 * d->I, d->H, false));
    DF_TRY(df_swiglu(s, &(struct df_swiglu_args){
                            .h = c->h, .gu = c->gu, .T = M, .I = d->I}));
    return project(s, c->x, c->h, &l->down, M, d->H, d->I, true);
}

df_status
df_draft_blocks(struct df_draft_cache *c, struct df_stream *s,
                const struct df_block_map *map, const int32_t *ids,
                const int32_t *pos, const void **hidden)
{
    const struct df_drafter *d = c->d;
    size_t M = map->N * map->b;

    DF_TRY(df_embed(s, &(struct df_embed_args){.x = c->x,
                                               .table = d->embeddings->embed,
                                               .ids = ids,
                                               .T = M,
                                               .H = d->H,
                                               .V = d->embeddings->V}));
    for (size_t i = 0; i < d->L; i++)
        DF_TRY(run_layer(c, s, i, map, pos));
    *hidden = c->xn;
    return norm(c, s, c->xn, c->x, &d->norm, M);
}

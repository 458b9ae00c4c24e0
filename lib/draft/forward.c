/* The drafter's forward pass; backward.c mirrors it step by step.  */
#include <config.h>

#include "draft/drafter_internal.h"

/* y = x w^T */
static df_status
project(struct df_stream *s, void *y, const void *x, const struct weight *w,
        size_t T, size_t N, size_t K)
{
    return df_linear(s,
                     &(struct df_linear_args){
                         .y = y, .x = x, .w = w->w, .T = T, .N = N, .K = K});
}

/* out = stream + x w^T: the stream itself is kept.  */
static df_status
project_onto(struct df_drafter *d, struct df_stream *s, void *out,
             const void *stream, const void *x, const struct weight *w,
             size_t T, size_t K)
{
    DF_TRY(df_copy(s, out, stream, T * d->H * df_act_size(d)));
    return df_linear(s, &(struct df_linear_args){.y = out,
                                                 .x = x,
                                                 .w = w->w,
                                                 .T = T,
                                                 .N = d->H,
                                                 .K = K,
                                                 .accumulate = true});
}

static df_status
norm(struct df_drafter *d, struct df_stream *s, void *y, float *rstd,
     const void *x, const struct weight *w, size_t T)
{
    return df_rmsnorm(s, &(struct df_rmsnorm_args){.y = y,
                                                   .rstd = rstd,
                                                   .x = x,
                                                   .w = w->w,
                                                   .T = T,
                                                   .C = d->H,
                                                   .eps = d->eps});
}

/* Norm and rotate N heads per row; rows of X are LDX apart.  */
static df_status
norm_and_rotate(struct df_drafter *d, struct df_stream *s, void *y,
                float *rstd, const void *x, const struct weight *w,
                const int32_t *pos, size_t T, size_t N, size_t ldx)
{
    return df_head_norm_rope(s,
                             &(struct df_head_norm_rope_args){.y = y,
                                                              .rstd = rstd,
                                                              .x = x,
                                                              .w = w->w,
                                                              .cos = d->cos,
                                                              .sin = d->sin,
                                                              .pos = pos,
                                                              .T = T,
                                                              .N = N,
                                                              .D = d->D,
                                                              .P = d->max_pos,
                                                              .ldx = ldx,
                                                              .eps = d->eps});
}

/* C = norm(F Wfc^T), for all layers.  */
static df_status
make_context(struct df_drafter *d, struct df_stream *s, size_t T)
{
    DF_TRY(project(s, d->fc_out, d->features, &d->fc, T, d->H, d->K * d->H));
    return norm(d, s, d->context, d->rstd_context, d->fc_out, &d->hidden_norm,
                T);
}

/* Queries, keys and values of the blocks; keys and values of the context.  */
static df_status
make_qkv(struct df_drafter *d, struct df_stream *s, struct draft_layer *l,
         const struct df_batch *batch, const struct df_batch_arrays *a)
{
    size_t M = batch->N * d->b, T = batch->T;
    size_t q = d->A * d->D, kv = d->G * d->D, ld = q + 2 * kv;
    const char *k = (const char *) l->qkv_out + q * df_act_size(d);

    DF_TRY(norm(d, s, l->xn, l->rstd_x, l->x, &l->input_norm, M));
    DF_TRY(project(s, l->qkv_out, l->xn, &l->qkv, M, ld, d->H));
    DF_TRY(project(s, l->kv_ctx, d->context, &l->kv, T, 2 * kv, d->H));
    DF_TRY(norm_and_rotate(d, s, l->q, l->rstd_q, l->qkv_out, &l->q_norm,
                           a->block_pos, M, d->A, ld));
    DF_TRY(norm_and_rotate(d, s, l->k, l->rstd_k, k, &l->k_norm, a->block_pos,
                           M, d->G, ld));
    return norm_and_rotate(d, s, l->k_ctx, l->rstd_k_ctx, l->kv_ctx,
                           &l->k_norm, a->pos, T, d->G, 2 * kv);
}

static df_status
attend(struct df_drafter *d, struct df_stream *s, size_t layer,
       const struct df_batch *batch, const struct df_batch_arrays *a)
{
    struct draft_layer *l = &d->layers[layer];
    size_t q = d->A * d->D, kv = d->G * d->D, act = df_act_size(d);

    return df_draft_attention(
        s, &(struct df_draft_attention_args){
               .out = l->att,
               .lse = l->lse,
               .q = l->q,
               .k_ctx = l->k_ctx,
               .v_ctx = (const char *) l->kv_ctx + kv * act,
               .k = l->k,
               .v = (const char *) l->qkv_out + (q + kv) * act,
               .map = df_batch_block_map(batch, a),
               .A = d->A,
               .G = d->G,
               .D = d->D,
               .ldv_ctx = 2 * kv,
               .ldv = q + 2 * kv,
               .window = d->config.d.window[layer],
               .scale = d->scale});
}

static df_status
run_layer(struct df_drafter *d, struct df_stream *s, size_t layer,
          const struct df_batch *batch, const struct df_batch_arrays *a)
{
    struct draft_layer *l = &d->layers[layer];
    size_t M = batch->N * d->b;
    void *out = layer + 1 < d->L ? d->layers[layer + 1].x : d->x;

    DF_TRY(make_qkv(d, s, l, batch, a));
    DF_TRY(attend(d, s, layer, batch, a));
    DF_TRY(project_onto(d, s, l->mid, l->x, l->att, &l->o, M, d->A * d->D));
    DF_TRY(norm(d, s, l->yn, l->rstd_mid, l->mid, &l->mlp_norm, M));
    DF_TRY(project(s, l->gu, l->yn, &l->gate_up, M, 2 * d->I, d->H));
    DF_TRY(df_swiglu(s, &(struct df_swiglu_args){
                            .h = l->h, .gu = l->gu, .T = M, .I = d->I}));
    return project_onto(d, s, out, l->mid, l->h, &l->down, M, d->I);
}

df_status
df_drafter_forward(struct df_drafter *d, struct df_stream *s,
                   const struct df_batch *batch,
                   const struct df_batch_arrays *a)
{
    size_t M = batch->N * d->b;

    DF_TRY(make_context(d, s, batch->T));
    DF_TRY(df_embed(s, &(struct df_embed_args){.x = d->layers[0].x,
                                               .table = d->embeddings->embed,
                                               .ids = a->block_ids,
                                               .T = M,
                                               .H = d->H,
                                               .V = d->embeddings->V}));
    for (size_t i = 0; i < d->L; i++)
        DF_TRY(run_layer(d, s, i, batch, a));
    return norm(d, s, d->hidden, d->rstd_x, d->x, &d->norm, M);
}

/* The drafter's backward pass: forward.c from its end to its beginning.
   dx is the gradient of the residual stream all the way; the layers add to
   it.  */
#include <config.h>

#include "draft/drafter_internal.h"

/* Of y = x w^T: dw += dy^T x.  */
static df_status
weight_gradient(struct df_stream *s, const struct weight *w, const void *dy,
                const void *x, size_t T, size_t N, size_t K)
{
    return df_linear_dw(
        s, &(struct df_linear_dw_args){
               .dw = w->g, .dy = dy, .x = x, .T = T, .N = N, .K = K});
}

/* Of y = x w^T: dx = dy w, or dx += dy w.  */
static df_status
input_gradient(struct df_stream *s, void *dx, const void *dy,
               const struct weight *w, size_t T, size_t N, size_t K,
               bool accumulate)
{
    return df_linear_dx(s,
                        &(struct df_linear_dx_args){.dx = dx,
                                                    .dy = dy,
                                                    .w = w->w,
                                                    .T = T,
                                                    .N = N,
                                                    .K = K,
                                                    .accumulate = accumulate});
}

static df_status
norm_gradient(struct df_drafter *d, struct df_stream *s, void *dx,
              const void *dy, const void *x, const struct weight *w,
              const float *rstd, size_t T, bool accumulate)
{
    return df_rmsnorm_bwd(
        s, &(struct df_rmsnorm_bwd_args){.dx = dx,
                                         .dw = w->g,
                                         .dy = dy,
                                         .x = x,
                                         .w = w->w,
                                         .rstd = rstd,
                                         .T = T,
                                         .C = d->H,
                                         .accumulate = accumulate});
}

/* Back through rotation and norm of N heads, into rows LDDX apart of
   gradients that belong to rows of X, as far apart.  */
static df_status
rotation_gradient(struct df_drafter *d, struct df_stream *s, void *dx,
                  const void *dy, const void *x, const struct weight *w,
                  const float *rstd, const int32_t *pos, size_t T, size_t N,
                  size_t ld)
{
    return df_head_norm_rope_bwd(
        s, &(struct df_head_norm_rope_bwd_args){.dx = dx,
                                                .dw = w->g,
                                                .dy = dy,
                                                .x = x,
                                                .w = w->w,
                                                .rstd = rstd,
                                                .cos = d->cos,
                                                .sin = d->sin,
                                                .pos = pos,
                                                .T = T,
                                                .N = N,
                                                .D = d->D,
                                                .P = d->max_pos,
                                                .lddx = ld,
                                                .ldx = ld});
}

/* out = mid + down(swiglu(gate_up(norm(mid))))  */
static df_status
mlp_gradient(struct df_drafter *d, struct df_stream *s, struct draft_layer *l,
             size_t M)
{
    DF_TRY(weight_gradient(s, &l->down, d->dx, l->h, M, d->H, d->I));
    DF_TRY(input_gradient(s, d->d_h, d->dx, &l->down, M, d->H, d->I, false));
    DF_TRY(df_swiglu_bwd(
        s, &(struct df_swiglu_bwd_args){
               .dgu = d->d_gu, .dh = d->d_h, .gu = l->gu, .T = M, .I = d->I}));
    DF_TRY(weight_gradient(s, &l->gate_up, d->d_gu, l->yn, M, 2 * d->I, d->H));
    DF_TRY(input_gradient(s, d->dn, d->d_gu, &l->gate_up, M, 2 * d->I, d->H,
                          false));
    return norm_gradient(d, s, d->dx, d->dn, l->mid, &l->mlp_norm, l->rstd_mid,
                         M, true);
}

static df_status
attention_gradient(struct df_drafter *d, struct df_stream *s, size_t layer,
                   const struct df_batch *batch,
                   const struct df_batch_arrays *a)
{
    struct draft_layer *l = &d->layers[layer];
    size_t q = d->A * d->D, kv = d->G * d->D, act = df_act_size(d);

    return df_draft_attention_bwd(
        s, &(struct df_draft_attention_bwd_args){
               .dq = d->d_q,
               .dk_ctx = d->d_k_ctx,
               .dv_ctx = (char *) d->d_kv_ctx + kv * act,
               .dk = d->d_k,
               .dv = (char *) d->d_qkv + (q + kv) * act,
               .delta = d->delta,
               .dout = d->d_att,
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
               .lddv_ctx = 2 * kv,
               .lddv = q + 2 * kv,
               .ldv_ctx = 2 * kv,
               .ldv = q + 2 * kv,
               .window = d->config.d.window[layer],
               .scale = d->scale});
}

/* From the gradients of rotated queries and keys to those of qkv_out and
   kv_ctx.  */
static df_status
unrotate(struct df_drafter *d, struct df_stream *s, struct draft_layer *l,
         const struct df_batch *batch, const struct df_batch_arrays *a)
{
    size_t M = batch->N * d->b, T = batch->T;
    size_t q = d->A * d->D, kv = d->G * d->D, ld = q + 2 * kv;
    size_t k = q * df_act_size(d); /* bytes before the keys of a row */

    DF_TRY(rotation_gradient(d, s, d->d_qkv, d->d_q, l->qkv_out, &l->q_norm,
                             l->rstd_q, a->block_pos, M, d->A, ld));
    DF_TRY(rotation_gradient(d, s, (char *) d->d_qkv + k, d->d_k,
                             (const char *) l->qkv_out + k, &l->k_norm,
                             l->rstd_k, a->block_pos, M, d->G, ld));
    return rotation_gradient(d, s, d->d_kv_ctx, d->d_k_ctx, l->kv_ctx,
                             &l->k_norm, l->rstd_k_ctx, a->pos, T, d->G,
                             2 * kv);
}

/* mid = x + o(attention(qkv(norm(x)), kv(context)))  */
static df_status
layer_gradient(struct df_drafter *d, struct df_stream *s, size_t layer,
               const struct df_batch *batch, const struct df_batch_arrays *a)
{
    struct draft_layer *l = &d->layers[layer];
    size_t M = batch->N * d->b, T = batch->T;
    size_t q = d->A * d->D, kv = d->G * d->D, ld = q + 2 * kv;
    bool more = layer > 0; /* the embedding is frozen: no gradient for it */

    DF_TRY(mlp_gradient(d, s, l, M));
    DF_TRY(weight_gradient(s, &l->o, d->dx, l->att, M, d->H, q));
    DF_TRY(input_gradient(s, d->d_att, d->dx, &l->o, M, d->H, q, false));
    DF_TRY(attention_gradient(d, s, layer, batch, a));
    DF_TRY(unrotate(d, s, l, batch, a));
    DF_TRY(weight_gradient(s, &l->qkv, d->d_qkv, l->xn, M, ld, d->H));
    DF_TRY(
        weight_gradient(s, &l->kv, d->d_kv_ctx, d->context, T, 2 * kv, d->H));
    DF_TRY(input_gradient(s, d->d_context, d->d_kv_ctx, &l->kv, T, 2 * kv,
                          d->H, layer + 1 < d->L));
    DF_TRY(input_gradient(s, d->dn, d->d_qkv, &l->qkv, M, ld, d->H, false));
    return norm_gradient(d, s, more ? d->dx : NULL, d->dn, l->x,
                         &l->input_norm, l->rstd_x, M, more);
}

df_status
df_drafter_backward(struct df_drafter *d, struct df_stream *s,
                    const struct df_batch *batch,
                    const struct df_batch_arrays *a)
{
    size_t M = batch->N * d->b, T = batch->T;

    DF_TRY(norm_gradient(d, s, d->dx, d->dn, d->x, &d->norm, d->rstd_x, M,
                         false));
    for (size_t i = d->L; i-- > 0;)
        DF_TRY(layer_gradient(d, s, i, batch, a));
    DF_TRY(norm_gradient(d, s, d->d_context, d->d_context, d->fc_out,
                         &d->hidden_norm, d->rstd_context, T, false));
    return weight_gradient(s, &d->fc, d->d_context, d->features, T, d->H,
                           d->K * d->H);
}

/* Checks of the products, the attentions, the loss and the optimizer.  */

#include <config.h>

#include <assert.h>
#include <math.h>

#include "base/ops_check_internal.h"

static double
product_flops(size_t T, size_t N, size_t K)
{
    return 2.0 * (double) T * (double) N * (double) K;
}

df_status
df_check_linear(const struct df_linear_args *a, struct df_work *work)
{
    ROWS(linear, T);
    POSITIVE(linear, N);
    POSITIVE(linear, K);
    LD(linear, ldy, a->N);
    LD(linear, ldx, a->K);
    if (a->wide && a->bias)
        return DF_FAIL(DF_UNSUPPORTED, "linear: a bias and a float32 result");
    work->nothing = a->T == 0;
    work->flops = product_flops(a->T, a->N, a->K);
    assert(work->nothing || (a->y && a->x && a->w));
    return DF_OK;
}

df_status
df_check_linear_dx(const struct df_linear_dx_args *a, struct df_work *work)
{
    ROWS(linear_dx, T);
    POSITIVE(linear_dx, N);
    POSITIVE(linear_dx, K);
    LD(linear_dx, lddx, a->K);
    LD(linear_dx, lddy, a->N);
    work->nothing = a->T == 0;
    work->flops = product_flops(a->T, a->N, a->K);
    assert(work->nothing || (a->dx && a->dy && a->w));
    return DF_OK;
}

df_status
df_check_linear_dw(const struct df_linear_dw_args *a, struct df_work *work)
{
    ROWS(linear_dw, T);
    POSITIVE(linear_dw, N);
    POSITIVE(linear_dw, K);
    LD(linear_dw, lddy, a->N);
    LD(linear_dw, ldx, a->K);
    work->nothing = a->T == 0;
    work->flops = product_flops(a->T, a->N, a->K);
    assert(work->nothing || (a->dw && a->dy && a->x));
    return DF_OK;
}

static df_status
check_heads(const char *op, size_t A, size_t G, size_t D, int32_t window)
{
    DF_TRY(df_check_size(op, "A", A, 1, INT32_MAX));
    DF_TRY(df_check_size(op, "G", G, 1, A));
    DF_TRY(df_check_size(op, "D", D, 1, INT32_MAX));
    if (A % G)
        return DF_FAIL(DF_SHAPE, "%s: A = %zu is no multiple of G = %zu", op,
                       A, G);
    if (window < 0)
        return DF_FAIL(DF_INVALID, "%s: window is %d", op, window);
    return DF_OK;
}

/* Keys that a query sees on average, if sequences have MAX_SEQLEN rows.  */
static double
mean_keys(size_t max_seqlen, int32_t window)
{
    double keys = ((double) max_seqlen + 1) / 2;

    return window > 0 && window < keys ? window : keys;
}

df_status
df_check_attention(const struct df_attention_args *a, struct df_work *work)
{
    ROWS(attention, T);
    work->nothing = a->T == 0;
    DF_TRY(check_heads("attention", a->A, a->G, a->D, a->window));
    LD(attention, ldo, a->A * a->D);
    LD(attention, ldq, a->A * a->D);
    LD(attention, ldk, a->G * a->D);
    LD(attention, ldv, a->G * a->D);
    if (work->nothing)
        return DF_OK;
    POSITIVE(attention, B);
    IN(attention, max_seqlen, 1, a->T);
    IN(attention, max_past, 0, INT32_MAX - a->max_seqlen);
    assert(a->out && a->q && a->k && a->v && a->cu_seqlens);
    assert(!a->kv_begin == !a->past && (a->past || a->max_past == 0));
    work->flops = 4.0 * (double) (a->T * a->A * a->D)
                  * mean_keys(2 * a->max_past + a->max_seqlen, a->window);
    return DF_OK;
}

/* The map of OP; *FLOPS: those of one product over all visible pairs, by
   query heads of ROW elements together.  */
static df_status
check_map(const char *op, const struct df_block_map *map, size_t row,
          int32_t window, double *flops)
{
    DF_TRY(df_check_size(op, "T", map->T, 0, INT32_MAX));
    DF_TRY(df_check_size(op, "b", map->b, 1, DF_MAX_BLOCK));
    DF_TRY(df_check_size(op, "N", map->N, 0, INT32_MAX / map->b));
    DF_TRY(df_check_size(op, "max_seqlen", map->max_seqlen, 0, map->T));
    DF_TRY(df_check_size(op, "max_blocks", map->max_blocks, 0, map->N));
    if (map->N > 0)
        DF_TRY(df_check_size(op, "B", map->B, 1, INT32_MAX));
    assert(
        map->N == 0
        || (map->cu_seqlens && map->cu_blocks && map->begin && map->anchor));
    *flops = 2.0 * (double) (map->N * map->b * row)
             * (mean_keys(map->max_seqlen, window) + (double) map->b);
    return DF_OK;
}

df_status
df_check_draft_attention(const struct df_draft_attention_args *a,
                         struct df_work *work)
{
    double flops;

    DF_TRY(check_heads("draft_attention", a->A, a->G, a->D, a->window));
    DF_TRY(
        check_map("draft_attention", &a->map, a->A * a->D, a->window, &flops));
    LD(draft_attention, ldo, a->A * a->D);
    LD(draft_attention, ldq, a->A * a->D);
    LD(draft_attention, ldk_ctx, a->G * a->D);
    LD(draft_attention, ldv_ctx, a->G * a->D);
    LD(draft_attention, ldk, a->G * a->D);
    LD(draft_attention, ldv, a->G * a->D);
    work->nothing = a->map.N == 0;
    work->flops = 2 * flops;
    assert(work->nothing || (a->out && a->q && a->k && a->v));
    assert(work->nothing || a->map.T == 0 || (a->k_ctx && a->v_ctx));
    return DF_OK;
}

df_status
df_check_draft_attention_bwd(const struct df_draft_attention_bwd_args *a,
                             struct df_work *work)
{
    double flops;

    DF_TRY(check_heads("draft_attention_bwd", a->A, a->G, a->D, a->window));
    DF_TRY(check_map("draft_attention_bwd", &a->map, a->A * a->D, a->window,
                     &flops));
    LD(draft_attention_bwd, lddq, a->A * a->D);
    LD(draft_attention_bwd, lddk_ctx, a->G * a->D);
    LD(draft_attention_bwd, lddv_ctx, a->G * a->D);
    LD(draft_attention_bwd, lddk, a->G * a->D);
    LD(draft_attention_bwd, lddv, a->G * a->D);
    LD(draft_attention_bwd, lddo, a->A * a->D);
    LD(draft_attention_bwd, ldo, a->A * a->D);
    LD(draft_attention_bwd, ldq, a->A * a->D);
    LD(draft_attention_bwd, ldk_ctx, a->G * a->D);
    LD(draft_attention_bwd, ldv_ctx, a->G * a->D);
    LD(draft_attention_bwd, ldk, a->G * a->D);
    LD(draft_attention_bwd, ldv, a->G * a->D);
    /* Without blocks the gradients of the context are still set.  */
    work->nothing = a->map.N == 0 && a->map.T == 0;
    work->flops = 5 * flops;
    assert(a->map.T == 0 || (a->dk_ctx && a->dv_ctx));
    assert(a->map.N == 0
           || (a->dq && a->dk && a->dv && a->delta && a->dout && a->out
               && a->lse && a->q && a->k && a->v));
    assert(a->map.N == 0 || a->map.T == 0 || (a->k_ctx && a->v_ctx));
    return DF_OK;
}

df_status
df_check_head_loss(const struct df_head_loss_args *a, struct df_work *work)
{
    ROWS(head_loss, R);
    POSITIVE(head_loss, H);
    POSITIVE(head_loss, V);
    work->nothing = a->R == 0;
    work->flops = product_flops(a->R, a->V, a->H) * (a->dh ? 2 : 1);
    assert(work->nothing || (a->pred && a->h && a->u));
    assert(work->nothing || a->labels || (!a->nll && !a->dh));
    return DF_OK;
}

df_status
df_check_objective(const struct df_objective_args *a, struct df_work *work)
{
    IN(objective, b, 1, DF_MAX_BLOCK);
    IN(objective, N, 0, INT32_MAX / a->b);
    IN(objective, R, 0, a->N * (a->b - 1));
    if (!a->dpace && !(a->gamma >= 0))
        return DF_FAIL(DF_INVALID, "objective: gamma is %g",
                       (double) a->gamma);
    if (a->dpace && !(a->alpha >= 0 && a->alpha <= 1))
        return DF_FAIL(DF_INVALID, "objective: alpha is %g, not in 0 to 1",
                       (double) a->alpha);
    work->nothing = a->N == 0;
    assert(work->nothing || a->sums);
    assert(a->R == 0
           || (a->weight && a->nll && a->pred && a->labels && a->slot));
    return DF_OK;
}

df_status
df_check_add(const struct df_add_args *a, struct df_work *work)
{
    work->nothing = a->N == 0;
    assert(work->nothing || (a->a && a->b));
    return DF_OK;
}

df_status
df_check_sum_squares(const struct df_sum_squares_args *a, struct df_work *work)
{
    (void) work; /* the sum is set, if of nothing too */
    assert(a->sum && (a->N == 0 || a->x));
    return DF_OK;
}

df_status
df_check_clip(const struct df_clip_args *a, struct df_work *work)
{
    (void) work;
    assert(a->state && a->sum);
    if (!(a->max_norm >= 0))
        return DF_FAIL(DF_INVALID, "clip: max_norm is %g", a->max_norm);
    return DF_OK;
}

df_status
df_check_adamw(const struct df_adamw_args *a, struct df_work *work)
{
    work->nothing = a->N == 0;
    assert(work->nothing || (a->w && a->m && a->v && a->g && a->state));
    return DF_OK;
}

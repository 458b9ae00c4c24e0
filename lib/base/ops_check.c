#include <config.h>

#include <assert.h>
#include <math.h>

#include "base/ops_check_internal.h"

df_status
df_check_size(const char *op, const char *name, size_t value, size_t least,
              size_t most)
{
    if (value >= least && value <= most)
        return DF_OK;
    return DF_FAIL(DF_SHAPE, "%s: %s is %zu, not in %zu to %zu", op, name,
                   value, least, most);
}

df_status
df_check_ld(const char *op, const char *name, size_t ld, size_t width)
{
    DF_TRY(df_check_size(op, name, ld, 0, INT32_MAX));
    if (ld == 0 || ld >= width)
        return DF_OK;
    return DF_FAIL(DF_SHAPE, "%s: %s is %zu, less than a row of %zu", op, name,
                   ld, width);
}

df_status
df_check_embed(const struct df_embed_args *a, struct df_work *work)
{
    ROWS(embed, T);
    POSITIVE(embed, H);
    POSITIVE(embed, V);
    work->nothing = a->T == 0;
    assert(work->nothing || (a->x && a->table && a->ids));
    return DF_OK;
}

df_status
df_check_rmsnorm(const struct df_rmsnorm_args *a, struct df_work *work)
{
    ROWS(rmsnorm, T);
    POSITIVE(rmsnorm, C);
    work->nothing = a->T == 0;
    assert(work->nothing || (a->y && a->x && a->w));
    return DF_OK;
}

df_status
df_check_rmsnorm_bwd(const struct df_rmsnorm_bwd_args *a, struct df_work *work)
{
    ROWS(rmsnorm_bwd, T);
    POSITIVE(rmsnorm_bwd, C);
    work->nothing = a->T == 0;
    assert(work->nothing || (a->dw && a->dy && a->x && a->w && a->rstd));
    assert(work->nothing || !a->accumulate || a->dx != a->dy);
    return DF_OK;
}

df_status
df_check_head_norm_rope(const struct df_head_norm_rope_args *a,
                        struct df_work *work)
{
    ROWS(head_norm_rope, T);
    POSITIVE(head_norm_rope, N);
    POSITIVE(head_norm_rope, D);
    POSITIVE(head_norm_rope, P);
    LD(head_norm_rope, ldy, a->N * a->D);
    LD(head_norm_rope, ldx, a->N * a->D);
    if (a->D % 2)
        return DF_FAIL(DF_SHAPE, "head_norm_rope: D is %zu, not even", a->D);
    work->nothing = a->T == 0;
    assert(work->nothing || (a->y && a->x && a->cos && a->sin && a->pos));
    return DF_OK;
}

df_status
df_check_head_norm_rope_bwd(const struct df_head_norm_rope_bwd_args *a,
                            struct df_work *work)
{
    ROWS(head_norm_rope_bwd, T);
    POSITIVE(head_norm_rope_bwd, N);
    POSITIVE(head_norm_rope_bwd, D);
    POSITIVE(head_norm_rope_bwd, P);
    LD(head_norm_rope_bwd, lddx, a->N * a->D);
    LD(head_norm_rope_bwd, lddy, a->N * a->D);
    if (a->w)
        LD(head_norm_rope_bwd, ldx, a->N * a->D);
    if (a->D % 2)
        return DF_FAIL(DF_SHAPE, "head_norm_rope_bwd: D is %zu, not even",
                       a->D);
    work->nothing = a->T == 0;
    assert(work->nothing || (a->dx && a->dy && a->cos && a->sin && a->pos));
    assert(work->nothing || !a->w || (a->dw && a->x && a->rstd));
    return DF_OK;
}

df_status
df_check_swiglu(const struct df_swiglu_args *a, struct df_work *work)
{
    ROWS(swiglu, T);
    POSITIVE(swiglu, I);
    work->nothing = a->T == 0;
    assert(work->nothing || (a->h && a->gu));
    return DF_OK;
}

df_status
df_check_swiglu_bwd(const struct df_swiglu_bwd_args *a, struct df_work *work)
{
    ROWS(swiglu_bwd, T);
    POSITIVE(swiglu_bwd, I);
    work->nothing = a->T == 0;
    assert(work->nothing || (a->dgu && a->dh && a->gu));
    return DF_OK;
}

static df_status
check_noise(const char *op, const struct df_noise *noise)
{
    if (!(noise->amplitude >= 0) || isinf(noise->amplitude))
        return DF_FAIL(DF_INVALID, "%s: noise amplitude is %g", op,
                       (double) noise->amplitude);
    assert(noise->amplitude == 0 || (noise->sample && noise->token));
    return DF_OK;
}

df_status
df_check_pack_hidden(const struct df_pack_hidden_args *a, struct df_work *work)
{
    ROWS(pack_hidden, T);
    POSITIVE(pack_hidden, H);
    IN(pack_hidden, feature, 0, INT32_MAX);
    LD(pack_hidden, ldo, a->H);
    LD(pack_hidden, ldx, a->H);
    work->nothing = a->T == 0;
    if (work->nothing)
        return DF_OK;
    assert(a->out && a->x);
    return check_noise("pack_hidden", &a->noise);
}

df_status
df_check_unpack_hidden(const struct df_unpack_hidden_args *a,
                       struct df_work *work)
{
    ROWS(unpack_hidden, T);
    POSITIVE(unpack_hidden, H);
    IN(unpack_hidden, K, 1, DF_MAX_LAYER_IDS);
    work->nothing = a->T == 0;
    if (work->nothing)
        return DF_OK;
    assert(a->f);
    for (size_t i = 0; i < a->K; i++)
        assert(a->src[i]);
    return check_noise("unpack_hidden", &a->noise);
}

df_status
df_check_gather_rows(const struct df_gather_rows_args *a, struct df_work *work)
{
    ROWS(gather_rows, R);
    POSITIVE(gather_rows, C);
    LD(gather_rows, ldy, a->C);
    work->nothing = a->R == 0;
    if (work->nothing)
        return DF_OK;
    POSITIVE(gather_rows, T);
    assert(a->y && a->x && a->index);
    return DF_OK;
}

df_status
df_check_scatter_rows(const struct df_scatter_rows_args *a,
                      struct df_work *work)
{
    ROWS(scatter_rows, T);
    POSITIVE(scatter_rows, C);
    IN(scatter_rows, R, 0, a->T);
    work->nothing = a->T == 0;
    assert(work->nothing || a->y);
    assert(a->R == 0 || (a->x && a->index && a->scale));
    return DF_OK;
}

/* draft_attention.cu - the drafter's attention: flash.cu over blocks,
   flash_dq.cu and flash_dkv.cu backwards.

   draft_attention      out[Nb,A,D], lse[Nb,A] <- q, ctx k v, block k v
   draft_attention_bwd  dq, ctx dk dv, block dk dv <- dout, ...  */

#include "flash.cuh"

/* What both passes have in common.  */
template <typename Args>
static df_status
describe(struct df_flash *f, const Args *a, const char *op)
{
    size_t q = a->A * a->D, kv = a->G * a->D;

    f->q = df_rows_of(a->q, a->ldq, q);
    f->out = df_rows_of(a->out, a->ldo, q);
    f->k.side[0] = df_rows_of(a->k_ctx, a->ldk_ctx, kv);
    f->k.side[1] = df_rows_of(a->k, a->ldk, kv);
    f->v.side[0] = df_rows_of(a->v_ctx, a->ldv_ctx, kv);
    f->v.side[1] = df_rows_of(a->v, a->ldv, kv);
    f->lse = (float *) a->lse;
    f->cu_seqlens = a->map.cu_seqlens;
    f->cu_blocks = a->map.cu_blocks;
    f->begin = a->map.begin;
    f->anchor = a->map.anchor;
    f->B = (int) a->map.B;
    f->A = (int) a->A;
    f->G = (int) a->G;
    f->D = (int) a->D;
    f->heads = (int) (a->A / a->G);
    f->b = (int) a->map.b;
    f->splits = 1;
    f->window = a->window;
    f->scale = a->scale;
    f->wide = a->D % 8 == 0 && df_rows_aligned(f->q) && df_rows_aligned(f->out)
              && df_rows_aligned(f->k.side[0]) && df_rows_aligned(f->k.side[1])
              && df_rows_aligned(f->v.side[0])
              && df_rows_aligned(f->v.side[1]);
    return df_flash_rows(op, f, a->map.max_blocks * a->map.b);
}

df_status
cuda_draft_attention(struct cuda_stream *s,
                     const struct df_draft_attention_args *a)
{
    struct df_flash f = {};

    DF_TRY(describe(&f, a, "draft_attention"));
    return df_flash_forward(s, "draft_attention", &f);
}

/* Without blocks nobody sees the context.  */
static df_status
clear_context(struct cuda_stream *s,
              const struct df_draft_attention_bwd_args *a)
{
    size_t width = a->G * a->D * sizeof(uint16_t);

    DF_CUDA(cudaMemset2DAsync(
        a->dk_ctx, df_ld(a->lddk_ctx, a->G * a->D) * sizeof(uint16_t), 0,
        width, a->map.T, s->cu));
    DF_CUDA(cudaMemset2DAsync(
        a->dv_ctx, df_ld(a->lddv_ctx, a->G * a->D) * sizeof(uint16_t), 0,
        width, a->map.T, s->cu));
    return DF_OK;
}

df_status
cuda_draft_attention_bwd(struct cuda_stream *s,
                         const struct df_draft_attention_bwd_args *a)
{
    size_t q = a->A * a->D, kv = a->G * a->D;
    struct df_flash_bwd g = {};

    if (a->map.N == 0)
        return clear_context(s, a);
    DF_TRY(describe(&g.f, a, "draft_attention_bwd"));
    g.dout = df_rows_of(a->dout, a->lddo, q);
    g.dq = df_rows_of(a->dq, a->lddq, q);
    g.dk.side[0] = df_rows_of(a->dk_ctx, a->lddk_ctx, kv);
    g.dk.side[1] = df_rows_of(a->dk, a->lddk, kv);
    g.dv.side[0] = df_rows_of(a->dv_ctx, a->lddv_ctx, kv);
    g.dv.side[1] = df_rows_of(a->dv, a->lddv, kv);
    g.delta = a->delta;
    g.rows = (int) (a->map.N * a->map.b);
    g.max_seqlen = (int) a->map.max_seqlen;
    g.max_own = (int) (a->map.max_blocks * a->map.b);
    g.f.wide =
        g.f.wide && df_rows_aligned(g.dout) && df_rows_aligned(g.dq)
        && df_rows_aligned(g.dk.side[0]) && df_rows_aligned(g.dk.side[1])
        && df_rows_aligned(g.dv.side[0]) && df_rows_aligned(g.dv.side[1]);
    DF_TRY(df_flash_dq(s, "draft_attention_bwd", &g));
    return df_flash_dkv(s, "draft_attention_bwd", &g);
}

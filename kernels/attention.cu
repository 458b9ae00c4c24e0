/* attention.cu - the target's attention: flash.cu over a causal batch.

   attention  out[T,A,D] <- q[T,A,D], k[T,G,D], v[T,G,D]  */

#include "flash.cuh"

df_status
cuda_attention(struct cuda_stream *s, const struct df_attention_args *a)
{
    size_t heads = a->A / a->G;
    struct df_flash f = {};

    f.q = {(uint16_t *) a->q, df_ld(a->ldq, a->A * a->D)};
    f.out = {(uint16_t *) a->out, df_ld(a->ldo, a->A * a->D)};
    f.k.side[0] = {(uint16_t *) a->k, df_ld(a->ldk, a->G * a->D)};
    f.v.side[0] = {(uint16_t *) a->v, df_ld(a->ldv, a->G * a->D)};
    f.cu_seqlens = a->cu_seqlens;
    f.kv_begin = a->kv_begin;
    f.past = a->past;
    f.B = (int) a->B;
    f.A = (int) a->A;
    f.G = (int) a->G;
    f.D = (int) a->D;
    f.heads = (int) heads;
    f.window = a->window;
    f.scale = a->scale;
    f.wide = a->D % 8 == 0 && df_rows_aligned(f.q) && df_rows_aligned(f.out)
             && df_rows_aligned(f.k.side[0]) && df_rows_aligned(f.v.side[0]);
    f.splits = 1;
    f.max_tokens = (int) a->max_seqlen;
    /* By max_past alone: so a row has the same bits whether it's decoded by
       itself or in a block.  */
    if (a->past && a->max_seqlen <= DF_FLASH_FEW)
        DF_TRY(df_flash_split(s, &f, a->max_past, a->max_past + a->max_seqlen,
                              a->T));
    DF_TRY(df_flash_rows("attention", a->max_seqlen, heads, &f.max_rows));
    return df_flash_forward(s, "attention", &f);
}

/* attention.cu - the target's attention: flash.cu over a causal batch.

   attention  out[T,A,D] <- q[T,A,D], k[T,G,D], v[T,G,D]  */

#include "flash.cuh"

enum {
    FEW = 64,        /* queries of a sequence */
    SPLIT = 128,     /* keys, at least; a multiple of all tiles */
    MOST_SPLITS = 32 /* for all places but the last */
};

/* Let several blocks share the keys of few queries.  How they do follows from
   max_past alone, and so a row has the same bits whether it is decoded by
   itself or in a block.  */
static df_status
split_keys(struct cuda_stream *s, const struct df_attention_args *a,
           struct df_flash *f)
{
    size_t each = df_ceil(df_ceil(a->max_past, MOST_SPLITS), SPLIT) * SPLIT;
    size_t row = (size_t) f->A * (f->D + 2) * sizeof(float);
    void *parts;

    f->splits = 1;
    if (!a->past || a->max_seqlen > FEW)
        return DF_OK;
    f->split = each > 0 ? (int) each : SPLIT;
    f->splits = (int) ((a->max_past + a->max_seqlen - 1) / f->split + 1);
    f->T = (int) a->T;
    f->max_tokens = (int) a->max_seqlen;
    DF_TRY(df_cuda_scratch(s, f->splits * a->T * row, &parts));
    f->parts = (float *) parts;
    return DF_OK;
}

df_status
cuda_attention(struct cuda_stream *s, const struct df_attention_args *a)
{
    struct df_flash f = {};

    f.q = df_rows_of(a->q, a->ldq, a->A * a->D);
    f.out = df_rows_of(a->out, a->ldo, a->A * a->D);
    f.k.side[0] = df_rows_of(a->k, a->ldk, a->G * a->D);
    f.v.side[0] = df_rows_of(a->v, a->ldv, a->G * a->D);
    f.cu_seqlens = a->cu_seqlens;
    f.kv_begin = a->kv_begin;
    f.past = a->past;
    f.B = (int) a->B;
    f.A = (int) a->A;
    f.G = (int) a->G;
    f.D = (int) a->D;
    f.heads = (int) (a->A / a->G);
    f.window = a->window;
    f.scale = a->scale;
    f.wide = a->D % 8 == 0 && df_rows_aligned(f.q) && df_rows_aligned(f.out)
             && df_rows_aligned(f.k.side[0]) && df_rows_aligned(f.v.side[0]);
    DF_TRY(split_keys(s, a, &f));
    DF_TRY(df_flash_rows("attention", &f, a->max_seqlen));
    return df_flash_forward(s, "attention", &f);
}

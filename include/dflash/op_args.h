/* op_args.h - the arguments of each operation, and what it computes.

   The letters and the rules that hold for all of them are those of ops.h.  */

#ifndef DFLASH_OP_ARGS_H
#define DFLASH_OP_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dflash/defs.h"
#include "dflash/op_draw.h"

DF_BEGIN_DECLS

enum {
    DF_MAX_BLOCK = 64 /* slots a block */
};

/* x[t] = table[ids[t]].  Ids are in [0, V): the caller has checked.  */
struct df_embed_args {
    void *x;            /* [T,H] act */
    const void *table;  /* [V,H] act */
    const int32_t *ids; /* [T] */
    size_t T, H, V;
};

/* y[t,c] = x[t,c] * rstd[t] * w[c], rstd[t] = 1 / sqrt(mean_c x^2 + eps).
   Y may be X.  */
struct df_rmsnorm_args {
    void *y;       /* [T,C] act */
    float *rstd;   /* [T], or NULL when no backward pass will follow */
    const void *x; /* [T,C] act */
    const void *w; /* [C] act */
    size_t T, C;
    float eps; /* added to the mean square, e.g. 1e-6 */
};

/* With xhat = x * rstd and g = dy * w:
     dx = rstd * (g - xhat * mean_c(g * xhat)),  dw += sum_t dy * xhat.
   DX may be DY.  ACCUMULATE adds to dx instead of setting it (then DX is
   not DY).  */
struct df_rmsnorm_bwd_args {
    void *dx;          /* [T,C] act, or NULL if only dw is wanted */
    float *dw;         /* [C], added to */
    const void *dy;    /* [T,C] act */
    const void *x;     /* [T,C] act */
    const void *w;     /* [C] act */
    const float *rstd; /* [T] */
    size_t T, C;
    bool accumulate;
};

/* RMSNorm of every head over D, then rotary position embedding, halves
   rotated against each other ("rotate-half"):
     z = w ? x * rstd * w : x;  c = cos[pos[t]], s = sin[pos[t]]
     y[i] = z[i] * c[i] - z[i+D/2] * s[i]
     y[i+D/2] = z[i+D/2] * c[i] + z[i] * s[i],  i < D/2.
   Y may be X.  */
struct df_head_norm_rope_args {
    void *y;                /* [T,N,D] act */
    float *rstd;            /* [T,N], or NULL when no backward pass follows */
    const void *x;          /* [T,N,D] act */
    const void *w;          /* [D] act, or NULL: no norm */
    const float *cos, *sin; /* [P,D/2] */
    const int32_t *pos;     /* [T], each in [0, P) */
    size_t T, N, D, P;
    size_t ldy, ldx; /* rows of N * D used elements */
    float eps;
};

/* DX may be DY.  dw is added to.  W NULL: no norm, X and RSTD unused.  */
struct df_head_norm_rope_bwd_args {
    void *dx;       /* [T,N,D] act */
    float *dw;      /* [D] */
    const void *dy; /* [T,N,D] act */
    const void *x;  /* as in the forward pass */
    const void *w;
    const float *rstd;
    const float *cos, *sin;
    const int32_t *pos;
    size_t T, N, D, P;
    size_t lddx, lddy, ldx;
};

/* y[t,n] = sum_k x[t,k] * w[n,k] + bias[n]; ACCUMULATE adds that to y.
   On a CPU each row of y has the same bits whatever other rows there are:
   a capture doesn't depend on how it was batched.  */
struct df_linear_args {
    void *y;          /* [T,N] act */
    const void *x;    /* [T,K] act */
    const void *w;    /* [N,K] act */
    const void *bias; /* [N] act, or NULL */
    size_t T, N, K;
    size_t ldy, ldx; /* w is contiguous */
    bool accumulate;
    bool wide; /* y is float32, whatever act is; then without a bias */
};

/* dx[t,k] = sum_n dy[t,n] * w[n,k]; ACCUMULATE adds that to dx.  */
struct df_linear_dx_args {
    void *dx;       /* [T,K] act */
    const void *dy; /* [T,N] act */
    const void *w;  /* [N,K] act */
    size_t T, N, K;
    size_t lddx, lddy;
    bool accumulate;
};

/* dw[n,k] += sum_t dy[t,n] * x[t,k].  */
struct df_linear_dw_args {
    float *dw;      /* [N,K] */
    const void *dy; /* [T,N] act */
    const void *x;  /* [T,K] act */
    size_t T, N, K;
    size_t lddy, ldx;
};

/* h = silu(g) * u, g = gu[t,0..I), u = gu[t,I..2I), silu(g) = g/(1+e^-g).  */
struct df_swiglu_args {
    void *h;        /* [T,I] act */
    const void *gu; /* [T,2I] act */
    size_t T, I;
};

/* DGU may be GU.  */
struct df_swiglu_bwd_args {
    void *dgu;      /* [T,2I] act */
    const void *dh; /* [T,I] act */
    const void *gu; /* [T,2I] act */
    size_t T, I;
};

/* Causal attention of packed sequences, head a using key/value head
   a / (A/G): query t sees the keys s of its own sequence with s <= t and,
   if WINDOW > 0, s > t - WINDOW.

   With a cache, keys and values are rows of it: those of sequence b begin at
   row KV_BEGIN[b], and its first query is at place PAST[b], so that query i
   of the sequence sees the rows up to KV_BEGIN[b] + PAST[b] + i, which are
   there already.  T may be more than the sequences' rows then: rows behind
   them are left out.  Without one (both NULL), k and v are [T,G,D] and lie
   as the queries do.

   On a CPU a row has the same bits whatever other queries are asked beside
   it, of its own sequence or others; so it has on a GPU.  */
struct df_attention_args {
    void *out;                 /* [T,A,D] act */
    const void *q;             /* [T,A,D] act */
    const void *k;             /* [T or rows of the cache,G,D] act */
    const void *v;             /* the same */
    const int32_t *cu_seqlens; /* [B+1], rows where sequences begin; last T */
    const int32_t *kv_begin;   /* [B], or NULL */
    const int32_t *past;       /* [B], or NULL */
    size_t T, B, A, G, D;
    size_t ldo, ldq, ldk, ldv;
    size_t max_seqlen; /* of the B sequences, for scratch and grids */
    size_t max_past;   /* likewise */
    int32_t window;    /* 0: all keys */
    float scale;       /* of q.k, D^-0.5 */
};

/* How blocks lie in a packed batch.  Device memory.  Blocks of one sequence
   are neighbours, in the order of the sequences.  */
struct df_block_map {
    const int32_t *cu_seqlens; /* [B+1] first context row of each sequence */
    const int32_t *cu_blocks;  /* [B+1] first block of each sequence */
    const int32_t *begin;      /* [N] first context row of its sequence */
    const int32_t *anchor;     /* [N] context row of its anchor */
    size_t B, N, b, T;         /* T context rows in all */
    size_t max_seqlen, max_blocks; /* of a sequence */
};

/* The drafter's attention.  Query (n,j) sees the context rows s with
   begin[n] <= s < anchor[n] and, if WINDOW > 0, s >= anchor[n]+j-(WINDOW-1);
   and slot i of its own block, all of them or, if WINDOW > 0, i <= j.  No
   mask is stored.  lse is the log of the sum of exponents, for the backward
   pass.  */
struct df_draft_attention_args {
    void *out;                 /* [N*b,A,D] act */
    float *lse;                /* [N*b,A], or NULL */
    const void *q;             /* [N*b,A,D] act */
    const void *k_ctx, *v_ctx; /* [T,G,D] act */
    const void *k, *v;         /* [N*b,G,D] act, of the blocks */
    struct df_block_map map;
    size_t A, G, D;
    size_t ldo, ldq, ldk_ctx, ldv_ctx, ldk, ldv;
    int32_t window; /* 0: all */
    float scale;
};

/* All gradients are set, those of context rows that nobody sees to 0.  */
struct df_draft_attention_bwd_args {
    void *dq;                              /* [N*b,A,D] act */
    void *dk_ctx, *dv_ctx;                 /* [T,G,D] act */
    void *dk, *dv;                         /* [N*b,G,D] act */
    float *delta;                          /* [N*b,A], scratch */
    const void *dout, *out;                /* [N*b,A,D] act */
    const float *lse;                      /* [N*b,A] */
    const void *q, *k_ctx, *v_ctx, *k, *v; /* as in the forward pass */
    struct df_block_map map;
    size_t A, G, D;
    size_t lddq, lddk_ctx, lddv_ctx, lddk, lddv;
    size_t lddo, ldo, ldq, ldk_ctx, ldv_ctx, ldk, ldv;
    int32_t window;
    float scale;
};

/* Noise for the hidden states: uniform in [-AMPLITUDE, AMPLITUDE], the
   element of feature f (over all K*H) of a sample's token being number
   f % 4 of df_philox(KEY, f / 4, token, sample & 2^32-1, sample >> 32).
   A noised value is bf16(float(bf16(x)) + noise), noise = AMPLITUDE *
   (2 * df_uniform(number) - 1), product and sum each rounded to float.  */
struct df_noise {
    float amplitude; /* 0: none, and the rest is unused */
    uint64_t key;
    const uint64_t *sample; /* [T] sample of each row */
    const int32_t *token;   /* [T] token of each row within its sample */
};

/* One captured layer into its place: out[t] = bf16(x[t]), noise added if
   wanted, and the check of each row (check.h).  */
struct df_pack_hidden_args {
    uint16_t *out; /* [T,H] bf16 */
    const void *x; /* [T,H] act */
    size_t T, H, ldo, ldx;
    size_t feature; /* number of the first column among all K*H */
    struct df_noise noise;
    uint64_t *check; /* [T], LDCHECK apart, or NULL: df_check_row of out[t] */
    size_t ldcheck;
};

/* Layers side by side: f[t, i*H + c] = src[i][t,c], noise added if wanted.
   Packed states are K = 1 of H = K*H.  */
enum {
    DF_MAX_LAYER_IDS = 32
};
struct df_unpack_hidden_args {
    void *f;                               /* [T,K*H] act */
    const uint16_t *src[DF_MAX_LAYER_IDS]; /* K of [T,H] bf16 */
    size_t T, H, K;
    struct df_noise noise;
};

/* y[r] = x[index[r]].  */
struct df_gather_rows_args {
    void *y;              /* [R,C] act */
    const void *x;        /* [T,C] act */
    const int32_t *index; /* [R], each in [0, T) */
    size_t R, C, T;
    size_t ldy;
};

/* y[index[r]] = x[r]; the other rows of y stay, and rows with a negative
   index are left out.  The other indices are distinct.  */
struct df_put_rows_args {
    void *y;              /* [T,C] act */
    const void *x;        /* [R,C] act */
    const int32_t *index; /* [R], each less than T */
    size_t R, C, T;
    size_t ldy, ldx;
};

/* y[index[r]] = scale[r] * x[r], all other rows of y = 0.  */
struct df_scatter_rows_args {
    void *y;              /* [T,C] act */
    const void *x;        /* [R,C] act */
    const int32_t *index; /* [R], ascending, distinct, in [0, T) */
    const float *scale;   /* [R] */
    size_t R, C, T;
};

/* The frozen head and the cross-entropy in one, in chunks of rows, so that
   the logits never exist whole.  With z = h[r].u^T in float32:
     nll[r] = log sum_v e^z[v] - z[labels[r]],  pred[r] = argmax_v z[v] (the
     least on ties),  dh[r] = sum_v (softmax(z)[v] - [v = labels[r]]) u[v].
   dh is unweighted: scatter_rows brings the weights.  */
struct df_head_loss_args {
    float *nll;            /* [R], or NULL (then labels may be NULL too) */
    int32_t *pred;         /* [R] */
    void *dh;              /* [R,H] act, or NULL */
    const void *h;         /* [R,H] act */
    const void *u;         /* [V,H] act */
    const int32_t *labels; /* [R], each in [0, V) */
    size_t R, H, V;
};

/* Sums over supervised slots and blocks; added to, read back by the host.
   Divide last.  */
struct df_loss_sums {
    double loss;   /* sum of weight * nll */
    double weight; /* sum of the weights */
    double accept; /* over blocks: 1 + sum_j prod_{i<=j} correct_i */
    double blocks;
    double correct[DF_MAX_BLOCK], total[DF_MAX_BLOCK]; /* by slot */
};

/* Weights of the slots, and the sums.  Row r is slot slot[r] % b of block
   slot[r] / b.  A slot without a row is not supervised: it isn't correct,
   and s = 1 for it.
     dflash: w_j = exp(-(j-1)/gamma), gamma = 0: 1.
     dpace:  q = exp(-nll), s = (1-alpha)q + alpha, prefix_j = prod_{i<=j}
             s_i, w_j = sum_{i>=j, supervised} prefix_i.  No gradient through
             w.  */
struct df_objective_args {
    float *weight;                /* [R] */
    struct df_loss_sums *sums;    /* added to */
    const float *nll;             /* [R] */
    const int32_t *pred, *labels; /* [R] */
    const int32_t *slot; /* [R], ascending, in [0, N*b), never j = 0 */
    size_t R, N, b;
    bool dpace;
    float gamma, alpha;
};

/* a += b, float32.  */
struct df_add_args {
    float *a;
    const float *b;
    size_t N;
};

/* sum = sum_n x[n]^2, set.  The order of summation depends on N alone.  */
struct df_sum_squares_args {
    double *sum;
    const float *x; /* [N] */
    size_t N;
};

/* The optimizer's numbers that live on the device.  */
struct df_step_state {
    double norm;     /* of the scaled gradient, before clipping */
    double factor;   /* what adamw multiplies a gradient with; 0: skip */
    int64_t applied; /* steps taken so far, for the bias correction */
    int64_t skipped; /* steps skipped, their norm not being finite */
    int64_t skipped_in_a_row;
};

/* norm = scale * sqrt(sum); factor = scale * min(1, max_norm/(norm+1e-6)),
   MAX_NORM 0: no clipping; applied goes up.  A norm that isn't finite:
   factor = 0, skipped goes up, applied does not.  */
struct df_clip_args {
    struct df_step_state *state;
    const double *sum;
    double scale; /* 1 / the loss's denominator over the whole step */
    double max_norm;
};

/* AdamW (Loshchilov & Hutter 2019), as PyTorch orders it: with t =
   state->applied and g = factor * g:
     w -= lr * weight_decay * w;  m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g^2
     w -= lr / (1-b1^t) * m / (sqrt(v) / sqrt(1-b2^t) + eps).
   Nothing changes when state->factor is 0.  */
struct df_adamw_args {
    float *w, *m, *v; /* [N] float32 masters and moments */
    const float *g;   /* [N] */
    void *w_act;      /* [N] act: a copy of w, or NULL where act is float */
    const struct df_step_state *state;
    size_t N;
    float lr, beta1, beta2, eps, weight_decay;
};

DF_END_DECLS
#endif

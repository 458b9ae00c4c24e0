/* drafter_internal.h - a drafter's parameters and buffers.

   T context tokens, M = N*b slots, R supervised slots, H hidden, I MLP, A
   query heads, G key/value heads, D head size, K captured layers.  */

#ifndef DF_DRAFTER_INTERNAL_H
#define DF_DRAFTER_INTERNAL_H

#include "base/arena_internal.h"
#include "dflash/drafter.h"

/* A weight as the passes use it, and its gradient.  */
struct weight {
    void *w;  /* act */
    float *g; /* float32 */
};

/* One layer: its weights (q, k and v behind each other, gate and up too),
   and what its forward pass keeps for the backward pass.  */
struct draft_layer {
    struct weight input_norm;     /* [H] */
    struct weight qkv;            /* [(A+2G)D,H] */
    struct weight kv;             /* [2GD,H]: the end of qkv */
    struct weight q_norm, k_norm; /* [D] */
    struct weight o;              /* [H,A*D] */
    struct weight mlp_norm;       /* [H] */
    struct weight gate_up;        /* [2I,H] */
    struct weight down;           /* [H,I] */

    void *x;                  /* [M,H] residual stream before the layer */
    void *xn;                 /* [M,H] its norm */
    void *qkv_out;            /* [M,(A+2G)D] */
    void *kv_ctx;             /* [T,2GD] of the context */
    void *q, *k;              /* [M,A*D], [M,G*D] normed and rotated */
    void *k_ctx;              /* [T,G*D] */
    void *att;                /* [M,A*D] */
    void *mid;                /* [M,H] residual stream before the MLP */
    void *yn;                 /* [M,H] its norm */
    void *gu;                 /* [M,2I] */
    void *h;                  /* [M,I] */
    float *rstd_x, *rstd_mid; /* [M] */
    float *rstd_q, *rstd_k, *rstd_k_ctx; /* [M,A], [M,G], [T,G] */
    float *lse;                          /* [M,A] */
};

struct df_drafter {
    struct df_drafter_config config;
    struct df_drafter_form form; /* of what is saved */
    struct df_device *dev;
    const struct df_embeddings *embeddings;
    bool frozen; /* of what follows, it has sizes, weights and act alone */
    struct df_batch_limits limits;
    size_t H, I, A, G, D, K, L, b;
    size_t max_T, max_M, max_R, max_pos;
    float eps, scale;

    struct df_param *params;
    size_t n_params;
    struct df_arena memory; /* of the flat arrays */
    struct df_flat flat;
    void *act; /* [count] act copy of flat.w, or flat.w itself */
    double *sum;

    struct draft_layer *layers; /* [L] */
    struct weight fc, hidden_norm, norm;

    struct df_arena buffers;
    float *cos, *sin;    /* [max_pos,D/2] */
    void *features;      /* [T,K*H] */
    void *fc_out;        /* [T,H] */
    void *context;       /* [T,H] its norm: C */
    float *rstd_context; /* [T] */
    void *x;             /* [M,H] residual stream after the last layer */
    void *hidden;        /* [M,H] its norm */
    float *rstd_x;       /* [M] */

    void *rows;    /* [R,H] hidden states of supervised slots */
    void *d_rows;  /* [R,H] */
    float *nll;    /* [R] */
    int32_t *pred; /* [R] */
    float *weight; /* [R] */

    /* Gradients of what has the same name above.  */
    void *dx, *dn; /* [M,H] of the residual stream, of a norm */
    void *d_qkv, *d_q, *d_k, *d_att, *d_gu, *d_h;
    void *d_context, *d_kv_ctx, *d_k_ctx;
    float *delta; /* [M,A] */

    struct df_passes *passes; /* NULL: nothing is recorded */
};

/* Bytes of an act element on the drafter's device.  */
static inline size_t
df_act_size(const struct df_drafter *d)
{
    return df_dtype_size(df_device_act(d->dev));
}

/* The parts of a loss: hidden states of the supervised slots to losses and
   predictions, and with BACKWARD to their gradients; weights and sums; the
   way back from the weighted gradients.  */
DF_MUST_USE df_status df_drafter_score(struct df_drafter *d,
                                       struct df_stream *stream,
                                       const struct df_batch *batch,
                                       const struct df_batch_arrays *a,
                                       bool backward);
DF_MUST_USE df_status df_drafter_weigh(struct df_drafter *d,
                                       struct df_stream *stream,
                                       const struct df_batch *batch,
                                       const struct df_batch_arrays *a,
                                       const struct df_objective *objective,
                                       struct df_loss_sums *sums);
DF_MUST_USE df_status df_drafter_return(struct df_drafter *d,
                                        struct df_stream *stream,
                                        const struct df_batch *batch,
                                        const struct df_batch_arrays *a);

/* Free what df_drafter_compile made.  */
void df_drafter_forget_passes(struct df_drafter *d);

/* The backward pass from d->dx, the gradient of the stream's end.  */
DF_MUST_USE df_status df_drafter_backward(struct df_drafter *d,
                                          struct df_stream *stream,
                                          const struct df_batch *batch,
                                          const struct df_batch_arrays *a);

/* Lay out the parameters and point the layers' weights at them.  */
DF_MUST_USE df_status df_drafter_make_params(struct df_drafter *d);

#endif

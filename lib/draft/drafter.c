#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "draft/drafter_internal.h"
#include "model/rope_upload_internal.h"

static void
layout_layer(struct df_arena *a, const struct df_drafter *d,
             struct draft_layer *l)
{
    size_t s = df_act_size(d), f = sizeof(float);
    size_t T = d->max_T, M = d->max_M, q = d->A * d->D, kv = d->G * d->D;

    l->x = df_arena_take(a, M * d->H, s);
    l->xn = df_arena_take(a, M * d->H, s);
    l->qkv_out = df_arena_take(a, M * (q + 2 * kv), s);
    l->kv_ctx = df_arena_take(a, T * 2 * kv, s);
    l->q = df_arena_take(a, M * q, s);
    l->k = df_arena_take(a, M * kv, s);
    l->k_ctx = df_arena_take(a, T * kv, s);
    l->att = df_arena_take(a, M * q, s);
    l->mid = df_arena_take(a, M * d->H, s);
    l->yn = df_arena_take(a, M * d->H, s);
    l->gu = df_arena_take(a, M * 2 * d->I, s);
    l->h = df_arena_take(a, M * d->I, s);
    l->rstd_x = df_arena_take(a, M, f);
    l->rstd_mid = df_arena_take(a, M, f);
    l->rstd_q = df_arena_take(a, M * d->A, f);
    l->rstd_k = df_arena_take(a, M * d->G, f);
    l->rstd_k_ctx = df_arena_take(a, T * d->G, f);
    l->lse = df_arena_take(a, M * d->A, f);
}

static void
layout_gradients(struct df_arena *a, struct df_drafter *d)
{
    size_t s = df_act_size(d), T = d->max_T, M = d->max_M;
    size_t q = d->A * d->D, kv = d->G * d->D;

    d->dx = df_arena_take(a, M * d->H, s);
    d->dn = df_arena_take(a, M * d->H, s);
    d->d_qkv = df_arena_take(a, M * (q + 2 * kv), s);
    d->d_q = df_arena_take(a, M * q, s);
    d->d_k = df_arena_take(a, M * kv, s);
    d->d_att = df_arena_take(a, M * q, s);
    d->d_gu = df_arena_take(a, M * 2 * d->I, s);
    d->d_h = df_arena_take(a, M * d->I, s);
    d->d_context = df_arena_take(a, T * d->H, s);
    d->d_kv_ctx = df_arena_take(a, T * 2 * kv, s);
    d->d_k_ctx = df_arena_take(a, T * kv, s);
    d->delta = df_arena_take(a, M * d->A, sizeof *d->delta);
}

static void
layout(struct df_arena *a, void *owner)
{
    struct df_drafter *d = owner;
    size_t s = df_act_size(d), f = sizeof(float);
    size_t T = d->max_T, M = d->max_M, R = d->max_R;

    d->cos = df_arena_take(a, d->max_pos * d->D / 2, f);
    d->sin = df_arena_take(a, d->max_pos * d->D / 2, f);
    d->features = df_arena_take(a, T * d->K * d->H, s);
    d->fc_out = df_arena_take(a, T * d->H, s);
    d->context = df_arena_take(a, T * d->H, s);
    d->rstd_context = df_arena_take(a, T, f);
    for (size_t i = 0; i < d->L; i++)
        layout_layer(a, d, &d->layers[i]);
    d->x = df_arena_take(a, M * d->H, s);
    d->hidden = df_arena_take(a, M * d->H, s);
    d->rstd_x = df_arena_take(a, M, f);
    d->rows = df_arena_take(a, R * d->H, s);
    d->d_rows = df_arena_take(a, R * d->H, s);
    d->nll = df_arena_take(a, R, f);
    d->pred = df_arena_take(a, R, sizeof *d->pred);
    d->weight = df_arena_take(a, R, f);
    layout_gradients(a, d);
}

static df_status
check(const struct df_drafter_config *c, const struct df_embeddings *e,
      const struct df_batch_limits *limits)
{
    if ((size_t) c->d.hidden_size != e->H || (size_t) c->d.vocab_size != e->V)
        return DF_FAIL(DF_SHAPE,
                       "drafter of hidden size %d and vocabulary %d, but the "
                       "target's are %zu and %zu",
                       c->d.hidden_size, c->d.vocab_size, e->H, e->V);
    if (c->draft_vocab_size)
        return DF_FAIL(DF_UNSUPPORTED,
                       "drafter of %d tokens of %d: a vocabulary of its own "
                       "is not supported",
                       c->draft_vocab_size, c->d.vocab_size);
    if (limits
        && ((size_t) c->block_size != limits->block_size
            || c->mask_token_id != limits->mask_token_id))
        return DF_FAIL(DF_SHAPE,
                       "drafter of block size %d and mask token %d, but the "
                       "batches have %zu and %d",
                       c->block_size, c->mask_token_id, limits->block_size,
                       (int) limits->mask_token_id);
    return DF_OK;
}

static void
take_sizes(struct df_drafter *d)
{
    const struct df_decoder_config *c = &d->config.d;

    d->H = (size_t) c->hidden_size;
    d->I = (size_t) c->intermediate_size;
    d->A = (size_t) c->num_attention_heads;
    d->G = (size_t) c->num_key_value_heads;
    d->D = (size_t) c->head_dim;
    d->L = (size_t) c->num_hidden_layers;
    d->K = (size_t) d->config.n_target_layer_ids;
    d->b = (size_t) d->config.block_size;
    d->eps = (float) c->rms_norm_eps;
    d->scale = 1 / sqrtf((float) d->D);
    if (d->frozen)
        return;
    d->max_T = df_batch_room(&d->limits).T;
    d->max_M = df_batch_room(&d->limits).N * d->b;
    d->max_R = df_batch_room(&d->limits).R;
    d->max_pos = d->limits.max_seqlen + d->b;
}

static df_status
set_up(struct df_drafter *d)
{
    d->layers = calloc(d->L, sizeof *d->layers);
    if (!d->layers)
        return DF_FAIL(DF_NO_MEMORY, "%zu draft layers", d->L);
    DF_TRY(df_drafter_make_params(d));
    if (d->frozen)
        return DF_OK;
    DF_TRY(df_arena_make(&d->buffers, d->dev, DF_MEM_DEVICE, layout, d));
    return df_rope_upload(d->dev, &d->config.d.rope, (int) d->D, d->max_pos,
                          d->cos, d->sin);
}

/* Without LIMITS it's frozen.  */
static df_status
make(struct df_drafter **out, const struct df_drafter_config *config,
     const struct df_embeddings *embeddings,
     const struct df_batch_limits *limits)
{
    struct df_drafter *d;
    df_status status;

    *out = NULL;
    DF_TRY(check(config, embeddings, limits));
    d = calloc(1, sizeof *d);
    if (!d)
        return DF_FAIL(DF_NO_MEMORY, "drafter");
    d->config = *config;
    d->embeddings = embeddings;
    d->dev = embeddings->dev;
    d->frozen = !limits;
    if (limits)
        d->limits = *limits;
    take_sizes(d);
    status = set_up(d);
    if (status != DF_OK)
        df_drafter_free(d);
    else
        *out = d;
    return status;
}

df_status
df_drafter_new(struct df_drafter **out, const struct df_drafter_config *config,
               const struct df_embeddings *embeddings,
               const struct df_batch_limits *limits)
{
    return make(out, config, embeddings, limits);
}

df_status
df_drafter_new_frozen(struct df_drafter **out,
                      const struct df_drafter_config *config,
                      const struct df_embeddings *embeddings)
{
    return make(out, config, embeddings, NULL);
}

void
df_drafter_free(struct df_drafter *d)
{
    if (!d)
        return;
    df_drafter_forget_passes(d);
    df_arena_free(&d->buffers);
    df_arena_free(&d->memory);
    free(d->params);
    free(d->layers);
    free(d);
}

void *
df_drafter_features(struct df_drafter *d)
{
    return d->features;
}

const void *
df_drafter_hidden(const struct df_drafter *d)
{
    return d->hidden;
}

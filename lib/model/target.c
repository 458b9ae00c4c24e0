#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/rope_upload_internal.h"
#include "model/target_internal.h"

static void
layout(struct df_arena *a, void *owner)
{
    struct df_target *t = owner;
    size_t s = df_dtype_size(df_device_act(a->dev));
    size_t T = t->limits.max_tokens, H = (size_t) t->c.hidden_size;
    size_t I = (size_t) t->c.intermediate_size, D = (size_t) t->c.head_dim;
    size_t q = (size_t) t->c.num_attention_heads * D;
    size_t kv = (size_t) t->c.num_key_value_heads * D;

    t->cos = df_arena_take(a, t->limits.max_seqlen * D / 2, sizeof *t->cos);
    t->sin = df_arena_take(a, t->limits.max_seqlen * D / 2, sizeof *t->sin);
    t->x = df_arena_take(a, T * H, s);
    t->xn = df_arena_take(a, T * H, s);
    t->qkv = df_arena_take(a, T * (q + 2 * kv), s);
    t->att = df_arena_take(a, T * q, s);
    t->gu = df_arena_take(a, T * 2 * I, s);
    t->h = df_arena_take(a, T * I, s);
}

static df_status
make_buffers(struct df_target *t)
{
    DF_TRY(df_arena_make(&t->buffers, t->dev, DF_MEM_DEVICE, layout, t));
    return df_rope_upload(t->dev, &t->c.rope, t->c.head_dim,
                          t->limits.max_seqlen, t->cos, t->sin);
}

static df_status
make_layers(struct df_target *t, int last_layer)
{
    t->n_layers = (size_t) last_layer + 1;
    t->layers = calloc(t->n_layers, sizeof *t->layers);
    return t->layers ? DF_OK
                     : DF_FAIL(DF_NO_MEMORY, "%zu layers", t->n_layers);
}

df_status
df_target_new(struct df_target **out, const struct df_model_config *config,
              const struct df_tensors *tensors,
              const struct df_embeddings *embeddings,
              const struct df_batch_limits *limits, int last_layer)
{
    struct df_target *t = calloc(1, sizeof *t);
    df_status status;

    *out = NULL;
    if (!t)
        return DF_FAIL(DF_NO_MEMORY, "target");
    t->c = config->d;
    t->dev = embeddings->dev;
    t->embeddings = embeddings;
    t->limits = *limits;
    status = make_layers(t, last_layer);
    if (status == DF_OK)
        status = df_target_load(t, config, tensors);
    if (status == DF_OK)
        status = make_buffers(t);
    if (status != DF_OK)
        df_target_free(t);
    else
        *out = t;
    return status;
}

df_status
df_target_new_sharing(struct df_target **out, const struct df_target *other,
                      const struct df_batch_limits *limits, int last_layer)
{
    struct df_target *t = calloc(1, sizeof *t);
    df_status status;

    *out = NULL;
    if (!t)
        return DF_FAIL(DF_NO_MEMORY, "target");
    t->c = other->c;
    t->dev = other->dev;
    t->embeddings = other->embeddings;
    t->limits = *limits;
    t->norm = other->norm;
    status = make_layers(t, last_layer);
    if (status == DF_OK) {
        memcpy(t->layers, other->layers, t->n_layers * sizeof *t->layers);
        status = make_buffers(t);
    }
    if (status != DF_OK)
        df_target_free(t);
    else
        *out = t;
    return status;
}

void
df_target_free(struct df_target *t)
{
    if (!t)
        return;
    df_arena_free(&t->buffers);
    df_arena_free(&t->weights);
    free(t->layers);
    free(t);
}

/* The rotated part of qkv that begins at column COLUMN: N heads.  */
static df_status
norm_and_rotate(struct df_target *t, struct df_stream *stream, size_t T,
                const int32_t *pos, size_t column, size_t N, const void *w)
{
    size_t D = (size_t) t->c.head_dim;
    size_t ld = ((size_t) t->c.num_attention_heads
                 + 2 * (size_t) t->c.num_key_value_heads)
                * D;
    char *at = (char *) t->qkv + column * df_dtype_size(df_device_act(t->dev));

    return df_head_norm_rope(stream, &(struct df_head_norm_rope_args){
                                         .y = at,
                                         .x = at,
                                         .w = w,
                                         .cos = t->cos,
                                         .sin = t->sin,
                                         .pos = pos,
                                         .T = T,
                                         .N = N,
                                         .D = D,
                                         .P = t->limits.max_seqlen,
                                         .ldy = ld,
                                         .ldx = ld,
                                         .eps = (float) t->c.rms_norm_eps});
}

static df_status
norm(struct df_target *t, struct df_stream *stream, size_t T, const void *w)
{
    return df_rmsnorm(
        stream, &(struct df_rmsnorm_args){.y = t->xn,
                                          .x = t->x,
                                          .w = w,
                                          .T = T,
                                          .C = (size_t) t->c.hidden_size,
                                          .eps = (float) t->c.rms_norm_eps});
}

/* The keys and values of PASS's rows: where attention finds them, and with a
   cache, put there first.  LAYER's own.  */
static df_status
find_keys(struct df_target *t, struct df_stream *stream, size_t layer,
          const struct df_target_pass *pass, struct df_attention_args *a)
{
    size_t s = df_dtype_size(df_device_act(t->dev));
    size_t q = a->A * a->D, kv = a->G * a->D;
    const char *fresh = (const char *) t->qkv + q * s;
    char *cache;

    a->k = fresh;
    a->v = fresh + kv * s;
    a->ldk = a->ldv = q + 2 * kv;
    if (!pass->cache)
        return DF_OK;
    cache = pass->cache[layer];
    a->k = cache;
    a->v = cache + kv * s;
    a->ldk = a->ldv = 2 * kv;
    a->kv_begin = pass->kv_begin;
    a->past = pass->past;
    a->max_past = pass->max_past;
    return df_put_rows(stream,
                       &(struct df_put_rows_args){.y = cache,
                                                  .x = fresh,
                                                  .index = pass->cache_row,
                                                  .R = pass->T,
                                                  .C = 2 * kv,
                                                  .T = pass->cache_rows,
                                                  .ldx = q + 2 * kv});
}

/* x += attention(norm(x)) * Wo  */
static df_status
attend(struct df_target *t, struct df_stream *stream, size_t layer,
       const struct df_target_pass *pass)
{
    const struct target_layer *l = &t->layers[layer];
    size_t T = pass->T, H = (size_t) t->c.hidden_size;
    size_t A = (size_t) t->c.num_attention_heads;
    size_t G = (size_t) t->c.num_key_value_heads, D = (size_t) t->c.head_dim;
    size_t ld = (A + 2 * G) * D;
    struct df_attention_args a = {.out = t->att,
                                  .q = t->qkv,
                                  .cu_seqlens = pass->cu_seqlens,
                                  .T = T,
                                  .B = pass->B,
                                  .A = A,
                                  .G = G,
                                  .D = D,
                                  .ldq = ld,
                                  .max_seqlen = pass->max_seqlen,
                                  .window = t->c.window[layer],
                                  .scale = 1 / sqrtf((float) D)};

    DF_TRY(norm(t, stream, T, l->input_norm));
    DF_TRY(df_linear(stream, &(struct df_linear_args){.y = t->qkv,
                                                      .x = t->xn,
                                                      .w = l->qkv,
                                                      .bias = l->qkv_bias,
                                                      .T = T,
                                                      .N = ld,
                                                      .K = H}));
    DF_TRY(norm_and_rotate(t, stream, T, pass->pos, 0, A, l->q_norm));
    DF_TRY(norm_and_rotate(t, stream, T, pass->pos, A * D, G, l->k_norm));
    DF_TRY(find_keys(t, stream, layer, pass, &a));
    DF_TRY(df_attention(stream, &a));
    return df_linear(stream, &(struct df_linear_args){.y = t->x,
                                                      .x = t->att,
                                                      .w = l->o,
                                                      .bias = l->o_bias,
                                                      .T = T,
                                                      .N = H,
                                                      .K = A * D,
                                                      .accumulate = true});
}

/* x += down(silu(gate) * up), gate and up of norm(x)  */
static df_status
transform(struct df_target *t, struct df_stream *stream,
          const struct target_layer *l, size_t T)
{
    size_t H = (size_t) t->c.hidden_size, I = (size_t) t->c.intermediate_size;

    DF_TRY(norm(t, stream, T, l->mlp_norm));
    DF_TRY(df_linear(stream, &(struct df_linear_args){.y = t->gu,
                                                      .x = t->xn,
                                                      .w = l->gate_up,
                                                      .T = T,
                                                      .N = 2 * I,
                                                      .K = H}));
    DF_TRY(df_swiglu(stream, &(struct df_swiglu_args){
                                 .h = t->h, .gu = t->gu, .T = T, .I = I}));
    return df_linear(stream, &(struct df_linear_args){.y = t->x,
                                                      .x = t->h,
                                                      .w = l->down,
                                                      .T = T,
                                                      .N = H,
                                                      .K = I,
                                                      .accumulate = true});
}

df_status
df_target_run(struct df_target *t, struct df_stream *stream,
              const struct df_target_pass *pass, size_t n_layers,
              df_layer_hook *hook, void *arg)
{
    DF_TRY(
        df_embed(stream, &(struct df_embed_args){.x = t->x,
                                                 .table = t->embeddings->embed,
                                                 .ids = pass->ids,
                                                 .T = pass->T,
                                                 .H = t->embeddings->H,
                                                 .V = t->embeddings->V}));
    for (size_t i = 0; i < n_layers; i++) {
        DF_TRY(attend(t, stream, i, pass));
        DF_TRY(transform(t, stream, &t->layers[i], pass->T));
        if (hook)
            DF_TRY(hook(arg, (int) i, t->x, stream));
    }
    return DF_OK;
}

df_status
df_target_forward(struct df_target *t, struct df_stream *stream,
                  const struct df_batch *batch,
                  const struct df_batch_arrays *arrays, df_layer_hook *hook,
                  void *arg)
{
    const struct df_target_pass pass = {.ids = arrays->ids,
                                        .pos = arrays->pos,
                                        .cu_seqlens = arrays->cu_seqlens,
                                        .T = batch->T,
                                        .B = batch->B,
                                        .max_seqlen = batch->max_seqlen};

    return df_target_run(t, stream, &pass, t->n_layers, hook, arg);
}

/* NORM [R,H] = the final norm of the rows ROWS[R].  */
static df_status
norm_rows(struct df_target *t, struct df_stream *stream, const int32_t *rows,
          size_t R, void *norm_out)
{
    size_t H = t->embeddings->H;

    DF_TRY(df_gather_rows(
        stream, &(struct df_gather_rows_args){.y = norm_out,
                                              .x = t->x,
                                              .index = rows,
                                              .R = R,
                                              .C = H,
                                              .T = t->limits.max_tokens}));
    return df_rmsnorm(
        stream, &(struct df_rmsnorm_args){.y = norm_out,
                                          .x = norm_out,
                                          .w = t->norm,
                                          .T = R,
                                          .C = H,
                                          .eps = (float) t->c.rms_norm_eps});
}

df_status
df_target_logits(struct df_target *t, struct df_stream *stream,
                 const int32_t *rows, size_t R, void *norm_out, void *logits)
{
    DF_TRY(norm_rows(t, stream, rows, R, norm_out));
    return df_linear(stream, &(struct df_linear_args){.y = logits,
                                                      .x = norm_out,
                                                      .w = t->embeddings->head,
                                                      .T = R,
                                                      .N = t->embeddings->V,
                                                      .K = t->embeddings->H});
}

df_status
df_target_scores(struct df_target *t, struct df_stream *stream,
                 const int32_t *rows, size_t R, void *norm_out, float *z,
                 size_t ldz)
{
    DF_TRY(norm_rows(t, stream, rows, R, norm_out));
    return df_linear(stream, &(struct df_linear_args){.y = z,
                                                      .x = norm_out,
                                                      .w = t->embeddings->head,
                                                      .T = R,
                                                      .N = t->embeddings->V,
                                                      .K = t->embeddings->H,
                                                      .ldy = ldz,
                                                      .wide = true});
}

/* What attention, head and the sum over drafters work on: random values in
   the shapes of the batch.  */
#include <config.h>

#include <math.h>

#include "dflash-bench/step.h"

/* Slots of the batch, as they are computed.  */
static size_t
slots(const struct step *s)
{
    return s->sizes.N * s->sizes.limits.block_size;
}

static df_status
floats(struct step *s, size_t n, float **out)
{
    void *memory;

    DF_TRY(scene_alloc(&s->scene, n * sizeof **out, &memory));
    *out = memory;
    return DF_OK;
}

/* Read by the forward pass: queries, and keys and values of context and
   blocks.  */
static df_status
make_inputs(struct step *s, struct df_draft_attention_args *a)
{
    size_t q = slots(s) * a->A * a->D, kv = slots(s) * a->G * a->D;
    size_t ctx = s->sizes.T * a->G * a->D;
    void *p;

    DF_TRY(scene_random(&s->scene, q, &p));
    a->q = p;
    DF_TRY(scene_random(&s->scene, ctx, &p));
    a->k_ctx = p;
    DF_TRY(scene_random(&s->scene, ctx, &p));
    a->v_ctx = p;
    DF_TRY(scene_random(&s->scene, kv, &p));
    a->k = p;
    DF_TRY(scene_random(&s->scene, kv, &p));
    a->v = p;
    DF_TRY(scene_random(&s->scene, q, &a->out));
    return floats(s, slots(s) * a->A, &a->lse);
}

static df_status
make_gradients(struct step *s, struct df_draft_attention_bwd_args *a)
{
    size_t q = slots(s) * a->A * a->D, kv = slots(s) * a->G * a->D;
    size_t ctx = s->sizes.T * a->G * a->D;
    void *p;

    DF_TRY(scene_random(&s->scene, q, &p));
    a->dout = p;
    DF_TRY(scene_random(&s->scene, q, &a->dq));
    DF_TRY(scene_random(&s->scene, ctx, &a->dk_ctx));
    DF_TRY(scene_random(&s->scene, ctx, &a->dv_ctx));
    DF_TRY(scene_random(&s->scene, kv, &a->dk));
    DF_TRY(scene_random(&s->scene, kv, &a->dv));
    return floats(s, slots(s) * a->A, &a->delta);
}

df_status
step_open_attention(struct step *s)
{
    const struct df_decoder_config *d = &s->w->drafter.d;
    struct df_draft_attention_args *a = &s->attention;

    *a = (struct df_draft_attention_args){
        .map = df_batch_block_map(&s->sizes, &s->arrays),
        .A = (size_t) d->num_attention_heads,
        .G = (size_t) d->num_key_value_heads,
        .D = (size_t) d->head_dim,
        .window = d->window[0],
        .scale = 1 / sqrtf((float) d->head_dim)};
    DF_TRY(make_inputs(s, a));
    s->attention_bwd =
        (struct df_draft_attention_bwd_args){.out = a->out,
                                             .lse = a->lse,
                                             .q = a->q,
                                             .k_ctx = a->k_ctx,
                                             .v_ctx = a->v_ctx,
                                             .k = a->k,
                                             .v = a->v,
                                             .map = a->map,
                                             .A = a->A,
                                             .G = a->G,
                                             .D = a->D,
                                             .window = a->window,
                                             .scale = a->scale};
    DF_TRY(make_gradients(s, &s->attention_bwd));
    s->output = (struct step_output){
        s->attention_bwd.dq, slots(s) * a->A * a->D, df_device_act(s->dev)};
    return DF_OK;
}

static df_status
make_rows(struct step *s, size_t H)
{
    const struct df_batch *b = &s->sizes;
    float *pred;
    void *hidden, *rows, *weight;

    DF_TRY(scene_random(&s->scene, slots(s) * H, &hidden));
    DF_TRY(scene_random(&s->scene, b->R * H, &rows));
    s->gather = (struct df_gather_rows_args){.y = rows,
                                             .x = hidden,
                                             .index = s->arrays.slot,
                                             .R = b->R,
                                             .C = H,
                                             .T = slots(s)};
    DF_TRY(floats(s, b->R, &s->head.nll));
    DF_TRY(floats(s, b->R, &pred));
    s->head.pred = (int32_t *) (void *) pred;
    DF_TRY(scene_random(&s->scene, b->R * H, &s->head.dh));
    DF_TRY(floats(s, b->R, &s->objective.weight));
    weight = s->objective.weight;
    DF_TRY(df_fill(s->scene.stream, weight, 0, b->R * sizeof(float)));
    return scene_random(&s->scene, slots(s) * H, &s->scatter.y);
}

df_status
step_open_head(struct step *s)
{
    const struct df_batch *b = &s->sizes;
    size_t H = s->embeddings.H;

    DF_TRY(make_rows(s, H));
    s->head.h = s->gather.y;
    s->head.u = s->embeddings.head;
    s->head.labels = s->objective.labels = s->arrays.labels;
    s->head.R = b->R;
    s->head.H = H;
    s->head.V = s->embeddings.V;
    s->objective.sums = s->sums;
    s->objective.nll = s->head.nll;
    s->objective.pred = s->head.pred;
    s->objective.slot = s->arrays.slot;
    s->objective.R = s->batch->R;
    s->objective.N = s->batch->N;
    s->objective.b = b->limits.block_size;
    s->objective.gamma = workload_objective.gamma;
    s->scatter.x = s->head.dh;
    s->scatter.index = s->arrays.slot;
    s->scatter.scale = s->objective.weight;
    s->scatter.R = b->R;
    s->scatter.C = H;
    s->scatter.T = slots(s);
    s->output = (struct step_output){s->scatter.y, slots(s) * H,
                                     df_device_act(s->dev)};
    return DF_OK;
}

/* As many values as the drafter has parameters.  */
df_status
step_open_sum(struct step *s)
{
    size_t n = df_drafter_flat(s->drafter).count;
    float *ours, *room;
    void *theirs;

    DF_TRY(floats(s, n, &ours));
    DF_TRY(floats(s, n, &room));
    DF_TRY(
        df_device_alloc(s->other, DF_MEM_DEVICE, n * sizeof(float), &theirs));
    s->theirs = theirs;
    s->add = (struct df_add_args){ours, room, n};
    s->output = (struct step_output){ours, n, DF_F32};
    s->bytes = 2.0 * (double) n * sizeof(float); /* that are copied */
    return DF_OK;
}

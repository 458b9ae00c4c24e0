/* What is queued: passes of the target and of the drafter over the arrays of
   a pass.  */
#include <config.h>

#include <string.h>

#include "decode/decode_internal.h"
#include "dflash/philox.h"

void
df_decode_clear(struct df_generator *d)
{
    struct df_pass_arrays *h = &d->at_host;

    memset(d->host.base, 0, d->array_bytes);
    for (size_t t = 0; t < d->rows; t++)
        h->cache_row[t] = -1;
}

void
df_decode_set_row(struct df_generator *d, size_t t, size_t slot, int32_t id,
                  size_t place)
{
    struct df_pass_arrays *h = &d->at_host;

    h->request[t] = d->requests[slot].id;
    h->ids[t] = id;
    h->pos[t] = (int32_t) place;
    h->cache_row[t] = df_cache_begin(d, slot) + (int32_t) place;
}

df_status
df_decode_send(struct df_generator *d)
{
    return df_copy(d->stream, d->device.base, d->host.base, d->array_bytes);
}

/* A hook of the target that lays the drafter's layers side by side.  */
static df_status
keep(void *arg, int layer, const void *x, struct df_stream *stream)
{
    const struct df_generator *d = arg;
    const struct df_drafter_config *c = &d->drafter->config;
    size_t s = df_dtype_size(df_device_act(d->dev)), K = d->drafter->K;
    char *features = df_draft_features(d->draft);

    for (size_t k = 0; k < K; k++)
        if (c->target_layer_ids[k] == layer)
            return df_gather_rows(stream, &(struct df_gather_rows_args){
                                              .y = features + k * d->H * s,
                                              .x = x,
                                              .index = d->every_row,
                                              .R = d->pass_rows,
                                              .C = d->H,
                                              .T = d->rows,
                                              .ldy = K * d->H});
    return DF_OK;
}

static struct df_draw
drawing(const struct df_generator *d)
{
    return (struct df_draw){.temperature = d->o.temperature,
                            .key = df_key(d->o.seed, DF_KEY_DRAW),
                            .request = d->at_device.request,
                            .place = d->at_device.pos};
}

/* Queue T rows, MAX_SEQLEN of a request, through the target; with DRAFTED, its
   hidden states into the drafter's cache as well.  */
static df_status
run_target(struct df_generator *d, size_t T, size_t max_seqlen, bool drafted)
{
    const struct df_pass_arrays *a = &d->at_device;
    const struct df_target_pass pass = {.ids = a->ids,
                                        .pos = a->pos,
                                        .cu_seqlens = a->cu,
                                        .T = T,
                                        .B = d->C,
                                        .max_seqlen = max_seqlen,
                                        .cache = d->kv,
                                        .cache_row = a->cache_row,
                                        .kv_begin = a->kv_begin,
                                        .past = a->past,
                                        .cache_rows = d->C * d->places,
                                        .max_past = d->places};

    d->pass_rows = T;
    DF_TRY(df_target_run(d->target, d->stream, &pass, d->target->n_layers,
                         drafted ? keep : NULL, d));
    return drafted
               ? df_draft_extend(d->draft, d->stream, T, a->pos, a->cache_row)
               : DF_OK;
}

/* Queue: tokens drawn from the target's rows ROWS[R], as the draw says for
   each, into the result; of the first C.  */
static df_status
pick(struct df_generator *d, const int32_t *rows, size_t R,
     struct df_draw draw)
{
    DF_TRY(df_target_scores(d->target, d->stream, rows, R, d->norm, d->z,
                            d->ldz));
    return df_pick(d->stream, &(struct df_pick_args){.token = d->result,
                                                     .z = d->z,
                                                     .draw = draw,
                                                     .R = d->C,
                                                     .V = d->V,
                                                     .ldz = d->ldz});
}

df_status
df_decode_queue_prefill(struct df_generator *d)
{
    struct df_draw draw = drawing(d);

    DF_TRY(run_target(d, d->P, d->P, d->drafter != NULL));
    draw.request = d->at_device.last_request;
    draw.place = d->at_device.last_pos;
    return pick(d, d->at_device.last, d->C, draw);
}

/* Queue: drafted tokens in the place of the masks.  */
static df_status
draft(struct df_generator *d)
{
    const struct df_pass_arrays *a = &d->at_device;
    const struct df_block_map map = {.cu_seqlens = a->cu,
                                     .cu_blocks = a->cu_blocks,
                                     .begin = a->kv_begin,
                                     .anchor = a->anchor,
                                     .B = d->C,
                                     .N = d->C,
                                     .b = d->b,
                                     .T = d->C * d->places,
                                     .max_seqlen = d->places,
                                     .max_blocks = 1};
    const void *hidden;

    DF_TRY(
        df_draft_blocks(d->draft, d->stream, &map, a->ids, a->pos, &hidden));
    DF_TRY(df_linear(
        d->stream, &(struct df_linear_args){.y = d->z_draft,
                                            .x = hidden,
                                            .w = d->drafter->embeddings->head,
                                            .T = d->M,
                                            .N = d->V,
                                            .K = d->H,
                                            .ldy = d->ldz,
                                            .wide = true}));
    return df_pick(d->stream, &(struct df_pick_args){.token = a->ids,
                                                     .z = d->z_draft,
                                                     .draw = drawing(d),
                                                     .R = d->M,
                                                     .V = d->V,
                                                     .keep = d->b,
                                                     .ldz = d->ldz,
                                                     .drafter = true});
}

static df_status
verify(struct df_generator *d)
{
    DF_TRY(run_target(d, d->M, d->b, true));
    DF_TRY(df_target_scores(d->target, d->stream, d->every_row, d->M, d->norm,
                            d->z, d->ldz));
    return df_verify(d->stream,
                     &(struct df_verify_args){
                         .result = d->result,
                         .z = d->z,
                         .draft = d->o.temperature > 0 ? d->z_draft : NULL,
                         .ids = d->at_device.ids,
                         .draw = drawing(d),
                         .B = d->C,
                         .b = d->b,
                         .V = d->V,
                         .ldz = d->ldz,
                         .forced = d->o.forced_accept});
}

static df_status
plain(struct df_generator *d)
{
    size_t T = d->o.narrow ? d->C : d->M;

    DF_TRY(run_target(d, T, 1, false));
    return pick(d, d->every_row, T, drawing(d));
}

static df_status
queue(struct df_generator *d, enum df_decode_part part)
{
    switch (part) {
    case DF_DECODE_DRAFT:
        return draft(d);
    case DF_DECODE_VERIFY:
        return verify(d);
    case DF_DECODE_PLAIN:
    case DF_DECODE_PARTS:
        break;
    }
    return plain(d);
}

static df_status
record(struct df_generator *d, enum df_decode_part part)
{
    df_status status, ended;
    df_error error;

    DF_TRY(df_graph_begin(d->stream));
    status = queue(d, part);
    error = *df_error_last();
    ended = df_graph_end(d->stream, &d->graphs[part]);
    return status == DF_OK ? ended : df_error_set(&error);
}

/* The first time nothing is recorded: whatever is to be looked up or
   allocated is then.  */
df_status
df_decode_queue(struct df_generator *d, enum df_decode_part part)
{
    bool again = d->queued[part];

    d->queued[part] = true;
    if (!d->o.graphs || !again)
        return queue(d, part);
    if (!d->graphs[part])
        DF_TRY(record(d, part));
    return df_graph_launch(d->graphs[part]);
}

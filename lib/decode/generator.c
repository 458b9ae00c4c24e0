/* A decoder: made, warmed up, freed.  */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/transfer_internal.h"
#include "decode/decode_internal.h"

static void
layout_arrays(struct df_arena *a, const struct df_generator *d,
              struct df_pass_arrays *p)
{
    p->request = df_arena_take(a, d->rows, sizeof *p->request);
    p->ids = df_arena_take(a, d->rows, sizeof *p->ids);
    p->pos = df_arena_take(a, d->rows, sizeof *p->pos);
    p->cache_row = df_arena_take(a, d->rows, sizeof *p->cache_row);
    p->cu = df_arena_take(a, d->C + 1, sizeof *p->cu);
    p->cu_blocks = df_arena_take(a, d->C + 1, sizeof *p->cu_blocks);
    p->kv_begin = df_arena_take(a, d->C, sizeof *p->kv_begin);
    p->past = df_arena_take(a, d->C, sizeof *p->past);
    p->anchor = df_arena_take(a, d->C, sizeof *p->anchor);
    p->last = df_arena_take(a, d->C, sizeof *p->last);
    p->last_pos = df_arena_take(a, d->C, sizeof *p->last_pos);
    p->last_request = df_arena_take(a, d->C, sizeof *p->last_request);
}

static void
layout_host(struct df_arena *a, void *owner)
{
    struct df_generator *d = owner;

    layout_arrays(a, d, &d->at_host);
    d->array_bytes = a->used;
    d->result_host =
        df_arena_take(a, d->C * (d->b + 1), sizeof *d->result_host);
}

static void
layout_device(struct df_arena *a, void *owner)
{
    struct df_generator *d = owner;

    layout_arrays(a, d, &d->at_device);
}

static void
layout_memory(struct df_arena *a, void *owner)
{
    struct df_generator *d = owner;
    const struct df_decoder_config *c = &d->target->c;
    size_t s = df_dtype_size(df_device_act(d->dev));
    size_t width = 2 * (size_t) c->num_key_value_heads * (size_t) c->head_dim;

    for (size_t i = 0; i < d->target->n_layers; i++)
        d->kv[i] = df_arena_take(a, d->C * d->places * width, s);
    d->result = df_arena_take(a, d->C * (d->b + 1), sizeof *d->result);
    d->every_row = df_arena_take(a, d->rows, sizeof *d->every_row);
    d->norm = df_arena_take(a, d->M * d->H, s);
    d->z = df_arena_take(a, d->M * d->ldz, sizeof *d->z);
    d->z_draft = d->drafter && d->o.temperature > 0
                     ? df_arena_take(a, d->M * d->ldz, sizeof *d->z_draft)
                     : d->z;
}

struct df_batch_limits
df_generator_limits(const struct df_generator_options *o, size_t block_size)
{
    size_t M = o->concurrency * block_size;

    return (struct df_batch_limits){
        .max_tokens = M > o->prefill_rows ? M : o->prefill_rows,
        .max_seqs = o->concurrency,
        .max_seqlen = o->max_seqlen + block_size,
        .num_anchors = 1,
        .block_size = block_size < 2 ? 2 : block_size};
}

static df_status
check_models(const struct df_target *target, const struct df_drafter *drafter,
             const struct df_batch_limits *least)
{
    const struct df_embeddings *e = target->embeddings;

    if (target->n_layers < (size_t) target->c.num_hidden_layers || !e->head)
        return DF_FAIL(DF_SHAPE,
                       "decoding: the target has %zu of %d layers and %s head",
                       target->n_layers, target->c.num_hidden_layers,
                       e->head ? "a" : "no");
    if (target->limits.max_tokens < least->max_tokens
        || target->limits.max_seqlen < least->max_seqlen)
        return DF_FAIL(DF_SHAPE,
                       "decoding: the target is made for %zu tokens and "
                       "sequences of %zu; %zu and %zu are needed",
                       target->limits.max_tokens, target->limits.max_seqlen,
                       least->max_tokens, least->max_seqlen);
    if (drafter && drafter->H != e->H)
        return DF_FAIL(DF_SHAPE,
                       "decoding: the drafter's hidden size is %zu, but the "
                       "target's %zu",
                       drafter->H, e->H);
    if (drafter && drafter->embeddings->dev != e->dev)
        return DF_FAIL(DF_SHAPE,
                       "decoding: the drafter is on %s, but the "
                       "target on %s",
                       df_device_name(drafter->embeddings->dev),
                       df_device_name(e->dev));
    if (drafter
        && drafter->config.target_layer_ids[drafter->K - 1]
               >= target->c.num_hidden_layers)
        return DF_FAIL(DF_SHAPE,
                       "decoding: the drafter sees layer %d, but the target "
                       "has %d",
                       drafter->config.target_layer_ids[drafter->K - 1],
                       target->c.num_hidden_layers);
    return DF_OK;
}

static df_status
check_options(const struct df_generator_options *o, size_t b)
{
    if (o->concurrency < 1 || o->max_new_tokens < 1 || o->max_seqlen < 2
        || o->prefill_rows < 1)
        return DF_FAIL(DF_INVALID,
                       "decoding: %zu requests at a time, %zu tokens, %zu of "
                       "them new, %zu rows of a prefill",
                       o->concurrency, o->max_seqlen, o->max_new_tokens,
                       o->prefill_rows);
    /* Logits over a temperature of next to nothing aren't finite.  */
    if (!(o->temperature >= 0)
        || (o->temperature > 0 && o->temperature < 1e-30f))
        return DF_FAIL(DF_INVALID, "decoding: temperature is %g",
                       (double) o->temperature);
    if (o->forced_accept > b)
        return DF_FAIL(DF_INVALID,
                       "decoding: an accept length of %zu is forced, but a "
                       "block has %zu slots",
                       o->forced_accept, b);
    if (o->max_seqlen + b > (size_t) INT32_MAX / o->concurrency)
        return DF_FAIL(DF_SHAPE,
                       "decoding: a cache of %zu requests of %zu tokens is "
                       "too large",
                       o->concurrency, o->max_seqlen);
    return DF_OK;
}

static df_status
make_requests(struct df_generator *d)
{
    size_t tokens = (d->o.max_seqlen + 1) * sizeof(int32_t);
    size_t each = tokens + (d->o.max_new_tokens + 3) / 4 * 4;

    d->requests = calloc(d->C, sizeof *d->requests);
    d->active = calloc(d->C, sizeof *d->active);
    d->texts = calloc(d->C, each);
    d->stop_ids = calloc(d->o.n_stop_ids + 1, sizeof *d->stop_ids);
    d->kv = calloc(d->target->n_layers, sizeof *d->kv);
    if (!d->requests || !d->active || !d->texts || !d->stop_ids || !d->kv)
        return DF_FAIL(DF_NO_MEMORY, "%zu requests of %zu tokens", d->C,
                       d->o.max_seqlen);
    if (d->o.n_stop_ids > 0)
        memcpy(d->stop_ids, d->o.stop_ids,
               d->o.n_stop_ids * sizeof *d->stop_ids);
    for (size_t i = 0; i < d->C; i++) {
        d->requests[i].tokens = (void *) (d->texts + i * each);
        d->requests[i].accept = (void *) (d->texts + i * each + tokens);
    }
    return DF_OK;
}

/* The host's ids serve to count the rows, once.  */
static df_status
set_up(struct df_generator *d)
{
    DF_TRY(make_requests(d));
    DF_TRY(df_arena_make(&d->host, d->dev, DF_MEM_HOST, layout_host, d));
    DF_TRY(df_arena_make(&d->device, d->dev, DF_MEM_DEVICE, layout_device, d));
    DF_TRY(df_arena_make(&d->memory, d->dev, DF_MEM_DEVICE, layout_memory, d));
    for (size_t i = 0; i < d->rows; i++)
        d->at_host.ids[i] = (int32_t) i;
    DF_TRY(df_copy_now(d->dev, d->every_row, d->at_host.ids,
                       d->rows * sizeof *d->every_row));
    if (!d->drafter)
        return DF_OK;
    if (d->o.timed) {
        DF_TRY(df_event_new_timed(&d->begun, d->dev));
        DF_TRY(df_event_new_timed(&d->drafted, d->dev));
    }
    return df_draft_cache_new(&d->draft, d->drafter, d->C * d->places, d->rows,
                              d->M, d->places);
}

df_status
df_generator_new(struct df_generator **out, struct df_target *target,
                 const struct df_drafter *drafter, struct df_stream *stream,
                 const struct df_generator_options *options)
{
    size_t b = drafter ? drafter->b : 1;
    struct df_batch_limits least;
    struct df_generator *d;
    df_status status;

    *out = NULL;
    DF_TRY(check_options(options, b));
    least = df_generator_limits(options, b);
    DF_TRY(check_models(target, drafter, &least));
    d = calloc(1, sizeof *d);
    if (!d)
        return DF_FAIL(DF_NO_MEMORY, "a decoder");
    *d = (struct df_generator){.o = *options,
                               .target = target,
                               .drafter = drafter,
                               .stream = stream,
                               .dev = target->dev,
                               .C = options->concurrency,
                               .b = b,
                               .M = options->concurrency * b,
                               .P = options->prefill_rows,
                               .rows = least.max_tokens,
                               .places = least.max_seqlen,
                               .V = target->embeddings->V,
                               .ldz = (target->embeddings->V + 7) / 8 * 8,
                               .H = target->embeddings->H};
    d->o.graphs = options->graphs && !df_device_is_cpu(d->dev);
    status = set_up(d);
    if (status != DF_OK)
        df_generator_free(d);
    else
        *out = d;
    return status;
}

void
df_generator_free(struct df_generator *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < sizeof d->graphs / sizeof *d->graphs; i++)
        df_graph_free(d->graphs[i]);
    df_event_free(d->begun);
    df_event_free(d->drafted);
    df_draft_cache_free(d->draft);
    df_arena_free(&d->memory);
    df_arena_free(&d->device);
    df_arena_free(&d->host);
    free(d->kv);
    free(d->stop_ids);
    free(d->texts);
    free(d->active);
    free(d->requests);
    free(d);
}

/* N requests with ROWS rows each, at the greatest places that there are.  */
static void
fill_slots(struct df_generator *d, size_t n, size_t rows)
{
    struct df_pass_arrays *h = &d->at_host;

    df_decode_clear(d);
    for (size_t i = 0; i < d->C; i++) {
        h->kv_begin[i] = df_cache_begin(d, i);
        h->past[i] = (int32_t) (d->places - rows);
        h->anchor[i] = h->kv_begin[i] + h->past[i];
        h->cu[i + 1] = (int32_t) ((i < n ? i + 1 : n) * rows);
        h->cu_blocks[i + 1] = (int32_t) (i + 1);
    }
}

/* Twice: the second time, what is queued becomes a graph.  */
static df_status
warm_round(struct df_generator *d, enum df_decode_part first,
           enum df_decode_part last)
{
    for (int i = 0; i < 2; i++)
        for (int part = first; part <= (int) last; part++)
            DF_TRY(df_decode_queue(d, (enum df_decode_part) part));
    return df_stream_sync(d->stream);
}

df_status
df_generator_warm_up(struct df_generator *d)
{
    size_t rows = d->P < d->places ? d->P : d->places;
    struct df_device_stats stats;

    fill_slots(d, 1, rows);
    DF_TRY(df_decode_send(d));
    DF_TRY(df_decode_queue_prefill(d));
    DF_TRY(df_stream_sync(d->stream));
    if (d->drafter) {
        fill_slots(d, d->C, d->b);
        DF_TRY(df_decode_send(d));
        DF_TRY(warm_round(d, DF_DECODE_DRAFT, DF_DECODE_VERIFY));
    }
    fill_slots(d, d->C, 1);
    DF_TRY(df_decode_send(d));
    DF_TRY(warm_round(d, DF_DECODE_PLAIN, DF_DECODE_PLAIN));
    DF_TRY(df_settle(d->stream));
    DF_TRY(df_stream_sync(d->stream));
    df_device_get_stats(d->dev, &stats);
    d->allocations = stats.allocations;
    return DF_OK;
}

void
df_generator_get_stats(const struct df_generator *d,
                       struct df_decode_stats *out)
{
    struct df_device_stats stats;

    df_device_get_stats(d->dev, &stats);
    *out = d->stats;
    out->allocations = stats.allocations - d->allocations;
}

void
df_generator_clear_stats(struct df_generator *d)
{
    d->stats = (struct df_decode_stats){0};
}

double
df_decode_mean_accept(const struct df_decode_stats *s)
{
    return s->rounds > 0 ? (double) s->accepted / (double) s->rounds : 0;
}

double
df_decode_slot_accept(const struct df_decode_stats *s, size_t j)
{
    uint64_t came = 0, stayed = 0;

    for (size_t i = j; i <= DF_MAX_BLOCK; i++) {
        came += s->lengths[i];
        stayed += i > j ? s->lengths[i] : 0;
    }
    return came > 0 ? (double) stayed / (double) came : 0;
}

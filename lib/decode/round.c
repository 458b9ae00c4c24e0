/* A round of the requests under way, and the loop of rounds.  */
#include <config.h>

#include <time.h>

#include "decode/decode_internal.h"

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

/* Requests in ROWS rows each: the last token of each, and masks.  */
static void
fill(struct df_generator *d, size_t rows)
{
    struct df_pass_arrays *h = &d->at_host;
    size_t i;

    df_decode_clear(d);
    for (i = 0; i < d->n_active; i++) {
        size_t slot = d->active[i];
        const struct df_request *r = &d->requests[slot];
        size_t place = r->n - 1;

        for (size_t j = 0; j < rows; j++)
            df_decode_set_row(d, i * rows + j, slot,
                              j == 0 ? r->tokens[place]
                                     : d->drafter->config.mask_token_id,
                              place + j);
        h->kv_begin[i] = df_cache_begin(d, slot);
        h->past[i] = (int32_t) place;
        h->anchor[i] = h->kv_begin[i] + h->past[i];
        h->cu[i + 1] = (int32_t) ((i + 1) * rows);
        h->cu_blocks[i + 1] = (int32_t) (i + 1);
    }
    for (; i < d->C; i++) {
        h->cu[i + 1] = h->cu[i];
        h->cu_blocks[i + 1] = h->cu_blocks[i];
    }
}

static void
take_plain(struct df_generator *d)
{
    for (size_t i = 0; i < d->n_active; i++)
        df_decode_append(d, &d->requests[d->active[i]], &d->result_host[i], 1);
}

static void
take_blocks(struct df_generator *d)
{
    for (size_t i = 0; i < d->n_active; i++) {
        struct df_request *r = &d->requests[d->active[i]];
        const int32_t *result = d->result_host + i * (d->b + 1);
        size_t n = (size_t) result[0];

        r->accept[r->rounds++] = (uint8_t) n;
        d->stats.rounds++;
        d->stats.accepted += n;
        d->stats.lengths[n]++;
        df_decode_append(d, r, result + 1, n);
    }
}

static df_status
draft(struct df_generator *d)
{
    if (!d->o.timed)
        return df_decode_queue(d, DF_DECODE_DRAFT);
    DF_TRY(df_event_record(d->begun, d->stream));
    DF_TRY(df_decode_queue(d, DF_DECODE_DRAFT));
    return df_event_record(d->drafted, d->stream);
}

/* All of a round, to the end.  */
static df_status
pass(struct df_generator *d, bool plain)
{
    size_t count = plain ? d->C : d->C * (d->b + 1);

    fill(d, plain ? 1 : d->b);
    DF_TRY(df_decode_send(d));
    if (!plain)
        DF_TRY(draft(d));
    DF_TRY(df_decode_queue(d, plain ? DF_DECODE_PLAIN : DF_DECODE_VERIFY));
    DF_TRY(df_copy(d->stream, d->result_host, d->result,
                   count * sizeof *d->result));
    return df_stream_sync(d->stream);
}

df_status
df_decode_round(struct df_generator *d, const struct df_decode_job *job)
{
    double begin = now(), seconds, drafted = 0;

    DF_TRY(pass(d, job->plain));
    seconds = now() - begin;
    if (d->o.timed && !job->plain)
        DF_TRY(df_event_seconds(d->begun, d->drafted, &drafted));
    d->stats.draft += drafted;
    d->stats.verify += seconds - drafted;
    d->stats.passes++;
    if (job->plain)
        take_plain(d);
    else
        take_blocks(d);
    if (job->round)
        job->round(job->arg, seconds);
    return DF_OK;
}

static df_status
run(struct df_generator *d, const struct df_decode_job *job)
{
    double begin;

    do {
        DF_TRY(df_decode_admit(d, job));
        begin = now();
        DF_TRY(df_decode_prefill(d));
        d->stats.prefill += now() - begin;
        DF_TRY(df_decode_finish(d, job));
        if (d->n_active > 0) {
            DF_TRY(df_decode_round(d, job));
            DF_TRY(df_decode_finish(d, job));
        }
    } while (d->n_active > 0 || !d->ended);
    return DF_OK;
}

df_status
df_generate(struct df_generator *d, const struct df_decode_job *job)
{
    double begin = now();
    df_status status;

    if (!d->drafter && !job->plain)
        return DF_FAIL(DF_INVALID, "decoding: there is no drafter");
    d->ended = false;
    d->n_taken = d->n_active = 0;
    for (size_t i = 0; i < d->C; i++)
        d->requests[i].busy = false;
    status = run(d, job);
    d->stats.seconds += now() - begin;
    return status;
}

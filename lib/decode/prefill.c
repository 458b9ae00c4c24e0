/* Prompts into the caches: as many rows in a pass as there may be, of several
   prompts, and long ones in pieces.  */
#include <config.h>

#include "decode/decode_internal.h"

static bool
waits(const struct df_request *r)
{
    return r->busy && r->cached < r->prompt;
}

/* Add what fits of the prompt in SLOT to the rows from T on; return how much
   that is.  */
static size_t
add_prompt(struct df_generator *d, size_t slot, size_t t)
{
    struct df_pass_arrays *h = &d->at_host;
    struct df_request *r = &d->requests[slot];
    size_t n = r->prompt - r->cached;

    n = n < d->P - t ? n : d->P - t;
    h->past[slot] = (int32_t) r->cached;
    for (size_t i = 0; i < n; i++)
        df_decode_set_row(d, t + i, slot, r->tokens[r->cached + i],
                          r->cached + i);
    r->cached += n;
    if (r->cached == r->prompt) {
        h->last[slot] = (int32_t) (t + n - 1);
        h->last_pos[slot] = (int32_t) (r->prompt - 1);
        h->last_request[slot] = r->id;
    }
    return n;
}

/* One pass: the requests in their slots' order.  False: there is nothing to
   do.  */
static bool
fill(struct df_generator *d)
{
    struct df_pass_arrays *h = &d->at_host;
    size_t t = 0;

    df_decode_clear(d);
    for (size_t i = 0; i < d->C; i++) {
        h->kv_begin[i] = df_cache_begin(d, i);
        if (waits(&d->requests[i]) && t < d->P)
            t += add_prompt(d, i, t);
        h->cu[i + 1] = (int32_t) t;
    }
    return t > 0;
}

/* The first token of those whose prompt has ended in the pass.  */
static void
take_tokens(struct df_generator *d)
{
    for (size_t i = 0; i < d->C; i++) {
        struct df_request *r = &d->requests[i];

        if (r->busy && r->cached == r->prompt && r->n == r->prompt)
            df_decode_append(d, r, &d->result_host[i], 1);
    }
}

df_status
df_decode_prefill(struct df_generator *d)
{
    while (fill(d)) {
        DF_TRY(df_decode_send(d));
        DF_TRY(df_decode_queue_prefill(d));
        DF_TRY(df_copy(d->stream, d->result_host, d->result,
                       d->C * sizeof *d->result));
        DF_TRY(df_stream_sync(d->stream));
        take_tokens(d);
    }
    return DF_OK;
}

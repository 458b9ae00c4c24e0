/* Requests: from prompts into slots, and out of them as answers.  */
#include <config.h>

#include <string.h>

#include "decode/decode_internal.h"

bool
df_decode_whole(const struct df_generator *d, const struct df_request *r)
{
    return r->stopped || r->n - r->prompt >= d->o.max_new_tokens
           || r->n >= d->o.max_seqlen;
}

static bool
stops(const struct df_generator *d, int32_t token)
{
    for (size_t i = 0; i < d->o.n_stop_ids; i++)
        if (d->stop_ids[i] == token)
            return true;
    return false;
}

void
df_decode_append(struct df_generator *d, struct df_request *r,
                 const int32_t *tokens, size_t n)
{
    for (size_t i = 0; i < n && !df_decode_whole(d, r); i++) {
        r->tokens[r->n++] = tokens[i];
        r->stopped = stops(d, tokens[i]);
        d->stats.tokens++;
    }
}

static df_status
check_prompt(const struct df_generator *d, const struct df_prompt *p)
{
    if (p->n < 1 || p->n >= d->o.max_seqlen)
        return DF_FAIL(DF_SHAPE, "prompt %zu: %zu tokens, not in 1 to %zu",
                       d->n_taken, p->n, d->o.max_seqlen - 1);
    for (size_t i = 0; i < p->n; i++)
        if (p->ids[i] < 0 || (size_t) p->ids[i] >= d->V)
            return DF_FAIL(DF_INVALID,
                           "prompt %zu: token %zu is %d, not in 0 to %zu",
                           d->n_taken, i, (int) p->ids[i], d->V - 1);
    return DF_OK;
}

df_status
df_decode_admit(struct df_generator *d, const struct df_decode_job *job)
{
    for (size_t i = 0; i < d->C && !d->ended; i++) {
        struct df_request *r = &d->requests[i];
        struct df_prompt p;
        df_status status;

        if (r->busy)
            continue;
        status = job->next(job->arg, &p);
        if (status == DF_END) {
            d->ended = true;
            break;
        }
        DF_TRY(status);
        DF_TRY(check_prompt(d, &p));
        *r = (struct df_request){.busy = true,
                                 .id = p.id,
                                 .index = d->n_taken++,
                                 .tokens = r->tokens,
                                 .accept = r->accept,
                                 .prompt = p.n,
                                 .n = p.n};
        memcpy(r->tokens, p.ids, p.n * sizeof *p.ids);
        d->stats.requests++;
        d->stats.prompt_tokens += p.n;
    }
    return DF_OK;
}

df_status
df_decode_finish(struct df_generator *d, const struct df_decode_job *job)
{
    d->n_active = 0;
    for (size_t i = 0; i < d->C; i++) {
        struct df_request *r = &d->requests[i];

        if (!r->busy)
            continue;
        if (!df_decode_whole(d, r)) {
            d->active[d->n_active++] = i;
            continue;
        }
        const struct df_answer answer = {.id = r->id,
                                         .index = r->index,
                                         .ids = r->tokens + r->prompt,
                                         .n = r->n - r->prompt,
                                         .stopped = r->stopped,
                                         .accept = r->accept,
                                         .rounds = r->rounds};

        r->busy = false;
        DF_TRY(job->done(job->arg, &answer));
    }
    return DF_OK;
}

#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "common/signals.h"
#include "dflash-bench/options.h"
#include "dflash-bench/spec.h"

enum {
    PREFILL = 512 /* tokens of prompts in a pass, at most */
};

static struct df_generator_options
options_of(const struct spec_way *way, size_t length)
{
    size_t rows = length * way->concurrency;

    return (struct df_generator_options){
        .concurrency = way->concurrency,
        .max_seqlen = length + workload_new_tokens(),
        .max_new_tokens = workload_new_tokens(),
        .prefill_rows = rows < PREFILL ? rows : PREFILL,
        .temperature = (float) opt.temperature,
        .seed = WORKLOAD_SEED,
        .graphs = true,
        .timed = true,
        .forced_accept = way->forced};
}

df_status
spec_models_open(struct spec_models *m, const struct workload *w,
                 struct df_device *dev, size_t length, size_t concurrency)
{
    const struct spec_way way = {.concurrency = concurrency};
    const struct df_generator_options o = options_of(&way, length);
    const struct df_batch_limits limits =
        df_generator_limits(&o, (size_t) w->drafter.block_size);
    const struct df_model_config *c = &w->model.config;

    m->dev = dev;
    DF_TRY(df_embeddings_load(&m->embeddings, w->model.tensors, c, dev, true));
    DF_TRY(df_target_new(&m->target, c, w->model.tensors, &m->embeddings,
                         &limits, c->d.num_hidden_layers - 1));
    DF_TRY(df_drafter_new_frozen(&m->drafter, &w->drafter, &m->embeddings));
    DF_TRY(df_drafter_load(m->drafter, w->weights));
    return df_stream_new(&m->stream, dev, "decode");
}

void
spec_models_close(struct spec_models *m)
{
    df_stream_free(m->stream);
    df_drafter_free(m->drafter);
    df_target_free(m->target);
    df_embeddings_free(&m->embeddings);
    *m = (struct spec_models){0};
}

df_status
spec_decoder_open(struct spec_decoder *d, const struct spec_models *m,
                  const struct spec_prompts *prompts,
                  const struct spec_way *way)
{
    struct df_generator_options o = options_of(way, prompts->length);

    d->prompts = prompts;
    if (!way->forced) {
        o.stop_ids = prompts->stop_ids;
        o.n_stop_ids = prompts->n_stop_ids;
    }
    DF_TRY(df_generator_new(&d->generator, m->target,
                            way->drafted ? m->drafter : NULL, m->stream, &o));
    return df_generator_warm_up(d->generator);
}

void
spec_decoder_close(struct spec_decoder *d)
{
    df_generator_free(d->generator);
    *d = (struct spec_decoder){0};
}

static df_status
next_prompt(void *arg, struct df_prompt *out)
{
    struct spec_decoder *d = arg;

    if (signals_caught())
        return DF_CANCELED;
    if (d->next == d->prompts->n)
        return DF_END;
    *out = d->prompts->items[d->next++];
    return DF_OK;
}

static df_status
take_answer(void *arg, const struct df_answer *answer)
{
    struct spec_decoder *d = arg;
    struct spec_answer *to = &d->run->answers[answer->index];

    to->ids = malloc(answer->n * sizeof *to->ids);
    if (!to->ids)
        return DF_FAIL(DF_NO_MEMORY, "answer %zu", answer->index);
    memcpy(to->ids, answer->ids, answer->n * sizeof *to->ids);
    to->n = answer->n;
    return signals_caught() ? DF_CANCELED : DF_OK;
}

/* Every so many rounds one is a sample; when there is no more room, every
   other of them goes.  */
static void
take_round(void *arg, double seconds)
{
    struct spec_decoder *d = arg;
    struct result *r = d->r;

    if (!r || d->rounds++ % d->every > 0)
        return;
    if (r->n == 2 * (size_t) opt.repeat) {
        r->n /= 2;
        for (size_t i = 0; i < r->n; i++)
            r->samples[i] = r->samples[2 * i];
        d->every *= 2;
    }
    r->samples[r->n++] = seconds;
}

df_status
spec_decode(struct spec_decoder *d, bool plain, struct spec_run *run,
            struct result *r)
{
    const struct df_decode_job job = {.arg = d,
                                      .next = next_prompt,
                                      .done = take_answer,
                                      .round = take_round,
                                      .plain = plain};

    run->n = d->prompts->n;
    run->answers = calloc(run->n, sizeof *run->answers);
    if (!run->answers)
        return DF_FAIL(DF_NO_MEMORY, "%zu answers", run->n);
    d->next = d->rounds = 0;
    d->every = 1;
    d->run = run;
    d->r = r;
    df_generator_clear_stats(d->generator);
    DF_TRY(df_generate(d->generator, &job));
    df_generator_get_stats(d->generator, &run->stats);
    return DF_OK;
}

void
spec_run_clear(struct spec_run *run)
{
    for (size_t i = 0; run->answers && i < run->n; i++)
        free(run->answers[i].ids);
    free(run->answers);
    *run = (struct spec_run){0};
}

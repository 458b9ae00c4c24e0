/* Speculative decoding beside plain decoding, over the same prompts.

   A sample is a round, or a plain step: what all requests under way need for
   their next tokens, the host's part included.  Ratios are of the means over
   all rounds and all steps.  */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/signals.h"
#include "dflash-bench/feed.h"
#include "dflash-bench/options.h"
#include "dflash-bench/spec.h"

struct spec {
    struct bench *b;
    struct df_device *dev;
    struct spec_prompts prompts;
    struct spec_models models;
    double before; /* GiB in use without them */
    bool opened;
    /* Of the plain case of this concurrency; 0: it didn't run.  */
    double step, rate;
};

static int64_t
item(const struct int_list *list, size_t i, int64_t unset)
{
    return list->count > 0 ? list->items[i] : unset;
}

static size_t
count(const struct int_list *list)
{
    return list->count > 0 ? list->count : 1;
}

static size_t
most_requests(void)
{
    size_t most = 1;

    for (size_t i = 0; i < opt.concurrency.count; i++)
        if ((size_t) opt.concurrency.items[i] > most)
            most = (size_t) opt.concurrency.items[i];
    return most;
}

static void
close_models(struct spec *s)
{
    spec_models_close(&s->models);
    spec_prompts_free(&s->prompts);
}

/* The first case that runs opens what all need.  If that can't be, the next
   one tries again, and says why too.  */
static df_status
open_models(struct spec *s)
{
    size_t most = most_requests();
    df_status status;

    if (s->opened)
        return DF_OK;
    s->before = gibibytes(&s->dev, 1);
    status = spec_prompts_open(&s->prompts, s->b->workload, 2 * most);
    if (status == DF_OK)
        status = spec_models_open(&s->models, s->b->workload, s->dev,
                                  s->prompts.length, most);
    s->opened = status == DF_OK;
    if (status != DF_OK)
        close_models(s);
    return status;
}

/* Where RUN's answers first differ from those WANTED, whose decoding is
   called NAME.  */
static df_status
compare(const struct spec_run *wanted, const struct spec_run *run,
        const char *name)
{
    for (size_t i = 0; i < run->n; i++) {
        const struct spec_answer *a = &wanted->answers[i];
        const struct spec_answer *b = &run->answers[i];
        size_t t = 0;

        while (t < a->n && t < b->n && a->ids[t] == b->ids[t])
            t++;
        if (t < a->n && t < b->n)
            return DF_FAIL(DF_DEVICE,
                           "prompt %zu: token %zu of the answer is %d; %s: %d",
                           i, t, (int) b->ids[t], name, (int) a->ids[t]);
        if (a->n != b->n)
            return DF_FAIL(DF_DEVICE,
                           "prompt %zu: an answer of %zu tokens; %s: %zu", i,
                           b->n, name, a->n);
    }
    return DF_OK;
}

/* Another run that must give the same answers, if they are checked.  With a
   drafter and at temperature 0 it's plain decoding.  */
static df_status
check_answers(struct spec_decoder *d, const struct spec_way *way,
              const struct spec_run *run, struct result *r)
{
    bool lossless = way->drafted && opt.temperature <= 0;
    struct spec_run other = {0};
    df_status status;

    if (!opt.check && !(lossless && opt.check_lossless))
        return DF_OK;
    status = spec_decode(d, lossless || !way->drafted, &other, NULL);
    if (status == DF_OK)
        status =
            compare(&other, run, lossless ? "plain decoding" : "another time");
    spec_run_clear(&other);
    if (status != DF_OK)
        return status;
    r->verdict = RESULT_RIGHT;
    r->error = 0;
    return DF_OK;
}

/* All rounds give as many tokens as they are forced to.  */
static df_status
check_forced(const struct spec_way *way, const struct spec_run *run,
             struct result *r)
{
    const struct df_decode_stats *s = &run->stats;

    if (s->lengths[way->forced] != s->rounds)
        return DF_FAIL(DF_DEVICE, "%llu of %llu rounds gave %zu tokens",
                       (unsigned long long) s->lengths[way->forced],
                       (unsigned long long) s->rounds, way->forced);
    r->verdict = RESULT_RIGHT;
    return DF_OK;
}

/* The accept lengths from 1 to the block size, as parts of all rounds; and of
   each slot behind the anchor's the part that stays if those before it do.  */
static df_status
tell_lengths(const struct spec *s, const struct df_decode_stats *stats,
             struct result *r)
{
    size_t b = (size_t) s->b->workload->drafter.block_size;
    double lengths[DF_MAX_BLOCK], slots[DF_MAX_BLOCK];

    for (size_t i = 0; i < b; i++) {
        lengths[i] = (double) stats->lengths[i + 1] / (double) stats->rounds;
        slots[i] = df_decode_slot_accept(stats, i + 1);
    }
    DF_TRY(result_series(r, "accept_lengths", lengths, b));
    return result_series(r, "slot_accept", slots, b - 1);
}

static void
print_series(const struct result *r)
{
    for (size_t i = 0; i < r->n_series; i++) {
        fprintf(remarks(), "#     %s:", r->series[i].key);
        for (size_t k = 0; k < r->series[i].n; k++)
            fprintf(remarks(), " %.3f", r->series[i].values[k]);
        putc('\n', remarks());
    }
}

/* The numbers of a run whose samples R has.  */
static df_status
describe(struct spec *s, const struct spec_way *way,
         const struct spec_run *run, double gib, struct result *r)
{
    const struct df_decode_stats *st = &run->stats;
    double passes = (double) st->passes, seconds = st->draft + st->verify;
    double tokens = (double) (st->tokens - st->requests);

    if (st->passes == 0)
        return DF_FAIL(DF_INVALID, "all answers end with their first token");
    result_summarize(r);
    r->unit = "tokens/s";
    r->amount = tokens / passes;
    result_extra(r, "decoded_tokens/s", tokens / seconds);
    result_extra(r, "overall_tokens/s", (double) st->tokens / st->seconds);
    result_extra(r, "GiB", gib);
    if (!way->drafted) {
        s->step = seconds / passes;
        s->rate = tokens / seconds;
        return DF_OK;
    }
    result_extra(r, "accept", df_decode_mean_accept(st));
    result_part(r, "draft_us", st->draft / passes * 1e6);
    result_part(r, "verify_us", st->verify / passes * 1e6);
    result_extra(r, "draft_share", st->draft / st->seconds);
    if (s->step > 0) {
        result_extra(r, "speedup", tokens / seconds / s->rate);
        result_extra(r, "verify/step", st->verify / passes / s->step);
        result_extra(r, "draft/step", st->draft / passes / s->step);
    }
    return tell_lengths(s, st, r);
}

static df_status
decode(struct spec *s, const struct spec_way *way, struct spec_decoder *d,
       struct spec_run *run, struct result *r)
{
    DF_TRY(open_models(s));
    DF_TRY(spec_decoder_open(d, &s->models, &s->prompts, way));
    DF_TRY(spec_decode(d, !way->drafted, run, opt.check ? NULL : r));
    DF_TRY(way->forced ? check_forced(way, run, r)
                       : check_answers(d, way, run, r));
    if (opt.check)
        return DF_OK;
    return describe(s, way, run, gibibytes(&s->dev, 1) - s->before, r);
}

/* What STATUS says of R.  */
static df_status
conclude(struct result *r, df_status status)
{
    if (status == DF_OK)
        return DF_OK;
    if (status == DF_UNSUPPORTED || status == DF_NO_MEMORY)
        r->verdict = RESULT_SKIPPED;
    else if (status == DF_DEVICE)
        r->verdict = RESULT_WRONG;
    else
        return status;
    r->n = 0;
    snprintf(r->why, sizeof r->why, "%.190s", df_error_last()->message);
    return DF_OK;
}

static df_status
measure(struct spec *s, const struct spec_way *way, const char *name)
{
    struct spec_decoder d = {0};
    struct spec_run run = {0};
    struct result *r;
    df_status status;

    if (signals_caught() || !bench_wants(s->b, name, s->dev))
        return DF_OK;
    if (common_options.verbose)
        message_note("%s %s", s->b->suite, name);
    DF_TRY(bench_begin(s->b, name, s->dev, 2 * (size_t) opt.repeat, &r));
    status = decode(s, way, &d, &run, r);
    spec_decoder_close(&d);
    spec_run_clear(&run);
    if (signals_caught())
        return DF_OK;
    DF_TRY(conclude(r, status));
    bench_end(s->b, r);
    if (r->n > 0 && !opt.json)
        print_series(r);
    return DF_OK;
}

static df_status
measure_drafted(struct spec *s, struct spec_way way, const char *sizes)
{
    char name[128], forced[32] = "";

    way.drafted = true;
    for (size_t i = 0; i < count(&opt.force_accept); i++) {
        way.forced = (size_t) item(&opt.force_accept, i, 0);
        if (way.forced)
            snprintf(forced, sizeof forced, "/forced%zu", way.forced);
        snprintf(name, sizeof name, "%s/drafted%s", sizes, forced);
        DF_TRY(measure(s, &way, name));
    }
    return DF_OK;
}

static df_status
measure_all(struct spec *s)
{
    for (size_t i = 0; i < count(&opt.concurrency); i++) {
        struct spec_way way = {.concurrency =
                                   (size_t) item(&opt.concurrency, i, 1)};
        char sizes[64], name[80], warm[16] = "";

        if (opt.temperature > 0)
            snprintf(warm, sizeof warm, "/t%.4g", opt.temperature);
        snprintf(sizes, sizeof sizes, "%zux%zu%s", way.concurrency,
                 workload_new_tokens(), warm);
        snprintf(name, sizeof name, "%s/plain", sizes);
        s->step = s->rate = 0;
        DF_TRY(measure(s, &way, name));
        DF_TRY(measure_drafted(s, way, sizes));
    }
    return DF_OK;
}

df_status
bench_spec(struct bench *b)
{
    df_status status;

    DF_TRY(workload_open(b));
    for (size_t i = 0; i < b->devices.n; i++) {
        struct spec s = {.b = b, .dev = b->devices.devices[i]};

        status = measure_all(&s);
        close_models(&s);
        DF_TRY(status);
    }
    return DF_OK;
}

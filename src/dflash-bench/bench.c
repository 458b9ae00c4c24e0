#include <config.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/message.h"
#include "common/signals.h"
#include "dflash-bench/baseline.h"
#include "dflash-bench/bench.h"
#include "dflash-bench/options.h"

enum {
    WARM_UPS = 2, /* samples, not counted */
    TRIES = 4     /* of a case that seems slower than the baseline */
};
static const double warm_up_least = 0.02; /* s; clocks rise meanwhile */

struct station *
bench_station(struct bench *b, const struct df_device *dev)
{
    size_t i = 0;

    while (b->stations[i].dev != dev)
        i++;
    return &b->stations[i];
}

bool
bench_wants(struct bench *b, const char *name, const struct df_device *dev)
{
    char line[256];

    snprintf(line, sizeof line, "%s %s %s", b->suite, name,
             df_device_name(dev));
    if (b->has_only && regexec(&b->only, line, 0, NULL, 0) != 0)
        return false;
    b->selected++;
    if (opt.list)
        puts(line);
    return !opt.list;
}

df_status
bench_begin(struct bench *b, const char *name, struct df_device *dev, size_t n,
            struct result **out)
{
    return result_new(&b->results, b->suite, name, df_device_name(dev), n,
                      out);
}

void
bench_end(struct bench *b, struct result *r)
{
    result_summarize(r);
    print_result(b, r);
}

/* One sample of CALLS calls.  */
static df_status
take(struct station *st, const struct bench_case *c, size_t calls,
     double *seconds)
{
    if (c->queue)
        return sampler_take(&st->sampler, c->queue, c->arg, calls, !c->warm,
                            seconds);
    DF_TRY(c->run(c->arg, calls, seconds));
    *seconds /= (double) calls;
    return DF_OK;
}

/* How many calls a sample has, SECONDS being what one takes.  */
static size_t
calls_for(const struct bench_case *c, double seconds)
{
    double wanted = opt.min_time / (seconds > 0 ? seconds : 1e-9);

    if (c->queue)
        return sampler_calls(opt.min_time, seconds,
                             c->entries ? c->entries : 1);
    return wanted < 1 ? 1 : wanted > 10000 ? 10000 : (size_t) ceil(wanted);
}

static df_status
sample(struct station *st, const struct bench_case *c, struct result *r)
{
    double seconds, start = now_seconds();
    size_t calls = 1;

    r->n = 0;
    if (c->queue)
        DF_TRY(sampler_warm_up(&st->sampler, c->queue, c->arg));
    for (int i = 0; i < WARM_UPS || now_seconds() - start < warm_up_least; i++)
        DF_TRY(take(st, c, 1, &seconds));
    calls = calls_for(c, seconds);
    for (long i = 0; i < opt.repeat && !signals_caught(); i++)
        DF_TRY(take(st, c, calls, &r->samples[r->n++]));
    result_summarize(r);
    return DF_OK;
}

/* What is slower than the baseline may have been disturbed: it gets more
   chances, and the best counts.  What is really slower stays so.  */
static df_status
sample_fairly(struct bench *b, struct station *st, const struct bench_case *c,
              struct result *r)
{
    DF_TRY(sample(st, c, r));
    for (int i = 1; i < TRIES && baseline_slower(b->baseline, r); i++) {
        result_keep(r);
        DF_TRY(sample(st, c, r));
        result_take_better(r);
    }
    return DF_OK;
}

static void
set_rate(const struct ceilings *ceilings, const struct bench_case *c,
         struct result *r)
{
    r->unit = c->unit ? c->unit : c->flops > 0 ? "TFLOP/s" : "GB/s";
    r->amount = c->unit        ? c->amount
                : c->flops > 0 ? c->flops * 1e-12
                               : c->bytes * 1e-9;
    r->ceiling = c->ceiling == CEILING_COPY      ? ceilings->copy
                 : c->ceiling == CEILING_PRODUCT ? ceilings->product
                                                 : 0;
}

/* What C's functions may fail with becomes the verdict.  */
static df_status
measure(struct bench *b, struct station *st, const struct bench_case *c,
        struct result *r)
{
    df_status status = c->open(c->arg);

    if (status == DF_UNSUPPORTED || status == DF_NO_MEMORY) {
        r->verdict = RESULT_SKIPPED;
        snprintf(r->why, sizeof r->why, "%.190s", df_error_last()->message);
        return DF_OK;
    }
    DF_TRY(status);
    if (c->check) {
        status = c->check(c->arg, &r->error);
        r->verdict = status == DF_OK ? RESULT_RIGHT : RESULT_WRONG;
        if (status != DF_OK && status != DF_DEVICE)
            return status;
        if (status != DF_OK)
            snprintf(r->why, sizeof r->why, "%.190s",
                     df_error_last()->message);
    }
    if (opt.check)
        return DF_OK;
    set_rate(&st->ceilings, c, r);
    DF_TRY(sample_fairly(b, st, c, r));
    if (c->finish && r->n > 0)
        c->finish(c->arg, r);
    return DF_OK;
}

df_status
bench_case(struct bench *b, const struct bench_case *c)
{
    struct result *r;
    df_status status;

    if (signals_caught() || !bench_wants(b, c->name, c->dev))
        return DF_OK;
    if (common_options.verbose)
        message_note("%s %s", b->suite, c->name);
    DF_TRY(bench_begin(b, c->name, c->dev, (size_t) opt.repeat, &r));
    status = measure(b, bench_station(b, c->dev), c, r);
    c->close(c->arg);
    if (status == DF_OK && !signals_caught())
        bench_end(b, r);
    return status;
}

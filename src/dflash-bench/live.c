#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/signals.h"
#include "common/stages.h"
#include "dflash-bench/live.h"
#include "dflash-bench/options.h"

enum {
    SCHEDULE = 1000 /* steps beyond the samples: none comes so far */
};

static df_status
alone(struct bench *b, struct df_device *dev, placement_fn *measure)
{
    struct placement p = {
        .devices = {dev}, .n_devices = 1, .n_targets = 1, .n_drafters = 1};

    p.targets = p.drafters = p.devices;
    return measure(b, &p);
}

df_status
each_placement(struct bench *b, placement_fn *measure)
{
    size_t n = b->devices.n;
    struct placement p = {.n_devices = n, .n_targets = n / 2};

    for (size_t i = 0; i < n; i++)
        DF_TRY(alone(b, b->devices.devices[i], measure));
    if (n < 2)
        return DF_OK;
    memcpy(p.devices, b->devices.devices, n * sizeof *p.devices);
    p.n_drafters = n - p.n_targets;
    p.targets = p.devices;
    p.drafters = p.devices + p.n_targets;
    snprintf(p.name, sizeof p.name, "%zu+%zu", p.n_targets, p.n_drafters);
    return measure(b, &p);
}

bool
placement_has_peers(const struct placement *p)
{
    return !df_device_is_cpu(p->targets[0])
           && df_device_reaches(p->targets[0], p->drafters[0]);
}

/* Of the run's observer, from the thread of its log.  */
static void
watch(void *arg, const struct df_record *record)
{
    struct live_run *lr = arg;
    struct result *r = lr->r;

    if (lr->steps < LIVE_CHECKED)
        lr->losses[lr->steps] = record->loss;
    lr->accept = record->accept_length;
    if (r && lr->steps == lr->head)
        df_run_get_stats(lr->run, &lr->begin);
    else if (r && lr->steps > lr->head && r->n < lr->wanted)
        r->samples[r->n++] = record->seconds - lr->last_seconds;
    lr->last_seconds = record->seconds;
    lr->steps++;
    if (r && r->n == lr->wanted && !lr->complete) {
        df_run_get_stats(lr->run, &lr->end);
        lr->complete = true;
        df_run_stop(lr->run);
    }
    if (signals_caught())
        df_run_stop(lr->run);
}

static struct df_run_options
options_of(const struct live *l, struct feed *feed, struct live_run *lr)
{
    struct df_run_options o = feed_options(feed);

    o.targets = l->place->targets;
    o.n_targets = l->place->n_targets;
    o.drafters = l->place->drafters;
    o.n_drafters = l->place->n_drafters;
    o.depth = l->depth;
    o.min_ready = l->ready;
    o.split = l->split;
    o.compile = l->compile;
    o.transport = l->transport;
    o.per_step = l->place->n_drafters;
    o.observer = (struct df_observer){.arg = lr, .record = watch};
    return o;
}

/* So many steps that the reservoir is as full as it stays.  */
static size_t
steps_to_fill(const struct live *l)
{
    const struct placement *p = l->place;

    return l->ready + p->n_drafters + p->n_targets * (l->depth + 1) + 3;
}

static df_status
run(const struct live *l, int64_t steps, struct live_run *lr)
{
    const struct placement *p = l->place;
    double before = gibibytes(p->devices, p->n_devices);
    struct feed feed = {0};
    struct df_run_options o;
    df_status status =
        feed_open(&feed, l->b->workload, l->shape,
                  (size_t) steps * p->n_drafters, steps, p->n_drafters);

    if (status == DF_OK) {
        o = options_of(l, &feed, lr);
        status = df_run_new(&lr->run, &o);
    }
    if (status == DF_OK)
        status = df_run_init_from(lr->run, l->b->workload->weights);
    if (status == DF_OK)
        status = df_run_warm_up(lr->run);
    if (status == DF_OK)
        status = df_run_train(lr->run);
    lr->gibibytes = gibibytes(p->devices, p->n_devices) - before;
    df_run_free(lr->run);
    feed_close(&feed);
    return status;
}

/* What happened in the window alone.  */
static struct df_run_stats
window_of(const struct live_run *lr)
{
    struct df_run_stats s = lr->end;

    s.seconds -= lr->begin.seconds;
    s.tokens -= lr->begin.tokens;
    s.flops -= lr->begin.flops;
    for (size_t i = 0; i < s.n_stages; i++) {
        s.stages[i].items -= lr->begin.stages[i].items;
        s.stages[i].busy -= lr->begin.stages[i].busy;
        s.stages[i].starved -= lr->begin.stages[i].starved;
        s.stages[i].blocked -= lr->begin.stages[i].blocked;
    }
    return s;
}

/* The table of the stages, as remarks.  */
static void
print_stages(const struct df_run_stats *stats)
{
    char *text = NULL, *rest, *line;
    size_t size = 0;
    FILE *fp = open_memstream(&text, &size);

    if (!fp)
        return;
    stages_print(fp, stats);
    if (fclose(fp) == 0)
        for (rest = text; (line = strsep(&rest, "\n")) && *line;)
            fprintf(remarks(), "#     %s\n", line);
    free(text);
}

/* Losses of the first steps, bit by bit.  */
static void
judge(const struct live_run *lr, const struct live_reference *ref,
      struct result *r)
{
    r->verdict = RESULT_RIGHT;
    r->error = 0;
    for (size_t i = 0; i < LIVE_CHECKED; i++) {
        double e = fabs(lr->losses[i] / ref->losses[i] - 1);

        if (!(e <= r->error))
            r->error = e;
        if (lr->losses[i] == ref->losses[i] || r->verdict == RESULT_WRONG)
            continue;
        r->verdict = RESULT_WRONG;
        snprintf(r->why, sizeof r->why,
                 "the loss of step %zu is %.9g; without overlap %.9g", i,
                 lr->losses[i], ref->losses[i]);
    }
}

/* The devices' products together, as tokens a second.  */
static double
ceiling(const struct live *l, double flops_per_token)
{
    double sum = 0;

    for (size_t i = 0; i < l->place->n_devices; i++)
        sum += bench_station(l->b, l->place->devices[i])->ceilings.product;
    return sum * 1e12 / flops_per_token;
}

/* Stages whose share of busy time is among a result's numbers.  */
static const struct {
    const char *stage, *key;
} busy[] = {
    {"target",      "target_busy"     },
    {"postprocess", "postprocess_busy"},
    {"drafter",     "drafter_busy"    },
};

static void
describe(const struct live *l, const struct live_run *lr, struct result *r)
{
    struct df_run_stats w = window_of(lr);

    r->unit = "tokens/s";
    r->amount =
        (double) (l->shape.seqs * l->shape.length * l->place->n_drafters);
    r->ceiling = ceiling(l, w.flops / (double) w.tokens);
    result_extra(r, "overall_tokens/s", (double) w.tokens / w.seconds);
    result_extra(r, "TFLOP/s", w.flops / w.seconds * 1e-12);
    result_extra(r, "accept", lr->accept);
    result_extra(r, "GiB", lr->gibibytes);
    for (size_t i = 0; i < w.n_stages; i++)
        for (size_t k = 0; k < sizeof busy / sizeof *busy; k++)
            if (strcmp(w.stage_names[i], busy[k].stage) == 0)
                result_extra(r, busy[k].key,
                             w.stages[i].busy / w.seconds
                                 / (double) w.stage_threads[i]);
}

static df_status
measure(const struct live *l, struct live_run *lr, struct live_reference *ref)
{
    int64_t steps = opt.check ? LIVE_CHECKED : opt.repeat + SCHEDULE;

    DF_TRY(live_know(l, steps, ref));
    return run(l, steps, lr);
}

/* What the run's STATUS and losses say.  */
static df_status
conclude(const struct live *l, const struct live_run *lr,
         const struct live_reference *ref, df_status status, struct result *r)
{
    if (status == DF_UNSUPPORTED || status == DF_NO_MEMORY) {
        r->verdict = RESULT_SKIPPED;
        r->n = 0;
        snprintf(r->why, sizeof r->why, "%.190s", df_error_last()->message);
        return DF_OK;
    }
    DF_TRY(status);
    judge(lr, ref, r);
    result_summarize(r);
    if (r->n > 0)
        describe(l, lr, r);
    return DF_OK;
}

df_status
live_case(const struct live *l, const char *name, size_t most,
          struct live_reference *ref, bool table, double *out)
{
    struct live_run lr = {.wanted = most, .head = steps_to_fill(l)};
    struct df_device *dev = l->place->targets[0];
    struct df_run_stats window;
    struct result *r;
    df_status status;

    *out = 0;
    if (signals_caught() || !bench_wants(l->b, name, dev))
        return DF_OK;
    if (common_options.verbose)
        message_note("%s %s", l->b->suite, name);
    DF_TRY(bench_begin(l->b, name, dev, most, &r));
    lr.r = opt.check ? NULL : r;
    status = measure(l, &lr, ref);
    if (status == DF_OK && signals_caught())
        return DF_OK;
    DF_TRY(conclude(l, &lr, ref, status, r));
    bench_end(l->b, r);
    if (r->n > 0 && table) {
        window = window_of(&lr);
        print_stages(&window);
    }
    if (r->verdict == RESULT_RIGHT)
        *out = result_rate(r);
    return DF_OK;
}

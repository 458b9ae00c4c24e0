/* Whole runs: whatever the placement, the same numbers.  */
#include <config.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipe/run_internal.h"
#include "tap/tap.h"
#include "tiny/tiny.h"

enum {
    MAX_RECORDS = 64
};

#define HOST  .transport = DF_TRANSPORT_HOST
#define LOCAL .transport = DF_TRANSPORT_LOCAL

/* clang-format off */
static const struct tiny_options placements[] = {
    {.name = "host", HOST},
    {.name = "depth 2", HOST, .depth = 2},
    {.name = "depth 3, a reservoir", HOST, .depth = 3, .min_ready = 3},
    {.name = "packed", LOCAL, .packed = true},
    {.name = "packed, host", HOST, .packed = true},
    {.name = "4 prefetch threads", LOCAL, .prefetch = 4},
    {.name = "3 prefetch threads, 2 targets", LOCAL, .prefetch = 3,
     .targets = 2},
    {.name = "3 targets, host", HOST, .prefetch = 2, .targets = 3,
     .depth = 2},
    {.name = "a device each", .apart = true},
    {.name = "2 targets apart, packed", .apart = true, .targets = 2,
     .depth = 3, .packed = true},
};
static const struct tiny_options lasting[] = {
    {.samples = 60, LOCAL},
    {.samples = 60, HOST, .depth = 3},
    {.samples = 60, .apart = true, .targets = 2, .drafters = 2,
     .per_step = 2, .prefetch = 4, .min_ready = 4},
};
/* clang-format on */
enum {
    N_PLACEMENTS = sizeof placements / sizeof *placements,
    N_LASTING = sizeof lasting / sizeof *lasting
};

/* To the last bit.  */
static void
test_equal_runs(void)
{
    struct tiny_options o = {LOCAL};
    char *wanted;

    for (int noise = 0; noise < 2; noise++) {
        o.samples = 24;
        o.eval_samples = 5;
        o.eval_interval = 3;
        o.noise = noise ? 0.25f : 0;
        wanted = tiny_run_text(&o);
        ok(strstr(wanted, "step 5 0 loss 0x") != NULL, "a run of some steps");
        for (size_t i = 0; i < N_PLACEMENTS; i++) {
            struct tiny_options with = placements[i];

            with.samples = o.samples;
            with.eval_samples = o.eval_samples;
            with.eval_interval = o.eval_interval;
            with.noise = o.noise;
            char *seen = tiny_run_text(&with);
            if (!ok(strcmp(wanted, seen) == 0, "%s%s: the same numbers",
                    with.name, noise ? ", noise" : ""))
                diag("wanted:\n%sseen:\n%s", wanted, seen);
            free(seen);
        }
        free(wanted);
    }
}

struct records {
    struct df_record r[MAX_RECORDS];
    size_t n;
};

static void
keep(void *arg, const struct df_record *record)
{
    struct records *all = arg;

    if (all->n < MAX_RECORDS)
        all->r[all->n++] = *record;
}

/* Run O into R; the allocations of the run.  */
static uint64_t
run(struct tiny_options o, struct records *r)
{
    struct tiny_run t = {0};
    struct df_run_stats stats;

    *r = (struct records){0};
    o.record = keep;
    o.arg = r;
    CHECKED(tiny_run_make(&t, &o));
    CHECKED(df_run_train(t.run));
    df_run_get_stats(t.run, &stats);
    tiny_run_clear(&t);
    return stats.allocations;
}

static double
difference(const struct records *a, const struct records *b)
{
    double most = a->n == b->n && a->n > 0 ? 0 : INFINITY;

    for (size_t i = 0; i < a->n && i < b->n; i++) {
        const struct df_record *x = &a->r[i], *y = &b->r[i];

        if (x->kind != y->kind || x->step != y->step)
            most = INFINITY;
        most = fmax(most, fabs(x->loss / y->loss - 1));
        if (x->kind == DF_BATCH_TRAIN)
            most = fmax(most, fabs(x->grad_norm / y->grad_norm - 1));
    }
    return most;
}

/* Drafters that share a step's batches do what one does with all of them,
   to rounding.  The last step has fewer batches than the others; there are
   evaluations between, and one after it.  */
static void
test_drafters(void)
{
    static const struct {
        size_t drafters, per_step;
        uint32_t samples;
    } cases[] = {
        {2, 2, 30},
        {2, 4, 30},
        {3, 3, 33},
        {3, 3, 38},
        {3, 5, 41},
        {3, 1, 20}, /* fewer batches than drafters */
        {3, 2, 27},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int apart = 0; apart < 2; apart++) {
            struct tiny_options o = {.samples = cases[i].samples,
                                     .eval_samples = 14,
                                     .eval_interval = 2,
                                     .per_step = cases[i].per_step,
                                     .prefetch = 2,
                                     .targets = 2};
            struct records one, several;

            run(o, &one);
            o.drafters = cases[i].drafters;
            o.apart = apart;
            run(o, &several);
            double d = difference(&one, &several);
            ok(d < 2e-5, "%zu drafters, %zu batches a step%s: off by %.1e",
               o.drafters, o.per_step, apart ? ", apart" : "", d);
        }
}

static void
test_allocations(void)
{
    struct records r;

    for (size_t i = 0; i < N_LASTING; i++) {
        is_long(0, (long) run(lasting[i], &r),
                "allocations after the warm-up");
        ok(r.n > 5, "in %zu steps", r.n);
    }
}

struct stopping {
    struct tiny_run *run;
    pthread_t thread;
    struct records records;
    bool asked;
};

static void *
stop(void *arg)
{
    struct df_run_stats stats;

    df_run_get_stats(arg, &stats);
    df_run_stop(arg);
    return NULL;
}

/* At the third record a thread asks the run to stop.  */
static void
keep_and_stop(void *arg, const struct df_record *record)
{
    struct stopping *s = arg;

    keep(&s->records, record);
    if (s->records.n == 3) {
        s->asked = pthread_create(&s->thread, NULL, stop, s->run->run) == 0;
        pthread_join(s->thread, NULL);
    }
}

static void
test_stop(void)
{
    for (size_t drafters = 1; drafters <= 3; drafters++)
        for (size_t per_step = 1; per_step <= 4; per_step += 3) {
            struct tiny_run t = {0};
            struct stopping s = {.run = &t};
            struct tiny_options o = {.samples = 200,
                                     .max_steps = 100000,
                                     .drafters = drafters,
                                     .per_step = per_step,
                                     .targets = 2,
                                     .record = keep_and_stop,
                                     .arg = &s};

            CHECKED(tiny_run_make(&t, &o));
            is_long(DF_OK, df_run_train(t.run),
                    "%zu drafters, %zu a step: stopped", drafters, per_step);
            ok(s.asked && df_run_stopped(t.run)
                   && df_run_steps_done(t.run) < 1000,
               "soon: %lld steps", (long long) df_run_steps_done(t.run));
            is_long((long) df_run_steps_done(t.run), (long) s.records.n,
                    "all of them with their records");
            tiny_run_clear(&t);
        }
}

/* A gradient that isn't finite, step after step.  */
static void
test_skips(void)
{
    struct tiny_options o = {.samples = 200, .poison = true};
    char *text = tiny_run_text(&o);

    ok(strstr(text, "skipped") != NULL, "steps are skipped");
    ok(strstr(text, "the gradient of ") != NULL
           && strstr(text, ".weight is not finite") != NULL,
       "and the run ends with the name of a tensor");
    diag("%s", strrchr(text, ':') ? strrchr(text, ':') : text);
    free(text);
    o.samples = 12; /* fewer steps than may be skipped */
    text = tiny_run_text(&o);
    ok(strstr(text, "is not finite") == NULL, "a few are tolerated");
    free(text);
}

/* Nothing to learn from: no step, and no weight changes.  */
static void
test_no_masks(void)
{
    struct tiny_options o = {.samples = 8, .no_masks = true};
    struct tiny_run t = {0};
    struct df_flat flat;
    float *before;
    size_t size;

    CHECKED(tiny_run_make(&t, &o));
    flat = df_drafter_flat(t.run->lanes[0].drafter);
    size = flat.count * sizeof *flat.w;
    before = malloc(size);
    memcpy(before, flat.w, size);
    is_long(DF_OK, df_run_train(t.run), "batches without a block");
    ok(memcmp(before, flat.w, size) == 0, "change no weight");
    is_long(0, (long) flat.state->applied, "and are no step");
    free(before);
    tiny_run_clear(&t);
}

static void
test_slots(void)
{
    struct df_slot slot = {.index = 7};

    is_long(DF_OK, df_slot_move(&slot, DF_SLOT_FREE, DF_SLOT_FILLING),
            "a free slot is filled");
    is_long(1, (long) slot.generation, "which is a generation");
    is_long(DF_INVALID, df_slot_move(&slot, DF_SLOT_FREE, DF_SLOT_FILLING),
            "but not twice");
    ok(strstr(df_error_last()->message, "slot 7, generation 1, is being "
                                        "filled instead of free")
           != NULL,
       "the message: %s", df_error_last()->message);
    is_long(DF_INVALID, df_slot_move(&slot, DF_SLOT_READY, DF_SLOT_CONSUMING),
            "it cannot be consumed before it is ready");
    is_long(DF_SLOT_FILLING, slot.state, "and stays as it was");
}

int
main(void)
{
    alarm(300); /* a hang is a failure */
    plan(2 * 11 + 2 * 7 + 2 * 3 + 3 * 3 * 2 + 3 + 3 + 6);
    test_equal_runs();
    test_drafters();
    test_allocations();
    test_stop();
    test_skips();
    test_no_masks();
    test_slots();
    return 0;
}

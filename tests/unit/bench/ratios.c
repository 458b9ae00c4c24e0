/* Times against other times of the same run, which hold on any machine: what
   packing costs against a copy, checks against none, split states against
   packed ones, and what a second batch in flight gains.

   Each ratio is that of the least times of two works that take turns, so that
   what else the machine does meets both, and rounds go on until the least
   times are good or there were many.

   This file makes two programs.  In one, the library is sound.  In the other,
   packing, copies and postprocessing are compiled with mistakes
   (DF_TEST_SLOWER): those must be caught, or this test would prove
   nothing.  */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ops/handy.h"
#include "pipe/slot_internal.h"
#include "tap/tap.h"
#include "tiny/tiny.h"

#ifdef DF_TEST_SLOWER
enum {
    SOUND = 0
};
#else
enum {
    SOUND = 1
};
#endif

enum {
    T = 256,
    H = 1024,
    K = 3,
    NARROW = 16, /* H where copies are compared */
    LEAST_ROUNDS = 5,
    MOST_ROUNDS = 40
};

struct work {
    void *src, *dst, *check; /* device memory; SRC has K * T * H floats */
    struct df_event *begin, *end;
};

typedef double timed_fn(struct work *w);

/* Seconds of what is queued between the events.  */
static double
span(struct work *w)
{
    double seconds;

    NEED(df_event_seconds(w->begin, w->end, &seconds));
    return seconds;
}

static double
pack(struct work *w, bool check)
{
    struct df_pack_hidden_args args = {.out = w->dst,
                                       .x = w->src,
                                       .T = T,
                                       .H = H,
                                       .check = check ? w->check : NULL};

    NEED(df_event_record(w->begin, stream));
    NEED(df_pack_hidden(stream, &args));
    NEED(df_event_record(w->end, stream));
    return span(w);
}

static double
pack_alone(struct work *w)
{
    return pack(w, false);
}

static double
pack_checks(struct work *w)
{
    return pack(w, true);
}

/* As many bytes read and written as by packing.  */
static double
copy_same(struct work *w)
{
    NEED(df_event_record(w->begin, stream));
    NEED(df_copy(stream, w->dst, w->src,
                 (size_t) T * H * (sizeof(float) + sizeof(uint16_t)) / 2));
    NEED(df_event_record(w->end, stream));
    return span(w);
}

static double
copy_states(struct work *w, bool split)
{
    struct df_hidden_layout l = {
        .split = split, .max_T = 8 * T, .K = K, .H = NARROW};

    NEED(df_event_record(w->begin, stream));
    NEED(df_hidden_copy(&l, stream, w->dst, w->src, l.max_T));
    NEED(df_event_record(w->end, stream));
    return span(w);
}

static double
copy_split(struct work *w)
{
    return copy_states(w, true);
}

static double
copy_packed(struct work *w)
{
    return copy_states(w, false);
}

static double
run_depth(size_t depth)
{
    struct tiny_options o = {.samples = 64,
                             .max_steps = 16,
                             .transport = DF_TRANSPORT_HOST,
                             .min_ready = 1,
                             .depth = depth};
    struct tiny_run r = {0};
    struct df_run_stats stats;

    NEED(tiny_run_make(&r, &o));
    NEED(df_run_train(r.run));
    df_run_get_stats(r.run, &stats);
    tiny_run_clear(&r);
    return stats.seconds;
}

static double
run_one(struct work *w)
{
    (void) w;
    return run_depth(1);
}

static double
run_two(struct work *w)
{
    (void) w;
    return run_depth(2);
}

/* A's least time over B's; no more rounds than it takes to be below LIMIT.
   Not above MOST rounds.  */
static double
ratio_of(struct work *w, timed_fn *a, timed_fn *b, double limit, int least,
         int most)
{
    double least_a = 1e30, least_b = 1e30;

    for (int i = 0; i < most; i++) {
        double ta = a(w), tb = b(w);

        least_a = ta < least_a ? ta : least_a;
        least_b = tb < least_b ? tb : least_b;
        if (i + 1 >= least && least_a < limit * least_b)
            break;
    }
    return least_a / least_b;
}

static const struct {
    const char *label;
    timed_fn *a, *b;
    double limit;
    int least, most; /* rounds */
    bool sleeps;     /* times don't depend on how code is compiled */
} ratios[] = {
    {"packing against a copy of the same bytes", pack_alone,  copy_same,   7,
     LEAST_ROUNDS,                                                                            MOST_ROUNDS, false},
    {"checks against none",                      pack_checks, pack_alone,  4,   LEAST_ROUNDS,
     MOST_ROUNDS,                                                                                          false},
    {"split states against packed ones",         copy_split,  copy_packed, 4,
     LEAST_ROUNDS,                                                                            MOST_ROUNDS, false},
    {"two batches in flight against one",        run_two,     run_one,     0.8, 1,            6,           true },
};

/* GCC and clang say it in ways of their own.  */
#ifndef __has_feature
#    define __has_feature(x) 0
#endif
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ \
    || __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
static const bool sanitized = true;
#else
static const bool sanitized = false;
#endif

static void
test_ratio(struct work *w, size_t i)
{
    double ratio;

    if (sanitized && !ratios[i].sleeps) {
        skip("%s: built with a sanitizer", ratios[i].label);
        return;
    }
    ratio = ratio_of(w, ratios[i].a, ratios[i].b, ratios[i].limit,
                     ratios[i].least, ratios[i].most);
    ok((ratio < ratios[i].limit) == (bool) SOUND, "%s: %.2f, %s %.2f",
       ratios[i].label, ratio, SOUND ? "below" : "noticed to be above",
       ratios[i].limit);
}

int
main(void)
{
    struct work w = {0};
    size_t n = sizeof ratios / sizeof *ratios;

    alarm(240);
    /* Packing and copying a batch take 24 ms each: one behind the other with
       one batch in flight, beside each other with two.  */
    setenv("DFLASH_FAULT", "pack=delay:24,copy=delay:24", 1);
    plan((int) n);
    open_cpu();
    w.src = on_device(NULL, (size_t) K * T * H * sizeof(float));
    NEED(df_fill(stream, w.src, 0, (size_t) K * T * H * sizeof(float)));
    w.dst = on_device(NULL, (size_t) K * T * H * sizeof(float));
    w.check = on_device(NULL, T * sizeof(uint64_t));
    NEED(df_event_new_timed(&w.begin, dev));
    NEED(df_event_new_timed(&w.end, dev));
    for (size_t i = 0; i < n; i++)
        test_ratio(&w, i);
    df_event_free(w.begin);
    df_event_free(w.end);
    df_device_free(dev, DF_MEM_DEVICE, w.src);
    df_device_free(dev, DF_MEM_DEVICE, w.dst);
    df_device_free(dev, DF_MEM_DEVICE, w.check);
    close_cpu();
    return 0;
}

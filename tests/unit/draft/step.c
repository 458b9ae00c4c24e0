#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tap/tap.h"
#include "tiny/tiny.h"

static void
test_schedule(void)
{
    static const struct {
        double warmup;
        int64_t total, e;
        double wanted; /* for a rate of 1 */
    } cases[] = {
        {0.04, 100, 0,   0.25                  }, /* warm-up of 4 */
        {0.04, 100, 1,   0.5                   },
        {0.04, 100, 3,   1                     },
        {0.04, 100, 4,   1                     }, /* the cosine's top */
        {0.04, 100, 52,  0.5                   }, /* its middle */
        {0.04, 100, 99,  0.00026770626181715773},
        {0.04, 100, 100, 0                     },
        {0.04, 24,  0,   1                     }, /* int(0.96): none */
        {0.04, 25,  0,   1                     }, /* one step */
        {0.04, 25,  1,   1                     },
        {0,    10,  0,   1                     },
        {0,    10,  5,   0.5                   },
        {0,    1,   0,   1                     }, /* one step in all */
        {0.5,  1,   0,   1                     },
        {1,    4,   0,   0.25                  }, /* warm-up all along */
        {1,    4,   3,   1                     },
        {1,    4,   4,   0                     },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double seen = df_learning_rate(6e-4, cases[i].warmup, cases[i].total,
                                       cases[i].e);

        if (!ok(fabs(seen - 6e-4 * cases[i].wanted) < 1e-12,
                "warm-up %g, step %ld of %ld", cases[i].warmup,
                (long) cases[i].e, (long) cases[i].total))
            diag("wanted %g, seen %g", 6e-4 * cases[i].wanted, seen);
    }
}

static const struct df_adamw_options adamw = {
    .beta1 = 0.9f, .beta2 = 0.999f, .eps = 1e-8f, .max_norm = 1};

/* Gradients of the batch; features of TO in its row 1 if that isn't 0.  */
static void
backward(struct tiny_drafter *d, float to)
{
    float *f = df_drafter_features(d->drafter);
    size_t width = 2 * d->embeddings.H;

    for (size_t i = 0; i < d->batch->T * width; i++)
        f[i] = tiny_random(4, i);
    for (size_t i = 0; to != 0 && i < width; i++)
        f[width + i] = to;
    CHECKED(df_drafter_clear_gradients(d->drafter, d->stream));
    CHECKED(df_fill(d->stream, d->sums, 0, sizeof *d->sums));
    CHECKED(df_drafter_forward(d->drafter, d->stream, d->batch, &d->arrays));
    CHECKED(df_drafter_loss(d->drafter, d->stream, d->batch, &d->arrays,
                            &(struct df_objective){.gamma = 7}, d->sums,
                            true));
    CHECKED(df_stream_sync(d->stream));
}

static void
step(struct tiny_drafter *d)
{
    CHECKED(df_drafter_step(d->drafter, d->stream, 1 / d->sums->weight, 1e-3,
                            &adamw));
    CHECKED(df_stream_sync(d->stream));
}

/* A gradient that isn't finite leaves all as it was, but is counted; the
   next good one counts on.  */
static void
test_poison(void)
{
    static const float poisons[] = {NAN, INFINITY, -INFINITY};
    struct tiny_drafter d = {0};
    struct df_flat f;
    float *before;
    size_t bytes;

    tiny_drafter_make(&d);
    tiny_drafter_load(&d, 3);
    f = df_drafter_flat(d.drafter);
    bytes = f.count * sizeof *f.w;
    before = malloc(3 * bytes);
    backward(&d, 0);
    step(&d);
    is_long(1, (long) f.state->applied, "a step is applied");
    ok(isfinite(f.state->norm) && f.state->norm > 0, "its norm is finite");
    memcpy(before, f.w, bytes);
    memcpy((char *) before + bytes, f.m, bytes);
    memcpy((char *) before + 2 * bytes, f.v, bytes);
    for (long i = 0; i < 3; i++) {
        backward(&d, poisons[i]);
        step(&d);
        ok(!isfinite(f.state->norm), "features of %g: a norm that isn't",
           (double) poisons[i]);
        is_long(i + 1, (long) f.state->skipped, "the skip is counted");
        is_long(i + 1, (long) f.state->skipped_in_a_row, "and in a row");
        is_long(1, (long) f.state->applied, "no step is");
        ok(memcmp(before, f.w, bytes) == 0
               && memcmp((char *) before + bytes, f.m, bytes) == 0
               && memcmp((char *) before + 2 * bytes, f.v, bytes) == 0,
           "weights and moments keep their bits");
    }
    backward(&d, 0);
    step(&d);
    is_long(2, (long) f.state->applied, "a good one is applied again");
    is_long(0, (long) f.state->skipped_in_a_row, "and ends the row");
    is_long(3, (long) f.state->skipped, "but not the count");
    ok(memcmp(before, f.w, bytes) != 0, "the weights move");
    free(before);
    tiny_drafter_clear(&d);
}

/* 100 steps so small that a 16-bit weight near 1 would not move at all.  */
static void
test_small_steps(void)
{
    struct tiny_drafter d = {0};
    struct df_flat f;
    const struct df_param *params;
    size_t n, stuck = 0;
    double worst = 0;

    tiny_drafter_make(&d);
    f = df_drafter_flat(d.drafter);
    params = df_drafter_params(d.drafter, &n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < params[i].count; k++) {
            f.w[params[i].offset + k] = 1;
            f.g[params[i].offset + k] = 0.5f;
        }
    for (int i = 0; i < 100; i++)
        CHECKED(df_drafter_step(d.drafter, d.stream, 1, 1e-5, &adamw));
    CHECKED(df_stream_sync(d.stream));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < params[i].count; k++) {
            double moved = 1 - (double) f.w[params[i].offset + k];

            stuck += moved == 0;
            worst = fmax(worst, fabs(moved - 1e-3));
        }
    is_long(0, (long) stuck, "weights that didn't move");
    ok(worst < 1e-5, "100 steps of 1e-5 are 1e-3, off by %g", worst);
    tiny_drafter_clear(&d);
}

int
main(void)
{
    plan(17 + 2 + 3 * 5 + 4 + 2);
    test_schedule();
    test_poison();
    test_small_steps();
    return 0;
}

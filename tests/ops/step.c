/* Clipping and AdamW over many steps.  */

#include <config.h>

#include <math.h>

#include "ops/handy.h"
#include "tap/tap.h"

enum {
    N = 37
};

/* State after clipping a gradient whose squares sum to SUM.  */
static struct df_step_state
clip(struct df_step_state state, double sum, double scale, double max_norm)
{
    void *s = on_device(&state, sizeof state);
    void *q = on_device(&sum, sizeof sum);

    NEED(df_clip(stream, &(struct df_clip_args){.state = s,
                                                .sum = q,
                                                .scale = scale,
                                                .max_norm = max_norm}));
    take_back(&state, s, sizeof state);
    df_device_free(dev, DF_MEM_DEVICE, q);
    return state;
}

static void
test_clip(void)
{
    struct df_step_state s = {.applied = 5, .skipped = 2};

    s = clip(s, 64, 0.5, 1);
    ok(s.norm == 4 && fabs(s.factor - 0.125) < 1e-6, "a large norm is cut");
    ok(s.applied == 6 && s.skipped == 2, "and the step counts");
    s = clip(s, 64, 0.5, 0);
    ok(s.norm == 4 && s.factor == 0.5, "max_norm 0 leaves it");
    s = clip(s, 1, 0.5, 1);
    ok(s.norm == 0.5 && s.factor == 0.5, "so does a small norm");
    s = clip(s, 0, 0.5, 1);
    ok(s.norm == 0 && s.factor == 0.5 && s.applied == 9, "and norm 0");
    s = clip(s, INFINITY, 0.5, 1);
    ok(s.factor == 0 && s.applied == 9 && s.skipped == 3
           && s.skipped_in_a_row == 1,
       "infinity is skipped");
    s = clip(s, NAN, 0.5, 0);
    ok(s.factor == 0 && s.applied == 9 && s.skipped == 4
           && s.skipped_in_a_row == 2,
       "NaN is skipped, without clipping too");
    s = clip(s, 1, 1, 1);
    ok(s.applied == 10 && s.skipped == 4 && s.skipped_in_a_row == 0,
       "a good step ends the row");
}

struct weights {
    float w[N], m[N], v[N];
};

/* STEPS steps with gradients g[i] = sin(i + step).  */
static void
train(struct weights *x, int steps, double factor, float lr, float decay)
{
    void *w = ON_DEVICE(x->w), *m = ON_DEVICE(x->m), *v = ON_DEVICE(x->v);
    float g[N];

    for (int t = 1; t <= steps; t++) {
        struct df_step_state state = {.factor = factor, .applied = t};

        for (int i = 0; i < N; i++)
            g[i] = sinf((float) (i + t)) + (factor == 0 ? NAN : 0);
        void *dg = ON_DEVICE(g), *s = on_device(&state, sizeof state);

        NEED(df_adamw(stream, &(struct df_adamw_args){
                                  .w = w,
                                  .m = m,
                                  .v = v,
                                  .g = dg,
                                  .state = s,
                                  .N = N,
                                  .lr = lr,
                                  .beta1 = 0.9f,
                                  .beta2 = 0.999f,
                                  .eps = 1e-8f,
                                  .weight_decay = decay,
                              }));
        take_back(g, dg, sizeof g);
        take_back(&state, s, sizeof state);
    }
    take_back(x->w, w, sizeof x->w);
    take_back(x->m, m, sizeof x->m);
    take_back(x->v, v, sizeof x->v);
}

/* The same in double; returns weight I.  */
static double
wanted(int i, double w, int steps, double factor, double lr, double decay)
{
    double m = 0, v = 0, b1 = (double) 0.9f, b2 = (double) 0.999f;

    for (int t = 1; t <= steps; t++) {
        double g = factor * (double) sinf((float) (i + t));

        w -= lr * decay * w;
        m = b1 * m + (1 - b1) * g;
        v = b2 * v + (1 - b2) * g * g;
        w -= lr / (1 - pow(b1, t)) * m
             / (sqrt(v) / sqrt(1 - pow(b2, t)) + (double) 1e-8f);
    }
    return w;
}

static void
test_adamw(void)
{
    struct weights x = {.w = {0}}, old;
    double worst = 0, moved = 0;

    for (int i = 0; i < N; i++)
        x.w[i] = (float) i / N;
    train(&x, 50, 0.5, 0.01f, 0.1f);
    for (int i = 0; i < N; i++) {
        double w = wanted(i, (double) ((float) i / N), 50, 0.5, (double) 0.01f,
                          (double) 0.1f);

        worst = fmax(worst, fabs((double) x.w[i] - w));
    }
    ok(worst < 3e-6, "adamw is near double precision: %.2g", worst);
    old = x;
    train(&x, 1, 0, 0.01f, 0.1f);
    ok(memcmp(&old, &x, sizeof x) == 0,
       "factor 0 changes no bit, if the gradient is NaN too");

    x = (struct weights){.w = {0}};
    for (int i = 0; i < N; i++)
        x.w[i] = 1;
    train(&x, 100, 1, 1e-5f, 0);
    worst = 0;
    for (int i = 0; i < N; i++) {
        double w = wanted(i, 1, 100, 1, (double) 1e-5f, 0);

        worst = fmax(worst, fabs((double) x.w[i] - w));
        moved += fabs((double) x.w[i] - 1) / N;
    }
    /* A float near 1 is rounded to 6e-8 or less, in each of 100 steps.  */
    ok(moved > 1e-5 && worst < 3e-6,
       "100 small steps move weights of 1: by %.2g, off by %.2g", moved,
       worst);
}

int
main(void)
{
    plan(11);
    open_cpu();
    test_clip();
    test_adamw();
    close_cpu();
    return 0;
}

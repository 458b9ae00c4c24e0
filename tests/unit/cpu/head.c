#include <config.h>

#include "cpu/cpu_internal.h"
#include "cpu/simd_internal.h"
#include "tap/tap.h"
#include "unit/cpu/buffers.h"

struct test {
    size_t R, H, V;
    float size; /* of the logits, more or less */
};

static const struct test tests[] = {
    {1,   1,  1,    1  },
    {1,   17, 2,    1  },
    {127, 64, 255,  1  },
    {128, 33, 2047, 3  },
    {129, 64, 2048, 1  },
    {300, 16, 2049, 30 },
    {5,   80, 5001, 300},
};
enum {
    N_TESTS = sizeof tests / sizeof *tests
};

struct batch {
    struct df_head_loss_args args;
    float *nll, *pred, *dh; /* pred: guarded memory for int32_t */
    float *h, *u;
    int32_t *labels;
};

static void
set_up(struct batch *x, size_t R, size_t H, size_t V, float size)
{
    *x = (struct batch){.nll = guarded(R),
                        .pred = guarded(R),
                        .dh = guarded(R * H),
                        .h = random_floats(R * H),
                        .u = random_floats(V * H),
                        .labels = zeroed(R, sizeof(int32_t))};
    x->args = (struct df_head_loss_args){.nll = x->nll,
                                         .pred = (void *) x->pred,
                                         .dh = x->dh,
                                         .h = x->h,
                                         .u = x->u,
                                         .labels = x->labels,
                                         .R = R,
                                         .H = H,
                                         .V = V};
    for (size_t i = 0; i < R * H; i++)
        x->h[i] *= size / sqrtf((float) H);
    for (size_t r = 0; r < R; r++)
        x->labels[r] = (int32_t) ((r * 7919 + V - 1) % V);
}

static bool
tear_down(struct batch *x)
{
    struct df_head_loss_args *a = &x->args;
    bool whole = unguard(x->nll, a->R);

    whole = unguard(x->pred, a->R) && whole;
    whole = unguard(x->dh, a->R * a->H) && whole;
    free(x->h);
    free(x->u);
    free(x->labels);
    return whole;
}

/* Logits Z[V] of row R, their log-sum-exp returned.  */
static double
reference_row(const struct batch *x, size_t r, double *z)
{
    const struct df_head_loss_args *a = &x->args;
    double max = -INFINITY, sum = 0;

    for (size_t v = 0; v < a->V; v++) {
        z[v] = 0;
        for (size_t i = 0; i < a->H; i++)
            z[v] += (double) x->h[r * a->H + i] * (double) x->u[v * a->H + i];
        max = z[v] > max ? z[v] : max;
    }
    for (size_t v = 0; v < a->V; v++)
        sum += exp(z[v] - max);
    return max + log(sum);
}

/* Whether PRED is as good as the greatest of Z, to float's rounding.  */
static bool
right_pred(const double *z, size_t V, int32_t pred, float size)
{
    double max = -INFINITY;

    for (size_t v = 0; v < V; v++)
        max = z[v] > max ? z[v] : max;
    return pred >= 0 && (size_t) pred < V
           && z[pred] >= max - 1e-6 * (double) size;
}

static void
test_values(const struct test *t)
{
    struct batch x;
    double *nll = zeroed(t->R, sizeof *nll);
    double *dh = zeroed(t->R * t->H, sizeof *dh);
    double *z = zeroed(t->V, sizeof *z), e;
    bool pred = true;

    set_up(&x, t->R, t->H, t->V, t->size);
    ok(cpu_head_loss(&x.args) == DF_OK, "%zu rows, V = %zu: runs", t->R, t->V);
    for (size_t r = 0; r < t->R; r++) {
        double lse = reference_row(&x, r, z);
        size_t label = (size_t) x.labels[r];

        nll[r] = lse - z[label];
        pred = pred && right_pred(z, t->V, x.args.pred[r], t->size);
        for (size_t v = 0; v < t->V; v++)
            for (size_t i = 0; i < t->H; i++)
                dh[r * t->H + i] += (exp(z[v] - lse) - (v == label))
                                    * (double) x.u[v * t->H + i];
    }
    e = error_of(x.nll, nll, t->R);
    ok(e < 1e-5 || (t->V == 1 && x.nll[0] == 0), "nll within 1e-5 (%.1e)", e);
    ok(pred, "pred is the greatest");
    e = error_of(x.dh, dh, t->R * t->H);
    ok(e < 1e-5 || (t->V == 1 && x.dh[0] == 0), "dh within 1e-5 (%.1e)", e);
    ok(tear_down(&x), "nothing outside");
    free(nll);
    free(dh);
    free(z);
}

/* Parts that aren't wanted change nothing in the others.  */
static void
test_parts(void)
{
    struct batch x;
    float nll[130], pred[130];

    set_up(&x, 130, 16, 4099, 2);
    ok(cpu_head_loss(&x.args) == DF_OK, "all parts");
    memcpy(nll, x.nll, sizeof nll);
    memcpy(pred, x.pred, sizeof pred);
    x.args.dh = NULL;
    fill(x.nll, 130, NAN);
    ok(cpu_head_loss(&x.args) == DF_OK && same_bits(nll, x.nll, 130)
           && same_bits(pred, x.pred, 130),
       "without dh: the same losses");
    x.args.nll = NULL;
    x.args.labels = NULL;
    fill(x.pred, 130, NAN);
    ok(cpu_head_loss(&x.args) == DF_OK && same_bits(pred, x.pred, 130),
       "without losses and labels: the same predictions");
    ok(tear_down(&x), "nothing outside");
}

/* Whole numbers, so that equal logits are equal: rows of u repeat.  */
static void
test_ties(void)
{
    struct batch x;
    bool least = true;

    set_up(&x, 3, 4, 6000, 1);
    for (size_t v = 0; v < 6000; v++)
        for (size_t i = 0; i < 4; i++)
            x.u[v * 4 + i] = (float) (i == 0 ? (v % 2500) / 10 : 1);
    for (size_t i = 0; i < 12; i++)
        x.h[i] = (float) (i == 0 ? 1 : i == 4 ? -1 : 0);
    ok(cpu_head_loss(&x.args) == DF_OK, "ties");
    least =
        x.args.pred[0] == 2490 && x.args.pred[1] == 0 && x.args.pred[2] == 0;
    ok(least, "the least of the greatest is predicted");
    tear_down(&x);
}

static void
test_nan(void)
{
    struct batch x;
    float nll[131], *dh;
    bool same = true;

    set_up(&x, 131, 8, 2500, 1);
    ok(cpu_head_loss(&x.args) == DF_OK, "no NaN yet");
    memcpy(nll, x.nll, sizeof nll);
    dh = copy_floats(x.dh, 131 * 8);
    x.h[5 * 8 + 3] = NAN;
    x.h[130 * 8] = INFINITY;
    ok(cpu_head_loss(&x.args) == DF_OK && isnan(x.nll[5]) && isnan(x.dh[40]),
       "NaN in, NaN out");
    ok(!isfinite(x.nll[130]), "an infinite state has no finite loss");
    for (size_t r = 0; r < 130; r++)
        same = same
               && (r == 5
                   || (same_bits(nll + r, x.nll + r, 1)
                       && same_bits(dh + r * 8, x.dh + r * 8, 8)));
    ok(same, "other rows keep their bits");
    x.h[5 * 8 + 3] = x.h[130 * 8] = 0;
    x.u[2400 * 8] = NAN;
    ok(cpu_head_loss(&x.args) == DF_OK && isnan(x.nll[0]) && isnan(x.nll[77]),
       "one NaN logit, in the last tile, is enough");
    ok(x.args.pred[0] >= 0 && x.args.pred[0] < 2500,
       "a prediction is a token nevertheless");
    free(dh);
    ok(tear_down(&x), "nothing outside");
}

static void
test_exp(void)
{
    double worst = 0;

    for (int i = -87 * 1024; i <= 88 * 1024; i++) {
        float x = (float) i / 1024 + random_float() / 4096;
        double want = exp((double) (x > 88 ? 88 : x));
        double e = fabs((double) df_expf(x) - want) / want;

        if (x >= -87)
            worst = e > worst ? e : worst;
    }
    ok(worst < 1.5e-7, "df_expf is within 1.5e-7 of e^x (%.2e)", worst);
    ok(df_expf(0) == 1 && df_expf(-INFINITY) == 0 && df_expf(-200) == 0
           && df_expf(-88) == 0 && isnan(df_expf(NAN)),
       "and right at 0, far below, and for NaN");
}

int
main(void)
{
    struct df_head_loss_args none = {.H = 8, .V = 10};

    plan(5 * N_TESTS + 4 + 2 + 7 + 2 + 1);
    openblas_set_num_threads(1);
    if (df_pool_acquire() != DF_OK)
        return 1;
    for (int i = 0; i < N_TESTS; i++)
        test_values(&tests[i]);
    test_parts();
    test_ties();
    test_nan();
    test_exp();
    ok(cpu_head_loss(&none) == DF_OK, "R = 0: nothing to do");
    df_pool_release();
    return 0;
}

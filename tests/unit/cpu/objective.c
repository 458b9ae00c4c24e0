#include <config.h>

#include <math.h>
#include <string.h>

#include "cpu/cpu_internal.h"
#include "tap/tap.h"

static bool
near(double wanted, double seen)
{
    bool good = fabs(wanted - seen) <= 1e-6 * (1 + fabs(wanted));

    if (!good)
        diag("wanted %.9g, seen %.9g", wanted, seen);
    return good;
}

static bool
all_near(const double *wanted, const float *seen, size_t n)
{
    bool good = true;

    for (size_t i = 0; i < n; i++)
        good = near(wanted[i], (double) seen[i]) && good;
    return good;
}

/* Three blocks of b = 4: slots 1, 2, 3; 1 and 3; 2 alone.  */
static const int32_t slot[] = {1, 2, 3, 5, 7, 10};
static const float nll[] = {0.5f, 1, 2, 0.25f, 3, 1.5f};
static const int32_t labels[] = {4, 5, 6, 7, 8, 9};
static const int32_t pred[] = {4, 5, 0, 7, 8, 9};
enum {
    ROWS = 6
};

static void
test_dflash(void)
{
    float weight[ROWS + 1];
    struct df_loss_sums sums = {.loss = 10, .blocks = 2, .correct = {[1] = 1}};
    struct df_objective_args a = {.weight = weight,
                                  .sums = &sums,
                                  .nll = nll,
                                  .pred = pred,
                                  .labels = labels,
                                  .slot = slot,
                                  .R = ROWS,
                                  .N = 3,
                                  .b = 4,
                                  .gamma = 2};
    double e = exp(-0.5), w[ROWS] = {1, e, e * e, 1, e * e, e};
    double loss = 10;

    for (int i = 0; i < ROWS; i++)
        loss += w[i] * (double) nll[i];
    weight[ROWS] = -7;
    ok(cpu_objective(&a) == DF_OK && all_near(w, weight, ROWS),
       "dflash: w = exp(-(j-1)/gamma)");
    ok(weight[ROWS] == -7, "dflash: no weight more than rows");
    ok(near(loss, sums.loss) && near(2 + 2 * e + 2 * e * e, sums.weight),
       "dflash: loss and weight are added up");
    /* 1, 2 right, 3 wrong: 3; 1 right, 2 missing: 2; 1 missing: 1.  */
    ok(near(6, sums.accept) && near(5, sums.blocks),
       "a slot without a row ends what is accepted");
    ok(near(3, sums.correct[1]) && near(2, sums.correct[2])
           && near(1, sums.correct[3]) && near(0, sums.correct[0]),
       "right answers are counted by slot");
    ok(near(2, sums.total[1]) && near(2, sums.total[2])
           && near(2, sums.total[3]) && near(0, sums.total[0]),
       "so are rows");
    a.gamma = 0;
    ok(cpu_objective(&a) == DF_OK
           && all_near((double[]){1, 1, 1, 1, 1, 1}, weight, ROWS),
       "dflash: gamma 0 weighs all slots alike");
}

static void
test_dpace(void)
{
    const double alpha = 0.3;
    float weight[ROWS];
    struct df_loss_sums sums = {0};
    struct df_objective_args a = {.weight = weight,
                                  .sums = &sums,
                                  .nll = nll,
                                  .pred = pred,
                                  .labels = labels,
                                  .slot = slot,
                                  .R = ROWS,
                                  .N = 3,
                                  .b = 4,
                                  .dpace = true,
                                  .alpha = 0.3f};
    double s[ROWS], total = 0;

    for (int i = 0; i < ROWS; i++)
        s[i] = (1 - alpha) * exp(-(double) nll[i]) + alpha;
    double w[ROWS] = {s[0] + s[0] * s[1] + s[0] * s[1] * s[2],
                      s[0] * s[1] + s[0] * s[1] * s[2],
                      s[0] * s[1] * s[2],
                      s[3] + s[3] * s[4], /* the hole has s = 1, m = 0 */
                      s[3] * s[4],
                      s[5]};
    for (int i = 0; i < ROWS; i++)
        total += w[i] * (double) nll[i];
    ok(cpu_objective(&a) == DF_OK && all_near(w, weight, ROWS),
       "dpace: the closed form, holes too");
    ok(near(total, sums.loss), "dpace: the loss is sum of w * nll");
    a.alpha = 1;
    ok(cpu_objective(&a) == DF_OK
           && all_near((double[]){3, 2, 1, 2, 1, 1}, weight, ROWS),
       "dpace: alpha 1 counts the supervised slots to come");
}

static void
test_nan(void)
{
    float bad[ROWS], weight[ROWS];
    struct df_loss_sums sums = {0};
    struct df_objective_args a = {.weight = weight,
                                  .sums = &sums,
                                  .nll = bad,
                                  .pred = pred,
                                  .labels = labels,
                                  .slot = slot,
                                  .R = ROWS,
                                  .N = 3,
                                  .b = 4};

    memcpy(bad, nll, sizeof bad);
    bad[4] = NAN;
    ok(cpu_objective(&a) == DF_OK && isnan(sums.loss),
       "a NaN among the losses shows in the sum");
    ok(near(6, sums.weight), "but not in the weights");
    sums = (struct df_loss_sums){0};
    a.dpace = true;
    a.alpha = 0.5f;
    ok(cpu_objective(&a) == DF_OK && isnan(sums.loss) && isnan(weight[4]),
       "dpace: a NaN shows too");
}

int
main(void)
{
    struct df_loss_sums sums = {0};
    struct df_objective_args none = {.sums = &sums, .N = 2, .b = 4};

    plan(15);
    test_dflash();
    test_dpace();
    test_nan();
    ok(cpu_objective(&none) == DF_OK && sums.loss == 0 && sums.weight == 0,
       "R = 0: nothing is lost");
    ok(near(2, sums.accept) && near(2, sums.blocks),
       "R = 0: a block accepts its anchor");
    return 0;
}

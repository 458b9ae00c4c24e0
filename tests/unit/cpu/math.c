#include <config.h>

#include <math.h>

#include "cpu/math_internal.h"
#include "tap/tap.h"

int
main(void)
{
    double worst = 0, worst_small = 0;

    plan(6);
    for (int i = -86990; i <= 87990; i++) {
        float x = (float) i * 1e-3f;

        worst = fmax(worst, fabs((double) df_expf(x) / exp((double) x) - 1));
    }
    ok(worst < 2e-7, "relative error of df_expf from -87 to 88: %.3g", worst);
    for (float x = -105; x < -87; x += 0.01f)
        worst_small = fmax(worst_small, (double) df_expf(x));
    ok(worst_small == 0, "0 below -87: no subnormal slows a product down");
    ok(df_expf(0) == 1 && df_expf(-0.0f) == 1, "e^0 is 1");
    ok(df_expf(-INFINITY) == 0 && df_expf(-1e30f) == 0, "e^-inf is 0");
    ok(df_expf(INFINITY) == df_expf(88) && df_expf(1e30f) == df_expf(88),
       "e^88 above 88");
    ok(isnan(df_expf(NAN)), "e^NaN is NaN");
    return 0;
}

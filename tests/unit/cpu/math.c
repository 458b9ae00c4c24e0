#include <config.h>

#include <math.h>

#include "cpu/math_internal.h"
#include "tap/tap.h"

int
main(void)
{
    double worst = 0, worst_small = 0;

    plan(6);
    for (int i = -87300; i <= 88700; i++) {
        float x = (float) i * 1.0001e-3f;

        if (x < -87.3f || x > 88.7f)
            continue;
        worst = fmax(worst, fabs((double) df_expf(x) / exp((double) x) - 1));
    }
    ok(worst < 2e-7, "relative error of df_expf: %.3g", worst);
    for (float x = -105; x < -87; x += 0.01f)
        worst_small =
            fmax(worst_small, fabs((double) df_expf(x) - exp((double) x)));
    ok(worst_small <= 0x1p-148, "where it is subnormal: off by %.3g",
       worst_small);
    ok(df_expf(0) == 1 && df_expf(-0.0f) == 1, "e^0 is 1");
    ok(df_expf(-INFINITY) == 0 && df_expf(-1e30f) == 0, "e^-inf is 0");
    ok(isinf(df_expf(INFINITY)) && isinf(df_expf(88.8f)), "e^inf is inf");
    ok(isnan(df_expf(NAN)), "e^NaN is NaN");
    return 0;
}

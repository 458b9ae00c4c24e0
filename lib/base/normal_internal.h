/* normal_internal.h - normal numbers that depend on a key and a place.  */

#ifndef DF_NORMAL_INTERNAL_H
#define DF_NORMAL_INTERNAL_H

#include <math.h>

#include "dflash/philox.h"

/* Of what weights begin with.  */
static const double df_initial_deviation = 0.02;

/* Pair number I of the numbers normal(0, df_initial_deviation) of KEY: Box
   and Muller 1958.  */
static inline void
df_normal_pair(uint64_t key, uint64_t i, float out[2])
{
    struct df_philox r =
        df_philox(key, (uint32_t) i, (uint32_t) (i >> 32), 0, 0);
    double u = ((double) r.v[0] + 1) * 0x1p-32; /* (0, 1] */
    double radius = sqrt(-2 * log(u));
    double angle = 2 * M_PI * (double) r.v[1] * 0x1p-32;

    out[0] = (float) (df_initial_deviation * radius * cos(angle));
    out[1] = (float) (df_initial_deviation * radius * sin(angle));
}

#endif

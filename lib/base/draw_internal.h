/* draw_internal.h - the random numbers of op_draw.h's formula, which are the
   same on every device.  */

#ifndef DF_DRAW_INTERNAL_H
#define DF_DRAW_INTERNAL_H

#include <math.h>

#include "dflash/op_draw.h"
#include "dflash/philox.h"

/* Numbers of PURPOSE for a place of a request: of tokens 4 I to 4 I + 3.  */
static inline DF_BOTH struct df_philox
df_draw_numbers(const struct df_draw *draw, uint32_t purpose, size_t i,
                uint64_t request, int32_t place)
{
    return df_philox(draw->key, purpose << 28 | (uint32_t) i, (uint32_t) place,
                     (uint32_t) request, (uint32_t) (request >> 32));
}

/* The noise G of token V, a multiple of 4, and of the three behind it.  */
static inline DF_BOTH void
df_draw_noise(float g[4], const struct df_draw *draw, uint32_t purpose,
              size_t v, uint64_t request, int32_t place)
{
    struct df_philox p = df_draw_numbers(draw, purpose, v / 4, request, place);

    for (int i = 0; i < 4; i++)
        g[i] = -logf(-logf(((float) (p.v[i] >> 9) + 0.5f) * 0x1p-23f));
}

#endif

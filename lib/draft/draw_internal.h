/* draw_internal.h - fair draws from a key and a counter.  */

#ifndef DF_DRAW_INTERNAL_H
#define DF_DRAW_INTERNAL_H

#include "dflash/philox.h"

/* A number in [0, 1) with 53 random bits.  Its product with a whole number
   N < 2^53 is below N, also after rounding.  */
static inline double
df_draw(uint64_t key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3)
{
    struct df_philox bits = df_philox(key, c0, c1, c2, c3);

    return ((bits.v[0] >> 5) * 0x1p26 + (bits.v[1] >> 6)) * 0x1p-53;
}

#endif

/* anchors_internal.h - drawing the places that blocks start from.  */

#ifndef DF_ANCHORS_INTERNAL_H
#define DF_ANCHORS_INTERNAL_H

#include "dflash/batch.h"

/* Draw the anchors of one sequence from MASK[n] into OUT, ascending places
   within it, and return how many: min(LIMITS->num_anchors, candidates).
   They follow from KEY, SAMPLE and EPOCH alone.  */
size_t df_anchors_draw(int32_t *out, const uint8_t *mask, size_t n,
                       const struct df_batch_limits *limits, uint64_t key,
                       uint64_t sample, int64_t epoch);

#endif

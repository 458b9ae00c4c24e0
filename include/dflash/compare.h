/* compare.h - how far two captures of the same samples are apart: another
   precision, another engine, another layout.  */

#ifndef DFLASH_COMPARE_H
#define DFLASH_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dflash/record.h"

DF_BEGIN_DECLS

/* One layer: the error is relative to the second capture, in the Euclidean
   norm: |a - b| / |b|, over all rows, and of the worst row.  Values that
   aren't finite in both captures alike make it infinite.  */
struct df_layer_distance {
    uint64_t rows, equal; /* EQUAL: bit for bit */
    double error;
    double worst; /* of one row, which is: */
    uint64_t worst_index, worst_id, worst_token;
};

struct df_compare;

/* For samples under headers A and B.  DF_INVALID if they differ in layers
   or hidden size; DF_NO_MEMORY.  */
DF_EXPORT DF_MUST_USE df_status
df_compare_new(struct df_compare **out, const struct df_capture_header *a,
               const struct df_capture_header *b);
DF_EXPORT void df_compare_free(struct df_compare *compare);

/* Add the samples A and B, under headers HA and HB.  False, and nothing is
   added, if their tokens differ: *TOKEN is the first that does, or the
   length of the shorter one.  The last hidden states are compared if both
   have them.  */
DF_EXPORT bool df_compare_sample(struct df_compare *compare,
                                 const struct df_capture_header *ha,
                                 const struct df_capture_sample *a,
                                 const struct df_capture_header *hb,
                                 const struct df_capture_sample *b,
                                 uint64_t *token);

/* Layer K, the header's K being the last hidden state.  */
DF_EXPORT struct df_layer_distance
df_compare_layer(const struct df_compare *compare, size_t k);

DF_END_DECLS
#endif

/* compare_internal.h - the loop that compares two rows.  */

#ifndef DF_COMPARE_INTERNAL_H
#define DF_COMPARE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

/* The sums of (A-B)^2 and B^2 over COUNT elements.  */
void df_compare_rows(const uint16_t *a, const uint16_t *b, size_t count,
                     float *difference, float *squares);

#endif

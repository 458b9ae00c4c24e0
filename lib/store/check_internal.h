/* check_internal.h - checks of rows, word by word, for loops that do more with
   a row than to check it.  */

#ifndef DF_CHECK_INTERNAL_H
#define DF_CHECK_INTERNAL_H

#include <string.h>

#include "dflash/check.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#    error "captures are little-endian, and so must be the machine"
#endif

/* Half a word.  */
static inline uint64_t
df_check_load(const uint16_t *at)
{
    uint64_t x;

    memcpy(&x, at, sizeof x);
    return x;
}

/* What the elements from FIRST on, where a word begins, add to the check of
   the COUNT elements at ROW.  */
uint64_t df_check_from(const uint16_t *row, size_t first, size_t count);

#endif

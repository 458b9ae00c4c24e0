/* check.h - a 64-bit check over one row of one layer's hidden states.

   The device that packs a row computes its check, and the check travels with
   the row: whatever happens to the bytes afterwards shows.  It tells
   accidents apart, not attacks.

   A row is cut into words of 16 bytes, the last one filled up with zeros.
   With word p = 0, 1, ... being the little-endian integers lo and hi,

       check = sum over p of df_check_word (lo, hi, p), modulo 2^64.

   The order of the sum doesn't matter, so any number of threads may share a
   row.  Each word goes through one 64 by 64 bit product keyed by its place:
   equal words at different places count differently, a row of zeros has a
   check other than zero, and a changed bit changes it but for one case in
   about 2^64.  */

#ifndef DFLASH_CHECK_H
#define DFLASH_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "dflash/philox.h"

DF_BEGIN_DECLS

enum {
    DF_CHECK_WORD = 16 /* bytes */
};

/* What the word LO, HI at place P adds to the check of its row.  */
static inline DF_BOTH uint64_t
df_check_word(uint64_t lo, uint64_t hi, uint64_t p)
{
    uint64_t a = lo ^ (0x9E3779B97F4A7C15u + p * 0xD1342543DE82EF95u);
    uint64_t b = hi ^ (0xC2B2AE3D27D4EB4Fu + p * 0xAF251AF3B0F025B5u);

#ifdef __CUDA_ARCH__
    return a * b ^ __umul64hi(a, b);
#else
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide) a * b;

    return (uint64_t) product ^ (uint64_t) (product >> 64);
#endif
}

/* The check of the COUNT elements of 16 bits at ROW.  */
DF_EXPORT uint64_t df_check_row(const uint16_t *row, size_t count);

DF_END_DECLS
#endif

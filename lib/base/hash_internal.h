/* hash_internal.h - a 64-bit hash of bytes, the same on every machine.  It
   tells files apart and finds slots in tables; it protects from nobody.  */

#ifndef DF_HASH_INTERNAL_H
#define DF_HASH_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

/* The hash of the LEN bytes at DATA.  */
uint64_t df_hash_bytes(const void *data, size_t len);

/* X with its bits mixed: a bijection, so distinct keys stay distinct.  */
uint64_t df_hash_u64(uint64_t x);

#endif

#include <config.h>

#include "base/hash_internal.h"

/* FNV-1a: its low bits are weak, so the sum goes through df_hash_u64.  */
uint64_t
df_hash_bytes(const void *data, size_t len)
{
    const uint8_t *p = data;
    uint64_t h = 0xcbf29ce484222325u;

    for (size_t i = 0; i < len; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return df_hash_u64(h);
}

/* The finishing step of MurmurHash3, by its published constants.  */
uint64_t
df_hash_u64(uint64_t x)
{
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
    return x ^ (x >> 33);
}

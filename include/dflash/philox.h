/* philox.h - random numbers that depend on a key and a counter alone.

   Philox4x32-10: Salmon et al., "Parallel random numbers: as easy as 1, 2,
   3", SC11.  The same numbers come out on every device, in any order.  */

#ifndef DFLASH_PHILOX_H
#define DFLASH_PHILOX_H

#include <stdint.h>

#include "dflash/defs.h"

/* The functions below also compile for a GPU.  */
#ifdef __CUDACC__
#    define DF_BOTH __host__ __device__
#else
#    define DF_BOTH
#endif

struct df_philox {
    uint32_t v[4];
};

static inline DF_BOTH struct df_philox
df_philox(uint64_t key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3)
{
    uint32_t k0 = (uint32_t) key, k1 = (uint32_t) (key >> 32);

    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t) 0xD2511F53u * c0;
        uint64_t p1 = (uint64_t) 0xCD9E8D57u * c2;

        c0 = (uint32_t) (p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t) p1;
        c2 = (uint32_t) (p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t) p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    struct df_philox out = {
        {c0, c1, c2, c3}
    };
    return out;
}

/* 32 random bits to a float in [0, 1): the upper 24 bits, exact.  */
static inline DF_BOTH float
df_uniform(uint32_t bits)
{
    return (float) (bits >> 8) * 0x1p-24f;
}

/* A key for PURPOSE (one of the constants below) under the run's SEED, so
   that no two uses share their numbers.  */
static inline uint64_t
df_key(uint64_t seed, uint64_t purpose)
{
    uint64_t z = seed + purpose * 0x9E3779B97F4A7C15u;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

enum {
    DF_KEY_WEIGHTS = 1, /* initial weights */
    DF_KEY_ORDER,       /* order of the samples in an epoch */
    DF_KEY_ANCHORS,     /* anchors of a sample in an epoch */
    DF_KEY_NOISE,       /* noise on the hidden states */
    DF_KEY_DRAW         /* tokens that are drawn from logits */
};

#endif

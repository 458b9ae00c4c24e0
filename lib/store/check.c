#include <config.h>

#include <string.h>

#include "dflash/check.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#    error "captures are little-endian, and so must be the machine"
#endif

enum {
    WORD = DF_CHECK_WORD / sizeof(uint16_t)
};

/* Half a word.  */
static inline uint64_t
load(const uint16_t *at)
{
    uint64_t x;

    memcpy(&x, at, sizeof x);
    return x;
}

uint64_t
df_check_row(const uint16_t *row, size_t count)
{
    size_t words = count / WORD, rest = count % WORD;
    uint64_t sum = 0;

    for (size_t i = 0; i < words; i++) {
        const uint16_t *at = row + i * WORD;

        sum += df_check_word(load(at), load(at + WORD / 2), i);
    }
    if (rest > 0) {
        uint16_t tail[WORD] = {0};

        memcpy(tail, row + words * WORD, rest * sizeof *row);
        sum += df_check_word(load(tail), load(tail + WORD / 2), words);
    }
    return sum;
}

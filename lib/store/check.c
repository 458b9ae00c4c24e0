#include <config.h>

#include <string.h>

#include "dflash/check.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#    error "captures are little-endian, and so must be the machine"
#endif

static uint64_t
load(const char *p)
{
    uint64_t x;

    memcpy(&x, p, sizeof x);
    return x;
}

uint64_t
df_check_row(const uint16_t *row, size_t count)
{
    const char *p = (const char *) row;
    size_t size = count * sizeof *row;
    size_t words = size / DF_CHECK_WORD, rest = size % DF_CHECK_WORD;
    uint64_t sum = 0;

    for (size_t i = 0; i < words; i++, p += DF_CHECK_WORD)
        sum += df_check_word(load(p), load(p + 8), i);
    if (rest > 0) {
        char tail[DF_CHECK_WORD] = {0};

        memcpy(tail, p, rest);
        sum += df_check_word(load(tail), load(tail + 8), words);
    }
    return sum;
}

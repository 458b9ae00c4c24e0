#include <config.h>

#include "store/check_internal.h"

enum {
    WORD = DF_CHECK_WORD / sizeof(uint16_t)
};

uint64_t
df_check_from(const uint16_t *row, size_t first, size_t count)
{
    size_t words = count / WORD, rest = count % WORD;
    uint64_t sum = 0;

    for (size_t i = first / WORD; i < words; i++) {
        const uint16_t *at = row + i * WORD;

        sum +=
            df_check_word(df_check_load(at), df_check_load(at + WORD / 2), i);
    }
    if (rest > 0) {
        uint16_t tail[WORD] = {0};

        memcpy(tail, row + words * WORD, rest * sizeof *row);
        sum += df_check_word(df_check_load(tail),
                             df_check_load(tail + WORD / 2), words);
    }
    return sum;
}

uint64_t
df_check_row(const uint16_t *row, size_t count)
{
    return df_check_from(row, 0, count);
}

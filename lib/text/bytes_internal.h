/* bytes_internal.h - bytes that grow at the end.  */

#ifndef DF_BYTES_INTERNAL_H
#define DF_BYTES_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "dflash/error.h"

/* {0} is empty; free(data) releases it.  */
struct df_bytes {
    char *data;
    size_t len, cap;
};

DF_MUST_USE df_status df_bytes_put(struct df_bytes *b, const void *data,
                                   size_t len);
DF_MUST_USE df_status df_bytes_puts(struct df_bytes *b, const char *text);

/* Make room for N entries of SIZE bytes in *PTR, which has room for *CAP:
   doubling, so that appending one at a time costs linear time.  */
DF_MUST_USE df_status df_grow(void *ptr, size_t *cap, size_t n, size_t size);

/* The length of the UTF-8 character that begins with byte LEAD.  */
static inline size_t
df_utf8_len(char lead)
{
    uint8_t c = (uint8_t) lead;

    return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

#endif

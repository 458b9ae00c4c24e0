#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "text/bytes_internal.h"

df_status
df_grow(void *ptr, size_t *cap, size_t n, size_t size)
{
    size_t wanted = *cap < 16 ? 16 : *cap;
    void *old, *p;

    if (n <= *cap)
        return DF_OK;
    while (wanted < n)
        wanted *= 2;
    memcpy(&old, ptr, sizeof old);
    p = wanted > SIZE_MAX / size ? NULL : realloc(old, wanted * size);
    if (!p)
        return DF_FAIL(DF_NO_MEMORY, "%zu entries of %zu bytes", n, size);
    memcpy(ptr, &p, sizeof p);
    *cap = wanted;
    return DF_OK;
}

df_status
df_bytes_put(struct df_bytes *b, const void *data, size_t len)
{
    DF_TRY(df_grow(&b->data, &b->cap, b->len + len, 1));
    if (len > 0)
        memcpy(b->data + b->len, data, len);
    b->len += len;
    return DF_OK;
}

df_status
df_bytes_puts(struct df_bytes *b, const char *text)
{
    return df_bytes_put(b, text, strlen(text));
}

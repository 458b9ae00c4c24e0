#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "text/steps_internal.h"

static df_status
reserve(struct df_draft *d, size_t more)
{
    size_t cap[3] = {d->cap, d->cap, d->cap};
    size_t n = d->len + more;

    if (n > UINT32_MAX)
        return DF_FAIL(DF_INVALID, "a normalized text of %zu bytes", n);
    DF_TRY(df_grow(&d->data, &cap[0], n, 1));
    DF_TRY(df_grow(&d->from, &cap[1], n, sizeof *d->from));
    DF_TRY(df_grow(&d->to, &cap[2], n, sizeof *d->to));
    d->cap = cap[0];
    return DF_OK;
}

df_status
df_draft_put(struct df_draft *d, const char *data, size_t len, uint32_t from,
             uint32_t to)
{
    DF_TRY(reserve(d, len));
    for (size_t i = 0; i < len; i++, d->len++) {
        d->data[d->len] = data[i];
        d->from[d->len] = from;
        d->to[d->len] = to;
    }
    return DF_OK;
}

df_status
df_draft_copy(struct df_draft *d, const struct df_text *t, size_t start,
              size_t end)
{
    DF_TRY(reserve(d, end - start));
    for (size_t i = start; i < end; i++, d->len++) {
        d->data[d->len] = t->data[i];
        d->from[d->len] = df_text_from(t, i);
        d->to[d->len] = df_text_to(t, i);
    }
    return DF_OK;
}

struct df_text
df_draft_text(const struct df_draft *d)
{
    return (struct df_text){d->data, d->len, d->from, d->to, 0};
}

void
df_draft_free(struct df_draft *d)
{
    free(d->data);
    free(d->from);
    free(d->to);
    *d = (struct df_draft){0};
}

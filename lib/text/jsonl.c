#include <config.h>

#include <stdio.h>
#include <string.h>

#include "base/json_internal.h"
#include "text/jsonl_internal.h"

static bool
is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

bool
df_jsonl_next(struct df_jsonl *it, struct df_line *out)
{
    if (it->at == 0 && it->size >= 3
        && memcmp(it->data, "\xEF\xBB\xBF", 3) == 0)
        it->at = 3;
    while (it->at < it->size) {
        const uint8_t *start = it->data + it->at;
        size_t left = it->size - it->at;
        const uint8_t *end = memchr(start, '\n', left);
        size_t len = end ? (size_t) (end - start) : left, skip = 0;

        out->offset = it->at;
        out->number = ++it->number;
        it->at += len + (end != NULL);
        while (skip < len && is_blank(start[skip]))
            skip++;
        if (skip == len)
            continue;
        out->len = len - (start[len - 1] == '\r');
        return true;
    }
    return false;
}

df_status
df_jsonl_parse(json_t **out, const char *text, size_t len, const char *file,
               uint64_t number)
{
    DF_TRY(df_json_parse_line(out, text, len, file, number));
    if (json_is_object(*out))
        return DF_OK;
    df_status status =
        DF_FAIL(DF_FORMAT, "%s:%llu: is %s, not an object", file,
                (unsigned long long) number, df_json_type_name(*out));
    json_decref(*out);
    *out = NULL;
    return status;
}

/* Steps that write a new text: Unicode normalization, lower case, prefixes.

   Normalization works on the text cluster by cluster (grapheme clusters: no
   composition or reordering crosses the border of two), so that each byte
   of the result is known to come from one cluster.  */

#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <unicase.h>
#include <unigbrk.h>
#include <unistr.h>

#include "text/steps_internal.h"

/* Append the LEN bytes at DATA, made of the bytes [START, END) of IN.  */
static df_status
put_cluster(struct df_draft *out, const struct df_text *in, size_t start,
            size_t end, const uint8_t *data, size_t len)
{
    if (len == end - start && memcmp(data, in->data + start, len) == 0)
        return df_draft_copy(out, in, start, end);
    return df_draft_put(out, (const char *) data, len, df_text_from(in, start),
                        df_text_to(in, end - 1));
}

/* Whether every character is one that FORM leaves alone wherever it stands:
   ASCII, and for NFC what lies below U+0300, the first combining mark.  */
static bool
plainly_normal(uninorm_t form, const struct df_text *in)
{
    uint8_t below = form == UNINORM_NFC ? 0xcc : 0x80;

    for (size_t i = 0; i < in->len; i++)
        if ((uint8_t) in->data[i] >= below)
            return false;
    return true;
}

static df_status
normalize(uninorm_t form, const uint8_t *s, size_t len, uint8_t **out,
          size_t *out_len)
{
    *out = u8_normalize(form, s, len, NULL, out_len);
    if (!*out)
        return DF_FAIL(DF_NO_MEMORY, "no memory to normalize %zu bytes", len);
    return DF_OK;
}

static df_status
normalize_clusters(uninorm_t form, const struct df_text *in,
                   struct df_draft *out)
{
    const uint8_t *s = (const uint8_t *) in->data, *end = s + in->len;

    for (const uint8_t *p = s; p < end;) {
        const uint8_t *next = u8_grapheme_next(p, end);
        df_status status;
        uint8_t *data;
        size_t len;

        DF_TRY(normalize(form, p, (size_t) (next - p), &data, &len));
        status = put_cluster(out, in, (size_t) (p - s), (size_t) (next - s),
                             data, len);
        free(data);
        DF_TRY(status);
        p = next;
    }
    return DF_OK;
}

static df_status
rewrite_normalized(uninorm_t form, const struct df_text *in,
                   struct df_draft *out, bool *changed)
{
    uint8_t *data;
    size_t len;

    *changed = false;
    if (plainly_normal(form, in))
        return DF_OK;
    DF_TRY(normalize(form, (const uint8_t *) in->data, in->len, &data, &len));
    *changed = len != in->len || memcmp(data, in->data, len) != 0;
    free(data);
    return *changed ? normalize_clusters(form, in, out) : DF_OK;
}

/* Each character by itself, so that a sigma is never a final one.  */
static df_status
rewrite_lowercase(const struct df_text *in, struct df_draft *out)
{
    for (size_t i = 0; i < in->len;) {
        size_t n = df_utf8_len(in->data[i]), len = 16;
        uint8_t room[16];
        uint8_t *data = u8_tolower((const uint8_t *) in->data + i, n, NULL,
                                   NULL, room, &len);
        df_status status;

        if (!data)
            return DF_FAIL(DF_NO_MEMORY, "no memory for lower case");
        status = put_cluster(out, in, i, i + n, data, len);
        if (data != room)
            free(data);
        DF_TRY(status);
        i += n;
    }
    return DF_OK;
}

/* What is put in front goes with the byte that it stands before.  */
static df_status
rewrite_prepended(const struct df_step *step, const struct df_text *in,
                  struct df_draft *out, bool *changed)
{
    size_t n = step->content_len;
    bool there = in->len >= n && memcmp(in->data, step->content, n) == 0;
    uint32_t from = df_text_from(in, 0);

    *changed = false;
    if ((step->when != DF_PREPEND_ALWAYS && there)
        || (step->when == DF_PREPEND_AT_START && from != 0))
        return DF_OK;
    *changed = true;
    DF_TRY(df_draft_put(out, step->content, n, from, df_text_to(in, 0)));
    return df_draft_copy(out, in, 0, in->len);
}

df_status
df_step_rewrite(const struct df_step *step, const struct df_text *in,
                struct df_draft *out, bool *changed)
{
    switch (step->kind) {
    case DF_STEP_NORMALIZE:
        return rewrite_normalized(step->form, in, out, changed);
    case DF_STEP_LOWERCASE:
        *changed = true;
        return rewrite_lowercase(in, out);
    default:
        return rewrite_prepended(step, in, out, changed);
    }
}

/* From token strings to text.  Every step reads one list of strings and
   writes another; at the end the list is the text, one string behind the
   other.  */

#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <unistr.h>

#include "text/tokenizer_internal.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* One string of a list.  */
struct piece {
    const char *text;
    size_t len;
};

static struct piece
piece_at(const struct df_strings *s, size_t i)
{
    size_t begin = i ? s->end[i - 1] : 0, len = s->end[i] - begin;

    return (struct piece){len > 0 ? s->bytes.data + begin : "", len};
}

/* Let what was appended to S's bytes be a string.  */
static df_status
close_string(struct df_strings *s)
{
    DF_TRY(df_grow(&s->end, &s->cap, s->n + 1, sizeof *s->end));
    s->end[s->n++] = s->bytes.len;
    return DF_OK;
}

df_status
df_strings_put(struct df_strings *s, const char *text, size_t len)
{
    DF_TRY(df_bytes_put(&s->bytes, text, len));
    return close_string(s);
}

/* How many bytes at S [N] are the beginning of a character, and whether all
   of it is there.  At least 1.  */
static size_t
utf8_prefix(const uint8_t *s, size_t n, bool *whole)
{
    uint8_t low = 0x80, high = 0xbf;
    size_t len = s[0] < 0x80   ? 1
                 : s[0] < 0xc2 ? 0
                 : s[0] < 0xe0 ? 2
                 : s[0] < 0xf0 ? 3
                 : s[0] < 0xf5 ? 4
                               : 0;
    size_t i = 1;

    /* No overlong forms, no surrogates, nothing above U+10FFFF.  */
    if (s[0] == 0xe0)
        low = 0xa0;
    if (s[0] == 0xed)
        high = 0x9f;
    if (s[0] == 0xf0)
        low = 0x90;
    if (s[0] == 0xf4)
        high = 0x8f;
    for (; i < len && i < n && s[i] >= low && s[i] <= high; i++) {
        low = 0x80;
        high = 0xbf;
    }
    *whole = i == len;
    return i;
}

/* Append the bytes at TEXT [LEN], with U+FFFD for each longest piece that
   begins no character or only begins one.  */
static df_status
put_lossy(struct df_bytes *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        bool whole;
        size_t n = utf8_prefix((const uint8_t *) text + i, len - i, &whole);

        DF_TRY(whole ? df_bytes_put(out, text + i, n)
                     : df_bytes_puts(out, REPLACEMENT));
        i += n;
    }
    return DF_OK;
}

/* Append the bytes that P spells.  A string with a character that is no
   byte's stands for itself.  */
static df_status
put_spelled_bytes(struct df_bytes *out, struct piece p)
{
    size_t before = out->len;

    for (size_t i = 0; i < p.len;) {
        ucs4_t code;
        int n =
            u8_mbtouc_unsafe(&code, (const uint8_t *) p.text + i, p.len - i);
        int byte = df_code_to_byte(code);
        char c = (char) byte;

        if (byte < 0) {
            out->len = before;
            return df_bytes_put(out, p.text, p.len);
        }
        DF_TRY(df_bytes_put(out, &c, 1));
        i += (size_t) n;
    }
    return DF_OK;
}

static df_status
run_byte_level(const struct df_strings *in, struct df_strings *out)
{
    struct df_bytes bytes = {0};
    df_status status = DF_OK;

    for (size_t i = 0; i < in->n && status == DF_OK; i++)
        status = put_spelled_bytes(&bytes, piece_at(in, i));
    if (status == DF_OK)
        status = put_lossy(&out->bytes, bytes.data, bytes.len);
    free(bytes.data);
    return status == DF_OK ? close_string(out) : status;
}

static df_status
replace(const struct df_decode_step *step, struct piece p,
        struct df_matcher *m, struct df_strings *out)
{
    struct df_matches ms = {.text = p.text, .len = p.len};
    size_t done = 0;
    df_status status;

    if (p.len == 0)
        return close_string(out);
    while ((status = df_matches_next(&ms, step->regex, m)) == DF_OK) {
        DF_TRY(df_bytes_put(&out->bytes, p.text + done, ms.start - done));
        DF_TRY(df_bytes_put(&out->bytes, step->content, step->content_len));
        done = ms.end;
    }
    if (status != DF_END)
        return status;
    return df_strings_put(out, p.text + done, p.len - done);
}

static df_status
run_replace(const struct df_decode_step *step, const struct df_strings *in,
            struct df_strings *out)
{
    struct df_matcher *m;
    df_status status;

    DF_TRY(df_matcher_new(&m));
    status = DF_OK;
    for (size_t i = 0; i < in->n && status == DF_OK; i++)
        status = replace(step, piece_at(in, i), m, out);
    df_matcher_free(m);
    return status;
}

/* The byte that P, "<0x41>" for one, stands for; or -1.  */
static int
fallback_byte(struct piece p)
{
    char digits[3];
    char *end;

    if (p.len != 6 || memcmp(p.text, "<0x", 3) != 0 || p.text[5] != '>')
        return -1;
    memcpy(digits, p.text + 3, 2);
    digits[2] = '\0';
    if (!strchr("0123456789abcdefABCDEF", digits[0]) || !digits[0])
        return -1;
    long byte = strtol(digits, &end, 16);
    return *end ? -1 : (int) byte;
}

/* The end of a run of byte tokens: one string if they are UTF-8, else one
   U+FFFD a byte.  */
static df_status
put_run(struct df_strings *out, struct df_bytes *run)
{
    size_t n = run->len;

    run->len = 0;
    if (n == 0)
        return DF_OK;
    if (!u8_check((const uint8_t *) run->data, n))
        return df_strings_put(out, run->data, n);
    for (size_t i = 0; i < n; i++)
        DF_TRY(df_strings_put(out, REPLACEMENT, strlen(REPLACEMENT)));
    return DF_OK;
}

static df_status
run_byte_fallback(const struct df_strings *in, struct df_strings *out)
{
    struct df_bytes run = {0};
    df_status status = DF_OK;

    for (size_t i = 0; i < in->n && status == DF_OK; i++) {
        struct piece p = piece_at(in, i);
        int byte = fallback_byte(p);
        char c = (char) byte;

        if (byte >= 0) {
            status = df_bytes_put(&run, &c, 1);
            continue;
        }
        status = put_run(out, &run);
        if (status == DF_OK)
            status = df_strings_put(out, p.text, p.len);
    }
    if (status == DF_OK)
        status = put_run(out, &run);
    free(run.data);
    return status;
}

static df_status
strip(const struct df_decode_step *step, struct piece p,
      struct df_strings *out)
{
    size_t n = step->content_len, begin = 0, end = p.len;

    for (size_t i = 0; i < step->start && end - begin >= n
                       && memcmp(p.text + begin, step->content, n) == 0;
         i++)
        begin += n;
    for (size_t i = 0; i < step->stop && end - begin >= n
                       && memcmp(p.text + end - n, step->content, n) == 0;
         i++)
        end -= n;
    return df_strings_put(out, p.text + begin, end - begin);
}

static df_status
metaspace(const struct df_decode_step *step, struct piece p, bool first,
          struct df_strings *out)
{
    for (size_t i = 0, n; i < p.len; i += n) {
        n = df_utf8_len(p.text[i]);
        if (n != step->content_len || memcmp(p.text + i, step->content, n))
            DF_TRY(df_bytes_put(&out->bytes, p.text + i, n));
        else if (!first || !step->drop_first)
            DF_TRY(df_bytes_puts(&out->bytes, " "));
    }
    return close_string(out);
}

static df_status
run_step(const struct df_decode_step *step, const struct df_strings *in,
         struct df_strings *out)
{
    switch (step->kind) {
    case DF_DECODE_BYTE_LEVEL:
        return run_byte_level(in, out);
    case DF_DECODE_REPLACE:
        return run_replace(step, in, out);
    case DF_DECODE_BYTE_FALLBACK:
        return run_byte_fallback(in, out);
    case DF_DECODE_FUSE:
        return df_strings_put(out, in->bytes.data, in->bytes.len);
    case DF_DECODE_STRIP:
        for (size_t i = 0; i < in->n; i++)
            DF_TRY(strip(step, piece_at(in, i), out));
        return DF_OK;
    case DF_DECODE_METASPACE:
        for (size_t i = 0; i < in->n; i++)
            DF_TRY(metaspace(step, piece_at(in, i), i == 0, out));
        return DF_OK;
    }
    return DF_OK;
}

/* Without a decoder Hugging Face puts a space between the tokens.  */
static df_status
put_spaces(const struct df_strings *in, struct df_strings *out)
{
    for (size_t i = 0; i < in->n; i++) {
        struct piece p = piece_at(in, i);

        if (i > 0)
            DF_TRY(df_strings_put(out, " ", 1));
        DF_TRY(df_strings_put(out, p.text, p.len));
    }
    return DF_OK;
}

df_status
df_decoder_run(const struct df_decoder *decoder, struct df_strings *s)
{
    size_t steps = decoder->given ? decoder->n : 1;

    for (size_t i = 0; i < steps; i++) {
        struct df_strings out = {0}, in = *s;
        df_status status = decoder->given
                               ? run_step(&decoder->step[i], &in, &out)
                               : put_spaces(&in, &out);

        *s = out;
        free(in.bytes.data);
        free(in.end);
        DF_TRY(status);
    }
    return DF_OK;
}

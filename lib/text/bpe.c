/* Merging a part of text into tokens.

   The part becomes a list of symbols, one a letter.  A heap holds every
   pair of neighbours that has a merge, lowest rank first and leftmost
   among equals.  The best is merged, and the two new pairs go in; a pair
   whose symbols have changed since is passed over.  So a part of N letters
   costs N log N, however long its words are.  */

#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "text/vocab_internal.h"

/* The characters that byte-level spelling leaves as they are.  */
static bool
spells_itself(uint32_t code)
{
    return (code >= 0x21 && code <= 0x7e) || (code >= 0xa1 && code <= 0xac)
           || (code >= 0xae && code <= 0xff);
}

/* The other 68 bytes are 0x00-0x20, 0x7f-0xa0 and 0xad, and are written as
   U+0100 to U+0143 in this order.  */
uint32_t
df_byte_to_code(uint8_t byte)
{
    if (spells_itself(byte))
        return byte;
    return byte <= 0x20   ? 0x100u + byte
           : byte == 0xad ? 0x143u
                          : 0x121u + byte - 0x7f;
}

int
df_code_to_byte(uint32_t code)
{
    if (spells_itself(code))
        return (int) code;
    if (code >= 0x100 && code <= 0x120)
        return (int) code - 0x100;
    if (code >= 0x121 && code <= 0x142)
        return (int) code - 0x121 + 0x7f;
    return code == 0x143 ? 0xad : -1;
}

size_t
df_byte_spelling(uint8_t byte, char to[2])
{
    uint32_t code = df_byte_to_code(byte);

    if (code < 0x80) {
        to[0] = (char) code;
        return 1;
    }
    to[0] = (char) (0xc0 | code >> 6);
    to[1] = (char) (0x80 | (code & 0x3f));
    return 2;
}

static df_status
add_symbol(struct df_bpe_scratch *s, int32_t id, size_t start, size_t end)
{
    int32_t i = (int32_t) s->n;

    DF_TRY(df_grow(&s->symbol, &s->symbol_cap, s->n + 1, sizeof *s->symbol));
    s->symbol[s->n++] =
        (struct df_symbol){id, i - 1, i + 1, (uint32_t) start, (uint32_t) end};
    return DF_OK;
}

/* An unknown character, or with fuse_unk a run of them, waits until the
   next known one, whatever bytes of others are put in between: so does
   Hugging Face.  */
struct unknown {
    bool waits;
    size_t start, end;
};

static df_status
flush_unknown(const struct df_bpe *bpe, struct df_bpe_scratch *s,
              struct unknown *u)
{
    if (!u->waits)
        return DF_OK;
    u->waits = false;
    return add_symbol(s, bpe->unk, u->start, u->end);
}

/* The letter at [START, END) of PART, whose vocabulary lacks it.  */
static df_status
add_unknown(const struct df_bpe *bpe, struct df_bpe_scratch *s,
            const struct df_text *part, size_t start, size_t end,
            struct unknown *u)
{
    const uint8_t *bytes = (const uint8_t *) part->data;
    bool covered = bpe->byte_fallback;

    for (size_t i = start; covered && i < end; i++)
        covered = bpe->fallback[bytes[i]] >= 0;
    if (covered) {
        for (size_t i = start; i < end; i++)
            DF_TRY(add_symbol(s, bpe->fallback[bytes[i]], i, i + 1));
        return DF_OK;
    }
    if (!bpe->has_unk)
        return DF_OK;
    if (bpe->unk < 0)
        return DF_FAIL(DF_FORMAT,
                       "a character at byte %u of the text has no token, and "
                       "the vocabulary lacks the unknown token too",
                       df_text_from(part, start));
    if (!bpe->fuse_unk)
        DF_TRY(flush_unknown(bpe, s, u));
    if (!u->waits)
        u->start = start;
    u->end = end;
    u->waits = true;
    return DF_OK;
}

static df_status
add_letters(const struct df_bpe *bpe, struct df_bpe_scratch *s,
            const struct df_text *part)
{
    struct unknown u = {false, 0, 0};

    s->n = 0;
    for (size_t i = 0, n; i < part->len; i += n) {
        char c = part->data[i];
        int32_t id;

        n = bpe->byte_level ? 1 : df_utf8_len(c);
        id = n == 1 ? bpe->letter[(uint8_t) c]
                    : df_vocab_find_own(bpe->vocab, part->data + i, n);
        if (id < 0) {
            DF_TRY(add_unknown(bpe, s, part, i, i + n, &u));
            continue;
        }
        DF_TRY(flush_unknown(bpe, s, &u));
        DF_TRY(add_symbol(s, id, i, i + n));
    }
    DF_TRY(flush_unknown(bpe, s, &u));
    if (s->n)
        s->symbol[s->n - 1].next = -1;
    return DF_OK;
}

/* Put the pair that begins at symbol LEFT into the heap, if it merges.  */
static df_status
push_merge(const struct df_bpe *bpe, struct df_bpe_scratch *s, int32_t left)
{
    int32_t right = left < 0 ? -1 : s->symbol[left].next;

    if (right < 0)
        return DF_OK;
    int32_t a = s->symbol[left].id, b = s->symbol[right].id;
    const struct df_pair *pair =
        df_pairs_find(&bpe->merges, (uint64_t) a << 32 | (uint32_t) b);
    if (!pair)
        return DF_OK;
    DF_TRY(df_grow(&s->heap, &s->heap_cap, s->merges + 1, sizeof *s->heap));
    struct df_merge new = {(uint64_t) pair->rank << 32 | (uint32_t) left, a, b,
                           pair->id};
    size_t i = s->merges++;
    for (; i > 0 && s->heap[(i - 1) / 2].order > new.order; i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = new;
    return DF_OK;
}

static struct df_merge
pop_merge(struct df_bpe_scratch *s)
{
    struct df_merge top = s->heap[0], last = s->heap[--s->merges];
    size_t i = 0, child;

    for (; (child = 2 * i + 1) < s->merges; i = child) {
        if (child + 1 < s->merges
            && s->heap[child + 1].order < s->heap[child].order)
            child++;
        if (last.order <= s->heap[child].order)
            break;
        s->heap[i] = s->heap[child];
    }
    s->heap[i] = last;
    return top;
}

static df_status
merge_symbols(const struct df_bpe *bpe, struct df_bpe_scratch *s)
{
    s->merges = 0;
    for (size_t i = 0; i + 1 < s->n; i++)
        DF_TRY(push_merge(bpe, s, (int32_t) i));
    while (s->merges > 0) {
        struct df_merge m = pop_merge(s);
        struct df_symbol *left = &s->symbol[(uint32_t) m.order];
        struct df_symbol *right =
            left->next < 0 ? NULL : &s->symbol[left->next];

        if (left->id != m.left || !right || right->id != m.right)
            continue;
        left->id = m.id;
        left->end = right->end;
        left->next = right->next;
        right->id = -1;
        if (left->next >= 0)
            s->symbol[left->next].prev = (int32_t) (uint32_t) m.order;
        DF_TRY(push_merge(bpe, s, left->prev));
        DF_TRY(push_merge(bpe, s, (int32_t) (uint32_t) m.order));
    }
    return DF_OK;
}

/* The token that PART is as a whole, or -1.  */
static df_status
find_whole(const struct df_bpe *bpe, struct df_bpe_scratch *s,
           const struct df_text *part, int32_t *id)
{
    char spelling[2];

    s->word.len = 0;
    if (!bpe->byte_level) {
        *id = df_vocab_find_own(bpe->vocab, part->data, part->len);
        return DF_OK;
    }
    for (size_t i = 0; i < part->len; i++) {
        size_t n = df_byte_spelling((uint8_t) part->data[i], spelling);

        DF_TRY(df_bytes_put(&s->word, spelling, n));
    }
    *id = df_vocab_find_own(bpe->vocab, s->word.data, s->word.len);
    return DF_OK;
}

df_status
df_bpe_encode(const struct df_bpe *bpe, struct df_bpe_scratch *s,
              const struct df_text *part, struct df_ids *ids)
{
    int32_t whole = -1;

    if (bpe->ignore_merges)
        DF_TRY(find_whole(bpe, s, part, &whole));
    if (whole >= 0)
        return df_ids_push(ids, whole, df_text_from(part, 0),
                           df_text_to(part, part->len - 1));
    DF_TRY(add_letters(bpe, s, part));
    DF_TRY(merge_symbols(bpe, s));
    for (int32_t i = s->n ? 0 : -1; i >= 0; i = s->symbol[i].next) {
        const struct df_symbol *symbol = &s->symbol[i];

        DF_TRY(df_ids_push(ids, symbol->id, df_text_from(part, symbol->start),
                           df_text_to(part, symbol->end - 1)));
    }
    return DF_OK;
}

void
df_bpe_scratch_free(struct df_bpe_scratch *s)
{
    free(s->symbol);
    free(s->heap);
    free(s->word.data);
    *s = (struct df_bpe_scratch){0};
}

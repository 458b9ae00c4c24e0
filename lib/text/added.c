#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <unictype.h>
#include <unistr.h>

#include "text/tokenizer_internal.h"

const struct df_added_token *
df_added_find(const struct df_added *added, int32_t id)
{
    if (id < 0 || (size_t) id >= added->of_ids || added->of_id[id] < 0)
        return NULL;
    return &added->token[added->of_id[id]];
}

/* White space and parts of words, as Rust's regex crate has them.  */
static bool
is_space(ucs4_t c)
{
    return uc_is_property_white_space(c);
}

static bool
is_word(ucs4_t c)
{
    const uint32_t classes =
        UC_CATEGORY_MASK_M | UC_CATEGORY_MASK_Nd | UC_CATEGORY_MASK_Pc;

    return uc_is_property_alphabetic(c) || uc_is_property_join_control(c)
           || uc_is_general_category_withtable(c, classes)
           || df_is_newer(c, "L") || df_is_newer(c, "M")
           || df_is_newer(c, "Nd");
}

/* The character that begins at byte I of TEXT, and where the next does.  */
static ucs4_t
char_at(const struct df_text *text, size_t i, size_t *next)
{
    ucs4_t c;
    int n =
        u8_mbtouc_unsafe(&c, (const uint8_t *) text->data + i, text->len - i);

    *next = i + (size_t) n;
    return c;
}

/* The character that ends before byte I > 0, and where it begins.  */
static ucs4_t
char_before(const struct df_text *text, size_t i, size_t *begin)
{
    size_t next;

    do
        i--;
    while (i > 0 && ((uint8_t) text->data[i] & 0xc0) == 0x80);
    *begin = i;
    return char_at(text, i, &next);
}

static bool
is_alone(const struct df_text *text, size_t start, size_t end)
{
    size_t unused;

    return (start == 0 || !is_word(char_before(text, start, &unused)))
           && (end == text->len || !is_word(char_at(text, end, &unused)));
}

static size_t
space_before(const struct df_text *text, size_t start)
{
    size_t begin;

    while (start > 0 && is_space(char_before(text, start, &begin)))
        start = begin;
    return start;
}

static size_t
space_behind(const struct df_text *text, size_t end)
{
    size_t next;

    while (end < text->len && is_space(char_at(text, end, &next)))
        end = next;
    return end;
}

/* The longest string of TRIE that TEXT has at byte START: its token and
 *END; or -1.  */
static int32_t
longest(const struct df_trie *trie, const struct df_text *text, size_t start,
        size_t *end)
{
    int32_t found = -1;
    uint64_t node = 0;

    for (size_t i = start; i < text->len; i++) {
        const struct df_pair *next =
            df_pairs_find(&trie->next, node << 8 | (uint8_t) text->data[i]);

        if (!next)
            break;
        node = next->rank;
        if (next->id >= 0) {
            found = next->id;
            *end = i + 1;
        }
    }
    return found;
}

/* The parts that have been dealt with.  */
struct cut {
    const struct df_text *text;
    struct df_ids *ids;
    df_text_sink *sink;
    void *context;
    size_t done;
};

static df_status
hand_on(const struct cut *cut, size_t end)
{
    struct df_text part;

    if (cut->done >= end)
        return DF_OK;
    part = df_text_part(cut->text, cut->done, end);
    return cut->sink(cut->context, &part);
}

/* TOKEN at [START, END).  The white space of the token before may have
   reached into it: then, as in Hugging Face, both have that, unless this
   one takes white space before it and nothing is left.  */
static df_status
take(struct cut *cut, const struct df_added_token *token, size_t start,
     size_t end)
{
    if (token->lstrip) {
        start = space_before(cut->text, start);
        if (start < cut->done)
            start = cut->done;
    }
    if (token->rstrip)
        end = space_behind(cut->text, end);
    if (start >= end)
        return DF_OK;
    DF_TRY(hand_on(cut, start));
    cut->done = end;
    return df_ids_push(cut->ids, token->id, df_text_from(cut->text, start),
                       df_text_to(cut->text, end - 1));
}

df_status
df_added_split(const struct df_added *added, const struct df_trie *trie,
               const struct df_text *text, struct df_ids *ids,
               df_text_sink *sink, void *context)
{
    struct cut cut = {text, ids, sink, context, 0};

    for (size_t i = 0, end; i < text->len;) {
        int32_t k = -1;

        if (trie->begins[(uint8_t) text->data[i]])
            k = longest(trie, text, i, &end);
        if (k < 0) {
            i++;
            continue;
        }
        if (!added->token[k].single_word || is_alone(text, i, end))
            DF_TRY(take(&cut, &added->token[k], i, end));
        i = end;
    }
    return hand_on(&cut, text->len);
}

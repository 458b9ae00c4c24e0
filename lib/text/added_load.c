#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <unistr.h>

#include "base/json_internal.h"
#include "text/load_internal.h"
#include "text/tokenizer_internal.h"

#define TOKEN_KEYS "id content single_word lstrip rstrip normalized special"

static df_status
trie_add(struct df_trie *trie, const struct df_added_token *token,
         int32_t index, const char *where)
{
    uint64_t node = 0, key = 0;
    const struct df_pair *next = NULL;

    for (size_t i = 0; i < token->shown_len; i++) {
        key = node << 8 | (uint8_t) token->shown[i];
        if (!df_pairs_find(&trie->next, key))
            DF_TRY(df_pairs_put(&trie->next, key, ++trie->nodes, -1));
        next = df_pairs_find(&trie->next, key);
        node = next->rank;
    }
    if (!next)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: added token %d is empty, or is "
                       "when normalized",
                       where, token->id);
    if (next->id >= 0)
        return DF_FAIL(DF_FORMAT,
                       "%s: added token %.80s is given twice, or two are the "
                       "same when normalized",
                       where, token->shown);
    trie->begins[(uint8_t) token->shown[0]] = true;
    return df_pairs_put(&trie->next, key, next->rank, index);
}

static df_status
keep_part(void *context, const struct df_text *part)
{
    return df_bytes_put(context, part->data, part->len);
}

/* What the normalizer makes of the LEN bytes at TEXT, into TOKEN.  */
static df_status
normalize(struct df_added_token *token, const char *text, size_t len,
          const struct df_steps *normalizer)
{
    struct df_text whole = {text, len, NULL, NULL, 0};
    struct df_bytes out = {0};
    struct df_matcher *m;
    df_status status;

    DF_TRY(df_matcher_new(&m));
    if (token->normalized && len > 0)
        status = df_steps_run(normalizer, 0, &whole, m, keep_part, &out);
    else
        status = df_bytes_put(&out, text, len);
    if (status == DF_OK)
        status = df_bytes_put(&out, "", 1);
    df_matcher_free(m);
    token->shown = out.data;
    token->shown_len = out.len ? out.len - 1 : 0;
    return status;
}

/* Hugging Face numbers the tokens that the model lacks itself, upwards from
   the number of the model's tokens, whatever "id" says.  So a file where
   the two differ has no ids to trust.  */
static df_status
check_id(const struct df_vocab *vocab, const char *text, size_t len,
         int64_t id, size_t next_id, const char *where)
{
    int64_t known = df_vocab_find(vocab, text, len);
    int64_t wanted = known >= 0 ? known : (int64_t) next_id;

    if (id == wanted)
        return DF_OK;
    return DF_FAIL(
        DF_FORMAT, "%s: added token %.80s has id %lld, where %s gives it %lld",
        where, text, (long long) id,
        known >= 0 ? "vocab" : "its place in the list", (long long) wanted);
}

static df_status
load_token(struct df_added *added, struct df_vocab *vocab, const json_t *value,
           size_t *next_id, const struct df_steps *normalizer,
           const char *where)
{
    struct df_added_token *token;
    const char *text;
    const json_t *number;
    int64_t id = -1;
    size_t len;

    if (!json_is_object(value))
        return DF_FAIL(DF_FORMAT, "%s: an added token is %s, not an object",
                       where, df_json_type_name(value));
    DF_TRY(df_load_keys(value, TOKEN_KEYS, where));
    DF_TRY(df_load_string(value, "content", &text, &len, where));
    DF_TRY(df_json_require(value, "id", &number, where));
    DF_TRY(df_json_get_int(value, "id", 0, DF_ID_LIMIT - 1, &id, where));
    DF_TRY(check_id(vocab, text, len, id, *next_id, where));
    if (df_vocab_find(vocab, text, len) < 0) {
        DF_TRY(df_vocab_add(vocab, text, len, id, true, where));
        ++*next_id;
    }
    DF_TRY(df_grow(&added->token, &added->cap, added->n + 1,
                   sizeof *added->token));
    token = &added->token[added->n++];
    *token = (struct df_added_token){.id = (int32_t) id};
    DF_TRY(df_load_bool(value, "single_word", &token->single_word, where));
    DF_TRY(df_load_bool(value, "lstrip", &token->lstrip, where));
    DF_TRY(df_load_bool(value, "rstrip", &token->rstrip, where));
    DF_TRY(df_load_bool(value, "normalized", &token->normalized, where));
    DF_TRY(df_load_bool(value, "special", &token->special, where));
    DF_TRY(normalize(token, text, len, normalizer));
    return trie_add(token->normalized ? &added->normalized : &added->raw,
                    token, (int32_t) (added->n - 1), where);
}

static df_status
index_ids(struct df_added *added, size_t ids, const char *where)
{
    added->of_id = malloc((ids ? ids : 1) * sizeof *added->of_id);
    if (!added->of_id)
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory for %zu ids", where, ids);
    added->of_ids = ids;
    for (size_t i = 0; i < ids; i++)
        added->of_id[i] = -1;
    for (size_t i = 0; i < added->n; i++) {
        int32_t *of = &added->of_id[added->token[i].id];

        if (*of >= 0)
            return DF_FAIL(DF_FORMAT, "%s: two added tokens have id %d", where,
                           added->token[i].id);
        *of = (int32_t) i;
    }
    return DF_OK;
}

df_status
df_added_load(struct df_added *added, struct df_vocab *vocab,
              const json_t *list, const struct df_steps *normalizer,
              const char *where)
{
    size_t next_id = vocab->n;

    if (list && !json_is_null(list) && !json_is_array(list))
        return DF_FAIL(DF_FORMAT, "%s: added_tokens is %s, not an array",
                       where, df_json_type_name(list));
    for (size_t i = 0; i < json_array_size(list); i++)
        DF_TRY(load_token(added, vocab, json_array_get(list, i), &next_id,
                          normalizer, where));
    return index_ids(added, vocab->size, where);
}

void
df_added_free(struct df_added *added)
{
    for (size_t i = 0; i < added->n; i++)
        free(added->token[i].shown);
    free(added->token);
    free(added->of_id);
    df_pairs_free(&added->raw.next);
    df_pairs_free(&added->normalized.next);
    *added = (struct df_added){0};
}

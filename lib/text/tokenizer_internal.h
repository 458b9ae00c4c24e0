/* tokenizer_internal.h - what a tokenizer consists of, in the order in which
   a text goes through it.  */

#ifndef DF_TOKENIZER_INTERNAL_H
#define DF_TOKENIZER_INTERNAL_H

#include "dflash/tokenizer.h"
#include "text/steps_internal.h"
#include "text/vocab_internal.h"

/* A token that is found in the text itself, before the model sees it.  */
struct df_added_token {
    int32_t id;
    char *shown; /* [shown_len] what it decodes to: normalized if it is */
    size_t shown_len;
    bool single_word;    /* not between or beside letters */
    bool lstrip, rstrip; /* takes the white space before, behind */
    bool normalized;     /* looked for in the normalized text */
    bool special;
};

/* A set of strings, walked a byte at a time.  Node 0 is the root.  */
struct df_trie {
    struct df_pairs next; /* node << 8 | byte: the node in .rank, and in .id
                             the added token that ends there, or -1 */
    uint32_t nodes;
    bool begins[256]; /* some string begins with this byte */
};

struct df_added {
    struct df_added_token *token; /* [n] */
    size_t n, cap;
    struct df_trie raw, normalized;
    int32_t *of_id; /* [of_ids] index in TOKEN, or -1 */
    size_t of_ids;
};

/* Read "added_tokens", LIST, which may be NULL; put those that VOCAB lacks
   into it.  */
DF_MUST_USE df_status df_added_load(struct df_added *added,
                                    struct df_vocab *vocab, const json_t *list,
                                    const struct df_steps *normalizer,
                                    const char *where);
void df_added_free(struct df_added *added);

/* The added token that ID is, or NULL.  */
const struct df_added_token *df_added_find(const struct df_added *added,
                                           int32_t id);

/* Find the tokens of TRIE (one of ADDED's) in TEXT: those go to IDS, what
   lies between them to SINK.  */
DF_MUST_USE df_status df_added_split(const struct df_added *added,
                                     const struct df_trie *trie,
                                     const struct df_text *text,
                                     struct df_ids *ids, df_text_sink *sink,
                                     void *context);

/* One step from token strings to text.  */
struct df_decode_step {
    enum df_decode_kind {
        DF_DECODE_BYTE_LEVEL,
        DF_DECODE_REPLACE, /* matches of REGEX by CONTENT */
        DF_DECODE_BYTE_FALLBACK,
        DF_DECODE_FUSE,
        DF_DECODE_STRIP,    /* CONTENT, START and STOP times */
        DF_DECODE_METASPACE /* CONTENT to a space, but not in the first
                               token if DROP_FIRST */
    } kind;
    struct df_regex *regex;
    char *content; /* [content_len] */
    size_t content_len;
    size_t start, stop;
    bool drop_first;
};

struct df_decoder {
    struct df_decode_step *step; /* [n]; n = 0: spaces between the tokens */
    size_t n, cap;
    bool given; /* there is a decoder, though perhaps without steps */
};

/* Strings one behind the other.  */
struct df_strings {
    struct df_bytes bytes;
    size_t *end; /* [n] where each ends in BYTES */
    size_t n, cap;
};
DF_MUST_USE df_status df_strings_put(struct df_strings *s, const char *text,
                                     size_t len);

/* Read "decoder", which may be NULL.  */
DF_MUST_USE df_status df_decoder_load(struct df_decoder *decoder,
                                      const json_t *value, const char *where);
/* Make of the token strings S the strings whose sequence is the text.  */
DF_MUST_USE df_status df_decoder_run(const struct df_decoder *decoder,
                                     struct df_strings *s);
void df_decoder_free(struct df_decoder *decoder);

/* The ids that the post-processor puts around a text.  */
struct df_post {
    int32_t *before, *behind; /* [n_before], [n_behind] */
    size_t n_before, n_behind;
};

/* Read "post_processor", which may be NULL.  Its ids must be in VOCAB.  */
DF_MUST_USE df_status df_post_load(struct df_post *post, const json_t *value,
                                   const struct df_vocab *vocab,
                                   const char *where);
void df_post_free(struct df_post *post);

enum df_role {
    DF_ROLE_BOS,
    DF_ROLE_EOS,
    DF_ROLE_UNK,
    DF_ROLE_SEP,
    DF_ROLE_PAD,
    DF_ROLE_CLS,
    DF_ROLE_MASK,
    DF_ROLES
};

/* What tokenizer_config.json and chat_template.jinja say.  */
struct df_tokenizer_config {
    int32_t role[DF_ROLES]; /* ids, or -1 */
    char *chat_template;    /* or NULL */
};

DF_MUST_USE df_status
df_tokenizer_config_load(struct df_tokenizer_config *config, const char *dir,
                         const struct df_vocab *vocab);

/* The role whose token tokenizer_config.json calls "NAME_token", or
   DF_ROLES.  */
enum df_role df_role_find(const char *name);

struct df_tokenizer {
    struct df_steps normalizer;
    struct df_steps pre_tokenizer;
    struct df_vocab vocab;
    struct df_bpe bpe;
    struct df_added added;
    struct df_post post;
    struct df_decoder decoder;
    struct df_tokenizer_config config;
    uint64_t hash;
};

#endif

/* tokenizer.h - text to token ids and back, as Hugging Face tokenizers does.

   A tokenizer is read from a folder that holds tokenizer.json with a
   byte-level BPE model, or a BPE model with byte fall-back, and perhaps
   tokenizer_config.json and chat_template.jinja beside it.  The ids are
   those of the `tokenizers` package, or opening the folder fails: every
   construct and every key of tokenizer.json that is not implemented is
   refused by name.

   After df_tokenizer_open a tokenizer never changes, so that any number of
   threads may encode and decode with one.  */

#ifndef DFLASH_TOKENIZER_H
#define DFLASH_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dflash/error.h"

DF_BEGIN_DECLS

struct df_tokenizer;

/* Token ids and where each came from.  Zeroed ({0}) is empty and ready;
   df_ids_free releases it.

   Token I stands for the bytes [starts[I], ends[I]) of the text given to
   the df_tokenizer_encode call that appended it.  Both never decrease
   within a call, but for tokenizers whose added tokens swallow spaces
   (rstrip) that are added tokens too.  Bytes which the normalizer rewrote
   are known only as far as the cluster they were in: e and U+0301 composed
   to one letter give each token of that letter the bytes of both.  What a
   normalizer or pre-tokenizer puts in front has the range of the byte it
   stands before.  A token that the post-processor adds has an empty
   range, at 0 before the text and at its length after it.  */
struct df_ids {
    int32_t *data;    /* [n] */
    uint32_t *starts; /* [n], bytes */
    uint32_t *ends;   /* [n], bytes */
    size_t n;
    size_t cap; /* entries that the three arrays have room for */
};

/* Forget the tokens, keep the memory.  */
DF_EXPORT void df_ids_clear(struct df_ids *ids);

/* Release the memory; IDS is then empty and usable again.  */
DF_EXPORT void df_ids_free(struct df_ids *ids);

/* The first token at or after FIRST that belongs to the text from byte
   BOUNDARY on: that ends behind BOUNDARY.  So a token that straddles the
   boundary belongs to the later side.  IDS->n if there is none.  */
DF_EXPORT size_t df_ids_from_byte(const struct df_ids *ids, size_t first,
                                  size_t boundary);

/* Read the tokenizer of the folder DIR.  The caller owns *OUT
   (df_tokenizer_free).  DF_IO without tokenizer.json; DF_FORMAT when a file
   is malformed or contradicts itself; DF_UNSUPPORTED for what would have to
   be approximated; DF_NO_MEMORY.  */
DF_EXPORT DF_MUST_USE df_status df_tokenizer_open(struct df_tokenizer **out,
                                                  const char *dir);

/* NULL is let through.  */
DF_EXPORT void df_tokenizer_free(struct df_tokenizer *tok);

enum {
    /* Let the post-processor put its tokens around the text (often the
       beginning-of-sequence token).  */
    DF_ADD_SPECIAL = 1
};

/* Append the tokens of the LEN bytes at TEXT to IDS; TEXT may hold NUL
   bytes.  Special tokens spelt out in TEXT become those tokens.  As in
   Hugging Face's tokenizers, a character that the vocabulary lacks is left
   out where the model has neither byte fall-back nor an unknown token;
   byte-level vocabularies have all.

   DF_INVALID when TEXT is not UTF-8, with the offset of the first bad byte,
   or longer than 1 GiB; DF_FORMAT when a pattern's backtracking passes the
   limit; DF_NO_MEMORY.  IDS is unchanged after a failure.  */
DF_EXPORT DF_MUST_USE df_status
df_tokenizer_encode(const struct df_tokenizer *tok, const char *text,
                    size_t len, int flags, struct df_ids *ids);

/* Turn N ids into *LEN bytes of UTF-8 at *TEXT, which a NUL follows that
   *LEN does not count; the caller frees it.  With SKIP_SPECIAL special
   tokens are left out.  Bytes that are not UTF-8 become U+FFFD.  DF_INVALID
   names an id which no token has; DF_NO_MEMORY.  */
DF_EXPORT DF_MUST_USE df_status
df_tokenizer_decode(const struct df_tokenizer *tok, const int32_t *ids,
                    size_t n, bool skip_special, char **text, size_t *len);

/* The id of TOKEN, spelt as in tokenizer.json (a space of a byte-level
   token is U+0120), or -1.  */
DF_EXPORT int32_t df_tokenizer_id(const struct df_tokenizer *tok,
                                  const char *token);

/* The spelling of ID as in tokenizer.json, borrowed, NUL-terminated; NULL
   when no token has that id.  */
DF_EXPORT const char *df_tokenizer_token(const struct df_tokenizer *tok,
                                         int32_t id);

/* The token that tokenizer_config.json names for ROLE: "bos", "eos", "unk",
   "sep", "pad", "cls" or "mask".  -1 when it names none.  */
DF_EXPORT int32_t df_tokenizer_special(const struct df_tokenizer *tok,
                                       const char *role);

/* The highest id + 1.  Ids below it may be unused.  */
DF_EXPORT int32_t df_tokenizer_size(const struct df_tokenizer *tok);

/* The source of the chat template, borrowed, or NULL: the file
   chat_template.jinja, else chat_template of tokenizer_config.json, of
   several the one named "default".  */
DF_EXPORT const char *
df_tokenizer_chat_template(const struct df_tokenizer *tok);

/* A hash of the bytes of tokenizer.json, to tell tokenizers apart.  */
DF_EXPORT uint64_t df_tokenizer_hash(const struct df_tokenizer *tok);

DF_END_DECLS
#endif

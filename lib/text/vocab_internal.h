/* vocab_internal.h - the tables of a BPE model, and merging by them.  */

#ifndef DF_VOCAB_INTERNAL_H
#define DF_VOCAB_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dflash/tokenizer.h"
#include "text/steps_internal.h"

/* Ids are below this, so that a wild one asks for no wild memory.  */
enum {
    DF_ID_LIMIT = 1 << 24
};

/* Strings and ids, one to one; an id may be unused.  */
struct df_vocab {
    struct df_bytes bytes; /* the strings, a NUL behind each */
    struct df_entry {
        uint32_t begin; /* in BYTES; UINT32_MAX: no token has this id */
        uint32_t len;
        bool added;   /* no part of the model's own vocabulary */
    } * entry;        /* [size] */
    size_t size, cap; /* the highest id + 1; the room */
    size_t n;         /* tokens */
    int32_t *slot;    /* [slots] ids by hash of the string, -1 if free */
    size_t slots;     /* a power of two, more than twice N */
};

/* Give TEXT [LEN] the id ID.  DF_FORMAT if either is taken.  */
DF_MUST_USE df_status df_vocab_add(struct df_vocab *v, const char *text,
                                   size_t len, int64_t id, bool added,
                                   const char *where);
int32_t df_vocab_find(const struct df_vocab *v, const char *text, size_t len);
/* Likewise, in the model's own vocabulary.  */
int32_t df_vocab_find_own(const struct df_vocab *v, const char *text,
                          size_t len);
/* The string of ID, or NULL; *LEN may be NULL.  */
const char *df_vocab_text(const struct df_vocab *v, int32_t id, size_t *len);
void df_vocab_free(struct df_vocab *v);

/* 64-bit keys, each with two numbers.  */
struct df_pairs {
    struct df_pair {
        uint64_t key; /* UINT64_MAX: free */
        uint32_t rank;
        int32_t id;
    } * slot;
    size_t slots, n; /* SLOTS is 0 or a power of two, at least twice N */
};

/* Add KEY, or change what it has.  */
DF_MUST_USE df_status df_pairs_put(struct df_pairs *p, uint64_t key,
                                   uint32_t rank, int32_t id);
const struct df_pair *df_pairs_find(const struct df_pairs *p, uint64_t key);
void df_pairs_free(struct df_pairs *p);

/* The model: how a part of text becomes ids.  */
struct df_bpe {
    const struct df_vocab *vocab;
    struct df_pairs merges; /* left << 32 | right: rank, and what comes out */
    bool byte_level;        /* letters are bytes, else characters */
    int32_t letter[256];    /* ids of the bytes, or of ASCII; -1: none */
    int32_t fallback[256];  /* ids of <0x00> to <0xFF>, if BYTE_FALLBACK */
    bool byte_fallback, ignore_merges, fuse_unk;
    bool has_unk;
    int32_t unk; /* -1: HAS_UNK, but the vocabulary lacks it */
};

/* Read "model" of tokenizer.json into VOCAB, then into BPE, which keeps
   VOCAB.  */
DF_MUST_USE df_status df_vocab_load(struct df_vocab *v, const json_t *model,
                                    const char *where);
DF_MUST_USE df_status df_bpe_load(struct df_bpe *bpe, const struct df_vocab *v,
                                  const json_t *model, bool byte_level,
                                  const char *where);
void df_bpe_free(struct df_bpe *bpe);

/* What one encode call works with; {0} to begin with.  */
struct df_bpe_scratch {
    struct df_symbol {
        int32_t id;          /* -1: merged into the one before */
        int32_t prev, next;  /* -1: none */
        uint32_t start, end; /* bytes of the part */
    } * symbol;
    size_t symbol_cap, n;
    struct df_merge {
        uint64_t order; /* rank << 32 | position of the left one */
        int32_t left, right, id;
    } * heap;
    size_t heap_cap, merges;
    struct df_bytes word; /* a part in byte-level spelling */
};
void df_bpe_scratch_free(struct df_bpe_scratch *s);

/* Append the tokens of PART to IDS.  */
DF_MUST_USE df_status df_bpe_encode(const struct df_bpe *bpe,
                                    struct df_bpe_scratch *s,
                                    const struct df_text *part,
                                    struct df_ids *ids);

/* Append one token to IDS.  */
DF_MUST_USE df_status df_ids_push(struct df_ids *ids, int32_t id,
                                  uint32_t start, uint32_t end);

/* Byte-level spelling: each byte is written as one printable character.
   Its code point, and back: -1 if CODE stands for no byte.  */
uint32_t df_byte_to_code(uint8_t byte);
int df_code_to_byte(uint32_t code);

/* Write the UTF-8 of CODE (below U+0800) to TO; return its length.  */
size_t df_byte_spelling(uint8_t byte, char to[2]);

#endif

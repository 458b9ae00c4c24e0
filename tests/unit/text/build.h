/* build.h - small tokenizers, written into a scratch folder and opened.

   JSON parts are written with ' for " and ` for '.  */

#ifndef TESTS_TEXT_BUILD_H
#define TESTS_TEXT_BUILD_H

#include <stddef.h>

#include "dflash/tokenizer.h"

/* The parts of a tokenizer.json; NULL is what says nothing.  */
struct parts {
    /* "CONTENT/FLAGS CONTENT/FLAGS": flags l lstrip, r rstrip, w single
       word, n normalized, s special; ~ in CONTENT is a space.  They are
       numbered from the size of the vocabulary on, unless in it.  */
    const char *added;
    const char *normalizer, *pre_tokenizer, *post, *decoder; /* JSON */
    /* "TOKEN TOKEN;MERGE,MERGE": ids from 0 on.  With a leading @ the 256
       byte-level letters go first.  A merge is "a b" in the older spelling,
       "a+b" in the newer.  */
    const char *words;
    const char *model; /* more keys of the model, each behind a comma */
};

/* The scratch folder, made at first use and removed by build_end.  */
const char *build_dir(void);
void build_end(void);

/* Write TEXT to NAME in the scratch folder, as JSON with its quotes turned
   or as it is; NULL removes NAME
   (plain only).  */
void build_file(const char *name, const char *text);
void build_plain_file(const char *name, const char *text);

/* Write tokenizer.json from PARTS.  */
void build_json(const struct parts *parts);

/* Write it and open it: NULL if that fails.  */
struct df_tokenizer *build(const struct parts *parts);

/* The spellings of IDS with | between them, in a buffer of its own.  */
const char *build_tokens(const struct df_tokenizer *tok,
                         const struct df_ids *ids);

#endif

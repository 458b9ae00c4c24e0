/* regex_internal.h - the patterns of tokenizer.json, matched by PCRE2.

   Hugging Face matches them with Oniguruma in its Ruby syntax.  A pattern is
   translated to the PCRE2 pattern of the same meaning, or refused: see
   pattern.c.  Compiled patterns are shared by threads; what a match writes
   to is a df_matcher, one a call.  */

#ifndef DF_REGEX_INTERNAL_H
#define DF_REGEX_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "dflash/error.h"
#include "text/bytes_internal.h"

struct df_regex;
struct df_matcher;

/* Compile the LEN bytes at PATTERN: as a regular expression, or if LITERAL
   as a text.  WHERE begins the message.  DF_UNSUPPORTED when the pattern is
   not in the common part of both languages.  */
DF_MUST_USE df_status df_regex_new(struct df_regex **out, const char *pattern,
                                   size_t len, bool literal,
                                   const char *where);
void df_regex_free(struct df_regex *re);
bool df_regex_matches_empty(const struct df_regex *re);

DF_MUST_USE df_status df_matcher_new(struct df_matcher **out);
void df_matcher_free(struct df_matcher *m);

/* A walk over the matches in a text: {.text, .len} to begin with.  An empty
   match just behind the previous match is passed over.  */
struct df_matches {
    const char *text; /* [len], valid UTF-8 */
    size_t len;
    size_t start, end; /* the match that was found */
    size_t at;         /* where the next search begins */
    bool any;          /* there was a match, and END is its end */
};

/* Find the next match.  DF_END when there is none; DF_FORMAT when PCRE2
   gives up, as it does at its backtracking limit.  */
DF_MUST_USE df_status df_matches_next(struct df_matches *ms,
                                      const struct df_regex *re,
                                      struct df_matcher *m);

/* Append the PCRE2 form of the Oniguruma pattern [LEN] to OUT.  */
DF_MUST_USE df_status df_pattern_translate(struct df_bytes *out,
                                           const char *pattern, size_t len,
                                           const char *where);

/* What Unicode 15 and 16 added, unknown to older libraries.  Append the
   ranges of those with property NAME (a general category or script) as the
   inside of a character class; or ask whether C is one of them.  */
DF_MUST_USE df_status df_pattern_newer(struct df_bytes *out, const char *name);
bool df_is_newer(uint32_t c, const char *name);

#endif

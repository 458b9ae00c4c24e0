/* steps_internal.h - normalizers and pre-tokenizers as one list of steps.

   A step rewrites a text or splits it, and hands each part to the next
   step; the last hands it to its caller.  Every text knows which bytes of
   the caller's text each of its own came from.  */

#ifndef DF_STEPS_INTERNAL_H
#define DF_STEPS_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uninorm.h>

#include "dflash/error.h"
#include "text/regex_internal.h"

/* Borrowed, valid UTF-8.  Byte I came from [from[I], to[I]), or where FROM
   is NULL from BASE + I alone.  */
struct df_text {
    const char *data; /* [len] */
    size_t len;
    const uint32_t *from, *to; /* [len], or NULL */
    size_t base;
};

static inline uint32_t
df_text_from(const struct df_text *t, size_t i)
{
    return t->from ? t->from[i] : (uint32_t) (t->base + i);
}

static inline uint32_t
df_text_to(const struct df_text *t, size_t i)
{
    return t->from ? t->to[i] : (uint32_t) (t->base + i + 1);
}

/* The bytes [START, END) of T.  */
static inline struct df_text
df_text_part(const struct df_text *t, size_t start, size_t end)
{
    return (struct df_text){t->data + start, end - start,
                            t->from ? t->from + start : NULL,
                            t->from ? t->to + start : NULL, t->base + start};
}

/* A text being written; {0} is empty, df_draft_free releases it.  */
struct df_draft {
    char *data;
    uint32_t *from, *to;
    size_t len, cap;
};

/* Append the LEN bytes at DATA, all from [FROM, TO).  */
DF_MUST_USE df_status df_draft_put(struct df_draft *d, const char *data,
                                   size_t len, uint32_t from, uint32_t to);
/* Append the bytes [START, END) of T, each from where it was from.  */
DF_MUST_USE df_status df_draft_copy(struct df_draft *d,
                                    const struct df_text *t, size_t start,
                                    size_t end);
struct df_text df_draft_text(const struct df_draft *d);
void df_draft_free(struct df_draft *d);

enum df_step_kind {
    DF_STEP_NORMALIZE, /* to form FORM */
    DF_STEP_LOWERCASE,
    DF_STEP_PREPEND, /* CONTENT, if WHEN */
    DF_STEP_REPLACE, /* matches of REGEX by CONTENT */
    DF_STEP_SPLIT    /* at matches of REGEX, as BEHAVIOR says */
};

enum df_prepend {
    DF_PREPEND_ALWAYS,
    DF_PREPEND_UNLESS_THERE, /* the text doesn't begin with CONTENT */
    DF_PREPEND_AT_START      /* likewise, and it begins the caller's text */
};

/* What becomes of the matches between the parts.  */
enum df_split {
    DF_SPLIT_REMOVED,
    DF_SPLIT_ISOLATED,
    DF_SPLIT_WITH_PREVIOUS,
    DF_SPLIT_WITH_NEXT,
    DF_SPLIT_CONTIGUOUS /* a run of matches is one part */
};

struct df_step {
    enum df_step_kind kind;
    uninorm_t form;
    struct df_regex *regex;
    char *content; /* [content_len] */
    size_t content_len;
    enum df_prepend when;
    enum df_split behavior;
    bool invert; /* what doesn't match counts as a match */
};

struct df_steps {
    struct df_step *step; /* [n] */
    size_t n, cap;
    bool byte_level; /* the parts' bytes are the model's letters */
    bool at_start;   /* a step looks at where the caller's text begins */
};

/* What takes a part.  It is never empty.  */
typedef df_status df_text_sink(void *context, const struct df_text *part);

/* Put TEXT through STEPS from step FIRST on.  */
DF_MUST_USE df_status df_steps_run(const struct df_steps *steps, size_t first,
                                   const struct df_text *text,
                                   struct df_matcher *m, df_text_sink *sink,
                                   void *context);

/* Rewrite IN by STEP (any kind but split and replace): *CHANGED says whether
   OUT, empty before, holds the result, or nothing changed.  */
DF_MUST_USE df_status df_step_rewrite(const struct df_step *step,
                                      const struct df_text *in,
                                      struct df_draft *out, bool *changed);

/* Add to STEPS what "normalizer" or "pre_tokenizer" says.  VALUE may be
   NULL.  */
DF_MUST_USE df_status df_steps_normalizer(struct df_steps *steps,
                                          const json_t *value,
                                          const char *where);
DF_MUST_USE df_status df_steps_pre_tokenizer(struct df_steps *steps,
                                             const json_t *value,
                                             const char *where);
void df_steps_free(struct df_steps *steps);

/* The regex of {"Regex": ...} or {"String": ...}, key "pattern" of OBJ.  */
DF_MUST_USE df_status df_pattern_load(struct df_regex **out, const json_t *obj,
                                      const char *where);

#endif

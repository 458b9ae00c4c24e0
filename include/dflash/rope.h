/* rope.h - rotary position embedding: how a config describes it, and the
   tables that a forward pass reads.

   The tables follow transformers step by step in float32, because a
   difference in the last bit of a frequency is multiplied by the position.
   Feature i pairs with feature i + head_dim/2 (rotate-half).  */

#ifndef DFLASH_ROPE_H
#define DFLASH_ROPE_H

#include <stdbool.h>

#include "dflash/error.h"

DF_BEGIN_DECLS

/* One row a type: name, as configs spell it.  */
#define DF_ROPE_TYPES(X) \
    X(DEFAULT, default)  \
    X(LINEAR, linear)    \
    X(LLAMA3, llama3)    \
    X(YARN, yarn)

enum df_rope_type {
#define X(name, text) DF_ROPE_##name,
    DF_ROPE_TYPES(X)
#undef X
};

/* A member that TYPE does not use is 0 or false.  */
struct df_rope {
    enum df_rope_type type;
    double theta;              /* above 1 */
    double factor;             /* all but default */
    int original_max_position; /* llama3, yarn: positions before scaling */
    double low_freq_factor;    /* llama3 */
    double high_freq_factor;   /* llama3: above the low one */
    double attention_factor;   /* yarn; 0: derived from the others */
    double beta_fast;          /* yarn */
    double beta_slow;          /* yarn */
    double mscale;             /* yarn; 0: not given */
    double mscale_all_dim;     /* yarn; 0: not given */
    bool truncate;             /* yarn: correction range in whole features */
};

/* "default" and so on.  */
DF_EXPORT const char *df_rope_type_name(enum df_rope_type type);

/* INV_FREQ [head_dim/2]: radians a position.  Returns what cosines and sines
   are multiplied by.  HEAD_DIM is even.  */
DF_EXPORT float df_rope_frequencies(const struct df_rope *r, int head_dim,
                                    float *inv_freq);

/* COS and SIN [positions, head_dim/2] for positions 0 and up, with the
   factor of df_rope_frequencies in them.  DF_NO_MEMORY.  */
DF_EXPORT DF_MUST_USE df_status df_rope_table(const struct df_rope *r,
                                              int head_dim, int positions,
                                              float *cos_out, float *sin_out);

DF_END_DECLS
#endif

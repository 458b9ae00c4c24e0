/* op_draw.h - the arguments of the operations that draw tokens from logits.

   As op_args.h, which includes it.  */

#ifndef DFLASH_OP_DRAW_H
#define DFLASH_OP_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dflash/defs.h"

DF_BEGIN_DECLS

/* How tokens are drawn.  For the token at a place of a request,
     g[v] = -log(-log u),  u = ((n[v % 4] >> 9) + 0.5) * 2^-23,
     n = df_philox(KEY, purpose << 28 | v / 4, place, request & 2^32-1,
                   request >> 32),
   so that the v with the greatest log p[v] + g[v] has been drawn with
   probability p[v].  TEMPERATURE 0: the v with the greatest logit, the least
   on ties.  */
enum df_draw_purpose {
    DF_DRAW_TARGET, /* from what the target says */
    DF_DRAW_DRAFT,  /* from what the drafter says */
    DF_DRAW_ACCEPT  /* whether a drafted token stays */
};
struct df_draw {
    float temperature; /* at least 0 */
    uint64_t key;
    const uint64_t *request; /* [R] of each row; unused at temperature 0 */
    const int32_t *place;    /* [R] of the row's own token, likewise */
};

/* token[r] = what is drawn from softmax(z[r] / temperature): by the drafter
   for the row's own place, or else for the place behind it.  Rows whose
   number is a multiple of KEEP, if that isn't 0, keep their token.  */
struct df_pick_args {
    int32_t *token; /* [R] */
    const float *z; /* [R,V] */
    struct df_draw draw;
    size_t R, V, keep;
    size_t ldz;
    bool drafter;
};

/* Verify B blocks of b rows: ids[n,0] and drafted tokens behind it.  z are
   the target's logits of these rows.  At temperature 0 a drafted token stays
   if it is the greatest logit of the row before it, and the first row whose
   successor doesn't stay, or the last row, gives a token of its own: its
   greatest.

   Else, with p and q the softmax of z and of the drafter's logits, over the
   temperature: the token x of row j stays with probability p[x] / q[x], p
   being of row j-1 (Leviathan et al. 2023); and the own token is drawn from
   max(p - q, 0), or from p behind the last row.  So what comes out is
   distributed as if it had been drawn from p, token by token.

   result[n] = how many tokens there are: those that stay and one, then
   these tokens.  FORCED > 0: so many there are, whatever the logits.  */
struct df_verify_args {
    int32_t *result;    /* [B,b+1] */
    const float *z;     /* [B*b,V] */
    const float *draft; /* [B*b,V]; NULL at temperature 0 */
    const int32_t *ids; /* [B*b] */
    struct df_draw draw;
    size_t B, b, V;
    size_t ldz;    /* of Z and DRAFT */
    size_t forced; /* at most b */
};

DF_END_DECLS
#endif

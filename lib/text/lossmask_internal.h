/* lossmask_internal.h - which bytes of a rendered conversation are
   supervised, and which tokens that makes.

   An assistant turn is found by rendering what comes before it with the
   generation prompt (P) and with the turn itself (F): what F has beyond P is
   the turn.  If every F is how the rendering of the whole conversation
   begins, that rendering is one sample with all its turns; otherwise each F
   is a sample with its last turn alone.  */

#ifndef DF_LOSSMASK_INTERNAL_H
#define DF_LOSSMASK_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dflash/data.h"
#include "dflash/template.h"
#include "dflash/tokenizer.h"

/* Bytes [begin, end) of a text.  */
struct df_span {
    size_t begin, end;
};

/* A conversation, and how to render it; all borrowed.  */
struct df_chat_def {
    const struct df_template *tmpl;
    const char *source;     /* of TMPL */
    const json_t *messages; /* of a struct df_record */
    const json_t *extra;    /* variables of the template, or NULL */
    bool has_tools;         /* EXTRA has tools of the conversation */
    bool last_turn_only;
    bool prompt;       /* what comes before a turn is wanted, and no turn */
    const char *where; /* file and line, for messages */
};

/* What becomes of it.  */
struct df_chat {
    struct df_chat_def def;
    enum df_data_reason reason; /* other than DF_DATA_USED: no samples */
    char detail[256];           /* more about REASON, or "" */
    size_t parts;               /* samples */
    size_t turns;               /* supervised */
    size_t *turn;               /* [turns] which messages they are */
    struct df_span *span;       /* [turns] in the text of the sample */
    bool one;                   /* one sample has all the turns */
    char *text;                 /* of the sample that was asked for last */
    size_t len;
};

/* Find the samples of DEF.  A conversation that is of no use is no failure:
   CHAT->reason tells.  DF_UNSUPPORTED if the template can't be rendered for
   another reason than the conversation.  Undo with df_chat_clear, after a
   failure too.  */
DF_MUST_USE df_status df_chat_init(struct df_chat *chat,
                                   const struct df_chat_def *def);
void df_chat_clear(struct df_chat *chat);

/* Make CHAT->text that of sample number PART.  The N supervised spans of it
   are borrowed.  */
DF_MUST_USE df_status df_chat_text(struct df_chat *chat, size_t part,
                                   const struct df_span **spans, size_t *n);

/* Set MASK[ids->n] to 1 for the tokens of the N SPANS, ascending, and to 0
   elsewhere.  A token across a span's border belongs to what comes behind
   the border.  */
void df_lossmask_set(uint8_t *mask, const struct df_ids *ids,
                     const struct df_span *spans, size_t n);

#endif

/* records_internal.h - what a record of a data set holds, by its keys.  */

#ifndef DF_RECORDS_INTERNAL_H
#define DF_RECORDS_INTERNAL_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "dflash/error.h"

enum df_shape {
    DF_SHAPE_IDS,    /* input_ids and loss_mask */
    DF_SHAPE_CHAT,   /* messages, conversations */
    DF_SHAPE_PROMPT, /* prompt and completion; or a prompt alone */
    DF_SHAPE_TEXT    /* text */
};

/* A record, as far as its shape is known.  */
struct df_record {
    enum df_shape shape;
    json_t *json; /* all of it, owned */

    /* DF_SHAPE_IDS, both borrowed from JSON.  */
    const json_t *ids, *mask;

    /* DF_SHAPE_CHAT and DF_SHAPE_PROMPT: objects with role (system,
       developer, user, assistant or tool) and content (a string); other
       keys are as they were.  Owned.  */
    json_t *messages;
    json_t *tools; /* owned, or NULL */

    /* DF_SHAPE_TEXT (TEXT) and DF_SHAPE_PROMPT, borrowed from JSON.  */
    const json_t *text, *prompt, *completion;
};

/* Find the shape of JSON and take it over, also after a failure.  WHERE is
   the file and line, "data.jsonl:12".  DF_FORMAT for an unknown shape or a
   value of the wrong type, DF_UNSUPPORTED for an unknown role or a part of a
   message that isn't text.  Undo with df_record_clear.  */
DF_MUST_USE df_status df_record_init(struct df_record *rec, json_t *json,
                                     const char *where);

/* The same for a record that a prompt is wanted of: it may have one of the
   shapes that are nothing else.  */
DF_MUST_USE df_status df_record_init_prompt(struct df_record *rec,
                                            json_t *json, const char *where);
void df_record_clear(struct df_record *rec);

/* Copy the ids and the mask of a DF_SHAPE_IDS record, as many as
   json_array_size(REC->ids).  DF_FORMAT unless there are as many mask entries
   as ids, the ids are in [0, VOCAB), and the entries 0, 1, false or true.  */
DF_MUST_USE df_status df_record_ids(const struct df_record *rec, int32_t vocab,
                                    int32_t *ids, uint8_t *mask,
                                    const char *where);

#endif

/* jsonl_internal.h - the lines of a JSONL file.  */

#ifndef DF_JSONL_INTERNAL_H
#define DF_JSONL_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dflash/error.h"

/* A line that isn't blank, without its end.  */
struct df_line {
    size_t offset, len; /* bytes */
    uint64_t number;    /* from 1, blank lines counted */
};

/* Where the search for lines stands; zeroed but for DATA[size] at the
   beginning.  */
struct df_jsonl {
    const uint8_t *data;
    size_t size;
    size_t at;
    uint64_t number; /* of the last line */
};

/* The next line that isn't blank, or false at the end.  A byte order mark
   at the start of the file is no part of a line; a carriage return at the
   end of one neither.  */
bool df_jsonl_next(struct df_jsonl *it, struct df_line *out);

/* Parse the LEN bytes at TEXT, line NUMBER of FILE, as a JSON object.  The
   caller owns *OUT (json_decref).  DF_FORMAT, with file, line and column.  */
DF_MUST_USE df_status df_jsonl_parse(json_t **out, const char *text,
                                     size_t len, const char *file,
                                     uint64_t number);

#endif

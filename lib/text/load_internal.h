/* load_internal.h - reading the parts of tokenizer.json, strictly: a key
   that nobody reads might change results, so it is refused.  */

#ifndef DF_LOAD_INTERNAL_H
#define DF_LOAD_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "dflash/error.h"

/* An object with a "type", such as a normalizer.  */
struct df_part {
    const json_t *obj;
    const char *type;
    char where[400]; /* "FILE: normalizer of type NFC" */
};

/* Open VALUE, which messages call WHAT.  DF_FORMAT unless it is an object
   whose "type" is a string.  */
DF_MUST_USE df_status df_part_open(struct df_part *part, const json_t *value,
                                   const char *what, const char *where);

/* The failure that says PART's type is not supported.  */
df_status df_part_refuse(const struct df_part *part);

/* DF_UNSUPPORTED if OBJ has a key that isn't in KEYS, words with spaces
   between them.  */
DF_MUST_USE df_status df_load_keys(const json_t *obj, const char *keys,
                                   const char *where);

/* KEY of OBJ, which must be a string; borrowed.  It may hold NULs.  */
DF_MUST_USE df_status df_load_string(const json_t *obj, const char *key,
                                     const char **text, size_t *len,
                                     const char *where);

/* As df_load_string, copied: the caller frees *TEXT.  */
DF_MUST_USE df_status df_load_copy(const json_t *obj, const char *key,
                                   char **text, size_t *len,
                                   const char *where);

/* KEY of OBJ, which must be true or false.  */
DF_MUST_USE df_status df_load_bool(const json_t *obj, const char *key,
                                   bool *out, const char *where);

/* KEY of OBJ, which must be an array.  */
DF_MUST_USE df_status df_load_array(const json_t *obj, const char *key,
                                    const json_t **out, const char *where);

#endif

/* json_internal.h - reading JSON so that a mistake is named with its place.

   WHERE is what the message begins with: a file name, or a file name and
   the path of an object in it.  All getters leave *OUT alone and return
   DF_OK when KEY is absent or null, so that the caller's value is the
   default; REQUIRED getters fail instead.  */

#ifndef DF_JSON_INTERNAL_H
#define DF_JSON_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dflash/error.h"

/* Parse the file PATH, or the LEN bytes at TEXT which messages call NAME.
   Duplicate keys and trailing text are refused.  The caller owns *OUT
   (json_decref).  DF_IO, DF_FORMAT (with line and column), DF_NO_MEMORY.  */
DF_MUST_USE df_status df_json_load(json_t **out, const char *path);
DF_MUST_USE df_status df_json_parse(json_t **out, const char *text, size_t len,
                                    const char *name);

/* As df_json_parse, for a text that begins in line LINE of NAME.  */
DF_MUST_USE df_status df_json_parse_line(json_t **out, const char *text,
                                         size_t len, const char *name,
                                         uint64_t line);

/* As df_json_load, but an absent file is no failure: *OUT is NULL.  */
DF_MUST_USE df_status df_json_load_if_exists(json_t **out, const char *path);

/* KEY of OBJ as an integer in [MIN, MAX]; a real number is refused.  */
DF_MUST_USE df_status df_json_get_int(const json_t *obj, const char *key,
                                      int64_t min, int64_t max, int64_t *out,
                                      const char *where);
DF_MUST_USE df_status df_json_get_real(const json_t *obj, const char *key,
                                       double *out, const char *where);
DF_MUST_USE df_status df_json_get_bool(const json_t *obj, const char *key,
                                       bool *out, const char *where);
/* *OUT is borrowed from OBJ.  */
DF_MUST_USE df_status df_json_get_string(const json_t *obj, const char *key,
                                         const char **out, const char *where);

/* KEY of OBJ, which must be there: else "WHERE: no KEY".  */
DF_MUST_USE df_status df_json_require(const json_t *obj, const char *key,
                                      const json_t **out, const char *where);

/* "an object", "a string" and so on, for messages.  */
const char *df_json_type_name(const json_t *value);

#endif

/* golden.h - numbers computed by other people's programs.

   The folders come from DFLASH_GOLDEN, separated by colons; each has
   targets/, drafter/ and tokenizers/ inside as present.  Without the
   variable it is golden/ in DFLASH_SHARED.  */

#ifndef DF_GOLDEN_H
#define DF_GOLDEN_H

#include <jansson.h>
#include <stdbool.h>

#include "dflash/safetensors.h"

enum {
    GOLDEN_MAX = 256
};

/* The paths FOLDER/KIND/NAME of all golden folders, sorted within each;
   NULL behind the last.  Bails out if there are too many; skips the whole
   test if there are none.  */
char **golden_cases(const char *kind);

/* The file NAME of the case at PATH: parsed, or opened; bails out if that
   fails.  */
json_t *golden_json(const char *path, const char *name);
struct df_tensors *golden_tensors(const char *path, const char *name);

/* A tensor of TS as floats or 32-bit integers, to be freed; bails out if it
   is absent.  */
float *golden_floats(const struct df_tensors *ts, const char *name);
int32_t *golden_ints(const struct df_tensors *ts, const char *name);

/* |a - b| / |b| over N floats.  */
double golden_error(const float *a, const float *b, size_t n);

#endif

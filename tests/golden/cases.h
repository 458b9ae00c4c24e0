/* cases.h - golden cases that are folders of tensors: targets and
   drafters.  */

#ifndef DF_GOLDEN_CASES_H
#define DF_GOLDEN_CASES_H

#include <jansson.h>
#include "dflash/safetensors.h"

/* The paths FOLDER/KIND/NAME of all golden folders, sorted within each;
   NULL behind the last, to be freed by golden_free.  Skips the whole test
   if there are none.  */
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

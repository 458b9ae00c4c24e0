/* cases.h - golden cases that are folders of tensors: targets and
   drafters.  */

#ifndef DF_GOLDEN_CASES_H
#define DF_GOLDEN_CASES_H

#include <jansson.h>
#include "dflash/device.h"
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

/* The device that DFLASH_TEST_DEVICE names, cpu by default; skips the whole
   test if there is none.  */
struct df_device *golden_device(void);

/* Device memory for COUNT elements of act.  */
void *golden_alloc(struct df_device *dev, size_t count);

/* The COUNT elements of act at SRC on DEV as floats, to be freed; and floats
   to there, rounded if act is bf16.  */
float *golden_download(struct df_device *dev, const void *src, size_t count);
void golden_upload(struct df_device *dev, void *dst, const float *src,
                   size_t count);

/* |a - b| / |b| over N floats.  */
double golden_error(const float *a, const float *b, size_t n);

#endif

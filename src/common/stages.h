/* stages.h - what a tool says of its pipe at the end.  */

#ifndef DF_STAGES_H
#define DF_STAGES_H

#include <jansson.h>
#include <stdio.h>

#include "dflash/train.h"

/* A row a stage, and the bottleneck.  */
void stages_print(FILE *fp, const struct df_run_stats *r);

/* The same as a JSON array.  */
json_t *stages_as_json(const struct df_run_stats *r);

/* Write JSON, which is taken over and may be NULL, to the file PATH.  */
df_status stages_write(json_t *json, const char *path);

/* The most memory that the process had, in bytes.  */
double peak_memory(void);

#endif

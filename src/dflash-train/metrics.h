/* metrics.h - a JSON line a step, and a JSON line an evaluation.  */

#ifndef DF_TRAIN_METRICS_H
#define DF_TRAIN_METRICS_H

#include "dflash-train/session.h"

/* Open the file; a resumed run keeps the lines of the steps before it.  */
df_status metrics_open(struct session *s);

void metrics_write(FILE *fp, const struct df_record *r);

#endif

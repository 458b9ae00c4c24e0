/* metrics.h - a JSON line a step, an evaluation, a trial.  */

#ifndef DF_TRAIN_METRICS_H
#define DF_TRAIN_METRICS_H

#include "dflash-train/session.h"

/* Open the file; a resumed run keeps the lines of the steps before it.  */
df_status metrics_open(struct session *s);

/* Write the line of R; false when that failed, for metrics_check to tell.  */
bool metrics_write(struct session *s, const struct df_record *r);

/* The same for a trial.  Its line may come from another thread.  */
bool metrics_write_decoded(struct session *s, const struct df_decoded *d);

/* DF_IO, naming the file, when a line could not be written.  */
df_status metrics_check(const struct session *s);

#endif

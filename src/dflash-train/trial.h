/* trial.h - the drafter tried out by decoding, and the best one kept.  */

#ifndef DF_TRAIN_TRIAL_H
#define DF_TRAIN_TRIAL_H

#include "dflash-train/session.h"

/* Read the prompts of the evaluation data, as many as are wanted.  */
df_status trial_open(struct session *s);
void trial_close(struct trial *t);

/* What the run is told of it.  */
struct df_trial trial_options(const struct session *s);

/* A call of the run: note the accept length, and keep the drafter in best/
   if none was better.  */
df_status trial_decoded(void *arg, const struct df_decoded *decoded);

/* The summary's line, if there was a trial.  */
void trial_print(const struct session *s);

#endif

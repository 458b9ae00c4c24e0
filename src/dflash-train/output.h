/* output.h - the output folder.

       OUTPUT/config.txt      the options, for --config
              metrics.jsonl   a line a step
              checkpoints/    step-N
              drafter/        config.json, model.safetensors; at the end
              best/           the same of the drafter that was the best one
                              to decode with, and accept.json  */

#ifndef DF_TRAIN_OUTPUT_H
#define DF_TRAIN_OUTPUT_H

#include "dflash-train/session.h"

/* Look at the folder without changing anything: refuse one that can't be
   written or holds another run, find the checkpoint to resume.  */
df_status find_output(struct session *s);

/* What a resumed run must share with this one, and the options as text.  */
df_status describe_identity(struct session *s);

/* Have WRITE fill a new folder, which then takes the place of NAME in the
   output folder.  */
typedef df_status output_fn(struct session *s, const char *dir);
df_status output_replace(const char *name, output_fn *write,
                         struct session *s);

/* "OUTPUT/NAME", to be freed; NULL when there is no memory.  */
char *output_path(const char *name);

#endif

/* output.h - the output folder.

       OUTPUT/config.txt      the options, for --config
              metrics.jsonl   a line a step
              checkpoints/    step-N
              drafter/        config.json, model.safetensors; at the end  */

#ifndef DF_TRAIN_OUTPUT_H
#define DF_TRAIN_OUTPUT_H

#include "dflash-train/session.h"

/* Look at the folder without changing anything: refuse one that can't be
   written or holds another run, find the checkpoint to resume.  */
df_status find_output(struct session *s);

/* What a resumed run must share with this one, and the options as text.  */
df_status describe_identity(struct session *s);

/* "OUTPUT/NAME", to be freed; NULL when there is no memory.  */
char *output_path(const char *name);

#endif

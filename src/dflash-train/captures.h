/* captures.h - training from captures instead of a target that runs.

   The samples of files are planned as those of data sets are, by the lengths
   and the seed, so that the losses are those of live training.  A pipe comes
   in the order and in the batches of the run that captured.

   A sample that is bad (its rows disagree with their checks, a token is none
   of the target's) or longer than --max-length is left out and counted, or
   stops the run if --strict says so.  */

#ifndef DF_TRAIN_CAPTURES_H
#define DF_TRAIN_CAPTURES_H

#include "dflash-train/session.h"

/* Open what --captures and --eval-captures name, after copying a stream if
   --spool says so; take the captured layers and the limits of batches from
   there; compare with the target.  */
df_status captures_open(struct session *s);
void captures_close(struct capture_source *source);

/* Copy standard input to --spool.  */
df_status spool_stdin(void);

bool captures_piped(const struct capture_source *source);
bool captures_split(const struct capture_source *source);

/* Of files: tells other samples, or another target, apart.  */
uint64_t captures_hash(const struct capture_source *source);

/* Of a pipe: set S->steps from the number of its batches.  */
df_status captures_steps(struct session *s);

/* As in struct df_record_source; ARG is a source.  */
df_status captures_read(void *arg, size_t thread, uint32_t index,
                        struct df_capture_sample *out);
df_status captures_next(void *arg, struct df_capture_sample *out);

/* Say how many samples were left out.  DF_FORMAT if a pipe broke off before
   its end.  */
df_status captures_conclude(const struct session *s);

#endif

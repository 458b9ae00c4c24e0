/* checkpoint.h - the state of a training run on disk.

   A checkpoint is a folder step-N, written aside as step-N.tmp, synced and
   renamed: a folder of that name is whole.  It holds

       state.safetensors  w.NAME, m.NAME, v.NAME: masters and moments, F32
       state.json         step, the optimizer's counters, the identity
       config.json        of the drafter
       config.txt         the options, for --config

   Random numbers depend on seed and place alone, so the step is all that
   there is to know of them.  */

#ifndef DFLASH_CHECKPOINT_H
#define DFLASH_CHECKPOINT_H

#include "dflash/drafter.h"

DF_BEGIN_DECLS

struct df_checkpoint_info {
    int64_t step;         /* steps done */
    const char *identity; /* JSON object: the options that must be the same
                             when resuming */
    const char *notes;    /* text of config.txt */
};

/* Masters, moments and counters of a drafter at some time, in host memory: 12
   bytes a parameter.  */
struct df_snapshot;

/* A place for those of D, which has to outlive it.  */
DF_EXPORT DF_MUST_USE df_status df_snapshot_new(struct df_snapshot **out,
                                                struct df_drafter *d);
DF_EXPORT void df_snapshot_free(struct df_snapshot *s);

/* Bring them there, again and again.  Nothing may change the drafter before
   that is done.  */
DF_EXPORT DF_MUST_USE df_status df_snapshot_take(struct df_snapshot *s);

/* Write S as step-STEP into DIR, whose newest KEEP checkpoints up to it (0:
   all) stay.  On failure DIR has what it had.  *PATH, unless PATH is NULL, is
   the folder, to be freed.  From any thread, but for one DIR one at a time. */
DF_EXPORT DF_MUST_USE df_status df_snapshot_write(
    const struct df_snapshot *s, const char *dir,
    const struct df_checkpoint_info *info, int64_t keep, char **path);

/* Both, one after the other.  */
DF_EXPORT DF_MUST_USE df_status df_checkpoint_save(
    struct df_drafter *d, const char *dir,
    const struct df_checkpoint_info *info, int64_t keep, char **path);

/* The newest whole checkpoint in DIR: *PATH, to be freed, or NULL if there
   is none; its step; how many newer folders were broken.  */
DF_EXPORT DF_MUST_USE df_status df_checkpoint_newest(const char *dir,
                                                     char **path,
                                                     int64_t *step,
                                                     size_t *broken);

/* Bring D to the state in the folder PATH.  DF_INVALID, naming the first
   option that differs, when it was written under another IDENTITY.  */
DF_EXPORT DF_MUST_USE df_status df_checkpoint_load(struct df_drafter *d,
                                                   const char *path,
                                                   const char *identity,
                                                   int64_t *step);

/* Remove the checkpoint in the folder PATH, which may be absent.  */
DF_EXPORT void df_checkpoint_remove(const char *path);

/* Remove all that lie in DIR, broken ones too, the newest first, so that an
   interruption leaves older ones.  */
DF_EXPORT DF_MUST_USE df_status df_checkpoint_remove_all(const char *dir);

DF_END_DECLS
#endif

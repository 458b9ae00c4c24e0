/* Checkpoints, written by a thread of their own while the run goes on.  One is
   written at a time, and whoever wants the next waits for it.  The snapshot's
   memory stays: it takes longer to get than to fill.  */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/fault_internal.h"
#include "pipe/run_internal.h"

static void *
write_snapshot(void *arg)
{
    struct df_run *run = arg;
    struct df_save *s = &run->save;
    const struct df_checkpoint_info info = {s->step, run->o.identity,
                                            run->o.notes};

    s->status = df_snapshot_write(s->snapshot, run->o.checkpoint_dir, &info,
                                  run->o.keep, &s->path);
    if (s->status != DF_OK)
        s->error = *df_error_last();
    atomic_store(&s->written, true);
    return NULL;
}

static df_status
begin(struct df_run *run, int64_t step)
{
    struct df_save *s = &run->save;
    struct df_lane *lane = &run->lanes[0];
    int err;

    DF_TRY(df_fault("save", (uint64_t) step));
    DF_TRY(df_stream_sync(lane->compute));
    if (!s->snapshot)
        DF_TRY(df_snapshot_new(&s->snapshot, lane->drafter));
    DF_TRY(df_snapshot_take(s->snapshot));
    s->step = step;
    atomic_store(&s->written, false);
    err = pthread_create(&s->thread, NULL, write_snapshot, run);
    if (err)
        return DF_FAIL(DF_NO_MEMORY, "thread to save: %s", strerror(err));
    s->begun = true;
    return DF_OK;
}

df_status
df_save_begin(struct df_run *run, int64_t step)
{
    double start;

    run->steps_saved = step;
    if (!run->o.checkpoint_dir)
        return DF_OK;
    DF_TRY(df_save_end(run));
    start = df_pipe_seconds(run->pipe);
    DF_TRY(begin(run, step));
    run->saving = run->saving + df_pipe_seconds(run->pipe) - start;
    return DF_OK;
}

df_status
df_save_end(struct df_run *run)
{
    struct df_save *s = &run->save;
    double start;

    if (!s->begun)
        return DF_OK;
    start = df_pipe_seconds(run->pipe);
    pthread_join(s->thread, NULL);
    run->saving = run->saving + df_pipe_seconds(run->pipe) - start;
    s->begun = false;
    if (s->status != DF_OK)
        return df_error_set(&s->error);
    if (run->o.observer.saved)
        run->o.observer.saved(run->o.observer.arg, s->step, s->path);
    free(s->path);
    return DF_OK;
}

df_status
df_save_look(struct df_run *run)
{
    return run->save.begun && atomic_load(&run->save.written)
               ? df_save_end(run)
               : DF_OK;
}

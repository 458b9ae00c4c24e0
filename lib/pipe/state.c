/* Where a run's drafters begin, and what is kept of them.  */
#include <config.h>

#include <stdlib.h>

#include "base/transfer_internal.h"
#include "dflash/checkpoint.h"
#include "pipe/run_internal.h"

/* Bring the first lane's state to the other lanes.  */
static df_status
share(struct df_run *run)
{
    struct df_flat from = df_drafter_flat(run->lanes[0].drafter);
    size_t bytes = from.count * sizeof *from.w;

    for (size_t i = 1; i < run->o.n_drafters; i++) {
        struct df_lane *lane = &run->lanes[i];
        struct df_flat to = df_drafter_flat(lane->drafter);

        DF_TRY(df_copy_now(lane->dev, to.w, from.w, bytes));
        DF_TRY(df_copy_now(lane->dev, to.m, from.m, bytes));
        DF_TRY(df_copy_now(lane->dev, to.v, from.v, bytes));
        DF_TRY(df_copy_now(lane->dev, to.state, from.state, sizeof *to.state));
        DF_TRY(df_drafter_refresh(lane->drafter));
    }
    return DF_OK;
}

df_status
df_run_init(struct df_run *run)
{
    DF_TRY(df_drafter_init(run->lanes[0].drafter, run->o.seed));
    return share(run);
}

df_status
df_run_init_from(struct df_run *run, const struct df_tensors *tensors)
{
    DF_TRY(df_drafter_load(run->lanes[0].drafter, tensors));
    return share(run);
}

df_status
df_run_resume(struct df_run *run, const char *path)
{
    int64_t step;

    DF_TRY(df_checkpoint_load(run->lanes[0].drafter, path, run->o.identity,
                              &step));
    if (step != run->o.first_step)
        return DF_FAIL(DF_INVALID, "%s: of step %lld, not %lld", path,
                       (long long) step, (long long) run->o.first_step);
    return share(run);
}

df_status
df_run_export(struct df_run *run, const char *dir)
{
    return df_drafter_save(run->lanes[0].drafter, dir);
}

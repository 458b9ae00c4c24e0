/* Live training as one table:

     JSONL -> [prefetch xP] -> batches -> [target xN] -> packed
        by number, bounded                 slots, depth a target

     -> [postprocess xN] -> hidden -> [drafter xM] -> metrics -> [log]
        copy, event          reservoir,  lanes         by number
                             min_ready

   Batches come to the targets and the drafters by number, so neither the
   order of the threads nor their count changes what is learnt; and to the
   log, so that one step's numbers are whole before the next one's.  */
#include <config.h>

#include "pipe/run_internal.h"

enum {
    BATCHES,
    PACKED,
    HIDDEN,
    METRICS
};

/* clang-format off */
void
df_run_draw_live(struct df_run *run)
{
    const struct df_run_options *o = &run->o;
    const struct df_channel_def channels[] = {
        {"batches", DF_ORDERED, o->n_targets + 1, 0},
        {"packed", DF_LANES, o->depth, 0},
        {"hidden", DF_DEALT, run->n_slots, o->min_ready},
        {"metrics", DF_ORDERED, df_run_metrics_room(run), 0},
    };
    const struct df_stage_def stages[] = {
        {"prefetch", -1, BATCHES, o->prefetch_threads,
         df_prefetch_acquire, df_prefetch_work, NULL, run->reader_states},
        {"target", BATCHES, PACKED, o->n_targets,
         df_target_acquire, df_target_work, NULL, run->target_states},
        {"postprocess", PACKED, HIDDEN, o->n_targets,
         NULL, df_postprocess_work, NULL, run->target_states},
        {"drafter", HIDDEN, METRICS, o->n_drafters,
         df_lane_acquire, df_lane_work, df_lane_finish, run->lane_states},
        {"log", METRICS, -1, 1, NULL, df_log_work, NULL, NULL},
    };

    df_run_draw(run, channels, sizeof channels / sizeof *channels, stages,
                sizeof stages / sizeof *stages);
}
/* clang-format on */

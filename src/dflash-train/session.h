/* session.h - all that a run of dflash-train has open.

   The steps of main, in this order, since each needs the ones before it and
   nothing is written before all that is read has proved good:

       open_models, find_output, open_data (and describe_drafter, when the
       captured layers are known), describe_run, begin_output, df_run_train,
       report  */

#ifndef DF_TRAIN_SESSION_H
#define DF_TRAIN_SESSION_H

#include <stdio.h>

#include "common/model.h"
#include "common/places.h"
#include "common/samples.h"
#include "dflash/checkpoint.h"
#include "dflash/train.h"

struct capture_source;
struct trial;

/* What the plan has to know of samples, wherever they come from.  */
struct sample_set {
    const uint32_t *lengths; /* [n] */
    size_t n;
    uint64_t tokens;
};

struct session {
    struct places places;
    struct place_list targets, drafters;

    struct model model;
    struct layer_list layers; /* captured */
    struct df_drafter_config drafter;
    struct df_drafter_files *init; /* of --init-from, or NULL */
    struct df_batch_limits limits;

    struct sample_source train, eval; /* data sets, if it is live */
    struct capture_source *captures, *eval_captures;
    struct sample_set train_set, eval_set;
    struct trial *trial;  /* of decoding; or NULL */
    struct df_plan *plan; /* NULL: the order of a pipe */
    int64_t steps;

    char *identity, *notes;
    char *checkpoint_dir;
    char *resume_from; /* a checkpoint's folder, or NULL */
    int64_t first_step;
    bool made_output;     /* the folder was not there before */
    bool output_was_free; /* nor was another run in it */
    bool output_begun;    /* something may have been written there */
    FILE *metrics;
    char *metrics_path;
    int metrics_error; /* errno of the first failure to write */

    struct df_run *run;
    double gemm_rate; /* floating-point operations a second */
    struct df_record last, first_eval, last_eval;
    size_t evaluations;
};

/* Each returns DF_OK or a failure with its message.  */
df_status open_models(struct session *s);
df_status describe_drafter(struct session *s);
df_status follow_init_from(struct session *s);
df_status open_data(struct session *s);
df_status describe_run(struct session *s);
df_status begin_output(struct session *s);
df_status measure_gemm(struct session *s);
void close_session(struct session *s);

/* Take back what begin_output made, unless there was a run before or a step
   is done.  */
void abandon_output(struct session *s);

/* Write the drafter into the output folder.  */
df_status export_drafter(struct session *s);

/* Calls of the pipe, and starting the ticker that draws the progress line
   and looks for signals while the pipe runs.  */
void watch_record(void *arg, const struct df_record *record);
void watch_saved(void *arg, int64_t step, const char *path);
df_status watch_start(struct session *s);

/* The table of the stages and the rest, on standard output; DF_IO if FILE
   can't be written.  */
df_status report(struct session *s);

#endif

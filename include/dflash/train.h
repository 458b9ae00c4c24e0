/* train.h - a run: targets, drafters and the pipe between them.

       prefetch xP -> target xN -> postprocess xN -> drafter xM -> log
       prefetch xP -> target xN -> postprocess xN -> write
                                          read xP -> drafter xM -> log

   The tool opens devices and data, describes the run, and watches it.  */

#ifndef DFLASH_TRAIN_H
#define DFLASH_TRAIN_H

#include "dflash/decode.h"
#include "dflash/drafter.h"
#include "dflash/pipe.h"
#include "dflash/plan.h"
#include "dflash/record.h"

DF_BEGIN_DECLS

struct df_run;

/* Where samples come from.  READ fills OUT with sample INDEX; what it points
   to is THREAD's until its next read.  Several threads read at once.  */
struct df_source {
    void *arg;
    df_status (*read)(void *arg, size_t thread, uint32_t index,
                      struct df_sample *out);
};

/* Where captured samples come from.  READ as above, except that what it
   fills in has hidden states, in the layout that the run is told; a sample
   of 0 tokens is left out of its batch, which may be empty then.  NEXT, for
   a pipe, gives one sample after the other, DF_END behind the last, and is
   called by one thread; what OUT points to stays valid until the next call.
   DF_CANCELED says that it won't wait any longer, and stops the run.  */
struct df_record_source {
    void *arg;
    df_status (*read)(void *arg, size_t thread, uint32_t index,
                      struct df_capture_sample *out);
    df_status (*next)(void *arg, struct df_capture_sample *out);
};

/* Where captured samples go to: one after the other, from one thread, in the
   order of the plan.  */
struct df_sink {
    void *arg;
    df_status (*write)(void *arg, const struct df_capture_sample *sample);
};

enum df_transport {
    DF_TRANSPORT_AUTO, /* the best that the placement allows */
    DF_TRANSPORT_HOST, /* through host memory */
    DF_TRANSPORT_PEER, /* from device to device */
    DF_TRANSPORT_LOCAL /* no copy: all on one device */
};

/* A step, or an evaluation, when its last batch is done.  Ratios of sums
   over all its batches.  */
struct df_record {
    enum df_batch_kind kind;
    int64_t step; /* of an evaluation: steps done before it */
    int64_t epoch;
    double loss, accuracy, accept_length;
    double slot_accuracy[DF_MAX_BLOCK]; /* -1 where nothing was supervised */
    size_t block_size;
    /* Of steps only: */
    double learning_rate;
    double grad_norm;         /* before clipping */
    bool skipped;             /* the norm was not finite */
    uint64_t tokens;          /* of context, in the step */
    double seconds;           /* since the run began */
    double tokens_per_second; /* over the last steps */
};

/* What decoding with the drafter gave, after STEP steps.  */
struct df_decoded {
    int64_t step;
    struct df_decode_stats stats;
};

/* The drafter tried out: prompts decoded between two steps, on the first
   drafter's device, with a target of its own.  */
struct df_trial {
    struct df_generator_options options;
    const struct df_prompt *prompts; /* [n] */
    size_t n;
    int64_t interval; /* steps between trials; 0: after the last step only.
                         One due at first_step comes before that step: the
                         run may have been stopped before it */
};

/* Calls come from threads of the pipe.  Any may be NULL.  While DECODED runs,
   the drafter stays as it is, and df_run_export may be called.  */
struct df_observer {
    void *arg;
    void (*record)(void *arg, const struct df_record *record);
    void (*saved)(void *arg, int64_t step, const char *path);
    df_status (*decoded)(void *arg, const struct df_decoded *decoded);
};

/* With targets and drafters it is live training; without drafters samples
   are captured into SINK; without targets drafters are trained from
   RECORDS.  */
struct df_run_options {
    /* Placement.  */
    struct df_device *const *targets; /* [n_targets] one loop each; the same
                                         device may come several times */
    size_t n_targets;
    struct df_device *const *drafters; /* [n_drafters] */
    size_t n_drafters;
    size_t prefetch_threads;
    size_t depth;     /* packed batches in flight, a target; at least 1 */
    size_t min_ready; /* batches ready before the drafters begin */
    bool split;       /* K layers apart; noise on the drafter's side */
    bool compile;     /* the drafter's passes as graphs, on GPUs: the
                         same bits */
    enum df_transport transport;

    /* Data.  */
    struct df_source train, eval;
    struct df_record_source records, eval_records;
    struct df_sink sink;
    struct df_plan *plan; /* NULL for a pipe; then these two: */
    int64_t pipe_steps;   /* most steps, and the schedule's length */
    size_t per_step;      /* batches an optimizer step */
    struct df_batch_limits limits;

    /* Models.  */
    const struct df_model_config *target_config;
    const struct df_tensors *target_tensors;
    const int *layer_ids; /* [n_layer_ids] captured, ascending */
    size_t n_layer_ids;
    bool last_hidden; /* capture the last layer's output as well */
    struct df_drafter_config drafter_config;
    struct df_drafter_form form; /* of what is exported; see
                                    df_drafter_set_form */

    /* Training.  */
    uint64_t seed;
    struct df_objective objective;
    struct df_adamw_options adamw;
    double learning_rate, warmup_ratio;
    float noise; /* amplitude */
    int64_t first_step;

    /* Checkpoints: folders step-N in CHECKPOINT_DIR, which exists.  */
    const char *checkpoint_dir;
    int64_t save_interval; /* 0: only at the end */
    int64_t keep;          /* the newest so many; 0: all */
    const char *identity;  /* JSON object of the options that a resumed run
                              must share */
    const char *notes;     /* the text of config.txt in each checkpoint */

    struct df_trial trial; /* n 0: none */
    struct df_observer observer;
};

/* Load the models and allocate all that the run will need.  What OPTIONS
   points to must outlive the run.  The drafter is undefined until
   df_run_init, df_run_init_from or df_run_resume.  */
DF_EXPORT DF_MUST_USE df_status
df_run_new(struct df_run **out, const struct df_run_options *options);
DF_EXPORT void df_run_free(struct df_run *run);

/* Begin with random weights; with those of TENSORS; with the checkpoint in
   the folder PATH.  */
DF_EXPORT DF_MUST_USE df_status df_run_init(struct df_run *run);
DF_EXPORT DF_MUST_USE df_status
df_run_init_from(struct df_run *run, const struct df_tensors *tensors);
DF_EXPORT DF_MUST_USE df_status df_run_resume(struct df_run *run,
                                              const char *path);

/* Run the largest batch once, forward and backward, so that nothing is
   allocated later.  The drafter stays as it is.  */
DF_EXPORT DF_MUST_USE df_status df_run_warm_up(struct df_run *run);

/* Train to the end of the plan, to df_run_stop, or to the first failure.
   A checkpoint is written at the end, and when stopped.  */
DF_EXPORT DF_MUST_USE df_status df_run_train(struct df_run *run);

/* Ask a running df_run_train to finish its step, or, with one drafter, to
   break off an evaluation, save and return.  From any thread or signal
   handler.  */
DF_EXPORT void df_run_stop(struct df_run *run);

/* Whether df_run_stop was called, or a stage failed: no more input is wanted.
   From any thread.  */
DF_EXPORT bool df_run_ends(const struct df_run *run);

/* Steps done so far, whether df_run_stop ended the run.  */
DF_EXPORT int64_t df_run_steps_done(const struct df_run *run);
DF_EXPORT bool df_run_stopped(const struct df_run *run);

/* Write the drafter as df_drafter_save does.  */
DF_EXPORT DF_MUST_USE df_status df_run_export(struct df_run *run,
                                              const char *dir);

/* Numbers of the run, also while it is running.  */
struct df_run_stats {
    double seconds;                    /* in df_run_train */
    double saving;                     /* of these, waiting for checkpoints */
    uint64_t tokens;                   /* of context that were trained on */
    double flops;                      /* floating-point operations queued */
    uint64_t allocations;              /* since the warm-up, all devices */
    uint64_t device_bytes, host_bytes; /* in use, all devices */
    uint64_t host_waits;               /* of drafters for their own device */
    size_t n_stages;
    const char *stage_names[5];
    size_t stage_threads[5];
    struct df_stage_stats stages[5];
};
DF_EXPORT void df_run_get_stats(struct df_run *run, struct df_run_stats *out);

/* The stage that holds the others up: the busiest thread by thread.  */
DF_EXPORT size_t df_run_bottleneck(const struct df_run_stats *stats);

/* The transport that the placement gave.  */
DF_EXPORT enum df_transport df_run_transport(const struct df_run *run);

DF_END_DECLS
#endif

/* run_internal.h - a training run from the inside: what the stages share,
   and what each thread of a stage has of its own.  */

#ifndef DF_RUN_INTERNAL_H
#define DF_RUN_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena_internal.h"
#include "dflash/checkpoint.h"
#include "dflash/philox.h"
#include "dflash/train.h"
#include "pipe/slot_internal.h"

enum {
    DF_MAX_DEVICES = 64,
    DF_SKIPS_TOLERATED = 5, /* steps in a row whose norm isn't finite */
    DF_IN_TURN = 2,         /* batches that a loop has queued at a time */
    DF_MAX_CHANNELS = 4,    /* of any drawing, as is the next */
    DF_MAX_STAGES = 5
};

/* A thread that reads samples into batches.  */
struct df_reader_state {
    struct df_box *box;   /* acquired for the next batch */
    uint32_t *samples;    /* [max_seqs] */
    struct df_slot *slot; /* acquired too, if it reads hidden states */
};

/* What has come through a pipe.  */
struct df_pipe_input {
    struct df_capture_sample next; /* first of the next batch, if HAS_NEXT */
    bool has_next, ended;
    uint64_t batches; /* so far */
};

/* Device memory for one batch's arrays.  */
struct df_mirror {
    void *memory;
    struct df_batch_arrays arrays;
    struct df_event *done; /* the work that reads it */
};

/* A target and the thread that queues its forward passes.  */
struct df_target_state {
    struct df_device *dev;
    struct df_target *target;
    struct df_stream *compute, *copy;
    struct df_mirror mirrors[DF_IN_TURN];
    struct df_buffer *buffers; /* [depth], device memory; none if local */
    struct df_freelist *free_buffers;
    struct df_event *packed; /* on COPY: what it copies next is there */
    uint64_t turn;
    struct df_slot *slot;     /* acquired for the next batch, as is the next */
    struct df_buffer *buffer; /* NULL if local */
};

/* The numbers of one batch on their way to the log.  */
struct df_metric {
    struct df_loss_sums *sums;   /* host memory */
    struct df_step_state *state; /* host memory; set if HAS_STATE */
    struct df_fence copied;
    bool has_state; /* the batch ended its step */
    enum df_batch_kind kind;
    int64_t step, epoch;
    size_t index, count; /* number of the batch, batches of the step */
    size_t T, B;
    double learning_rate;
};

/* Where a lane's batch is computed from.  */
struct df_input {
    struct df_mirror mirror;
    void *hidden;            /* device memory; NULL if local */
    struct df_event *copied; /* mirror and hidden are there */
};

/* A drafter and the thread that trains it: one of the lanes that the batches
   are dealt to.  */
struct df_lane {
    struct df_device *dev;
    struct df_drafter *drafter;
    struct df_stream *compute, *copy;
    struct df_input inputs[DF_IN_TURN];
    struct df_loss_sums *sums; /* device memory */
    uint64_t turn;
    struct df_metric *metric; /* acquired for the next batch */
    int64_t step;             /* the step it is in */
    double denominator;       /* of its batches of the step so far */
    float *others; /* lane 0 of several: room for another's gradients */
    struct df_event *summed; /* this lane's part of a sum is done */
};

/* Decoding by the first lane's drafter.  */
struct df_trial_state {
    struct df_target *target;
    struct df_generator *generator;
    size_t next; /* prompt */
};

/* What the log keeps of a step or an evaluation until all is there.  */
struct df_tally {
    struct df_loss_sums sums;
    struct df_step_state state;
    double learning_rate;
    size_t batches;
    uint64_t tokens, sequences;
};

/* The checkpoint that is being written.  */
struct df_save {
    pthread_t thread;
    bool begun; /* and not ended: the thread is there */
    atomic_bool written;
    struct df_snapshot *snapshot;
    int64_t step;
    char *path;
    df_status status;
    df_error error;
};

struct df_run {
    struct df_run_options o;
    struct df_hidden_layout layout;
    enum df_transport transport;
    uint64_t noise_key;
    _Atomic int64_t steps; /* in all; of a pipe, at most until it ended */
    int64_t schedule;      /* steps that the learning rate goes through */
    struct df_pipe_input pipe_input;

    struct df_device *devices[DF_MAX_DEVICES]; /* each once */
    struct df_embeddings embeddings[DF_MAX_DEVICES];
    size_t n_devices;

    struct df_reader_state *readers; /* [prefetch_threads] */
    struct df_target_state *targets; /* [n_targets] */
    struct df_lane *lanes;           /* [n_drafters] */
    struct df_box *boxes;
    struct df_slot *slots;
    struct df_metric *metrics;
    size_t n_boxes, n_slots, n_metrics;
    void *reader_states[DF_MAX_DEVICES]; /* pointers to the above */
    void *target_states[DF_MAX_DEVICES];
    void *lane_states[DF_MAX_DEVICES];

    struct df_channel_def channels[DF_MAX_CHANNELS];
    struct df_stage_def stages[DF_MAX_STAGES];
    struct df_pipe_def def;
    struct df_pipe *pipe;
    struct df_freelist *free_boxes, *free_slots, *free_metrics;

    /* Shared by the lanes; written by one, read by others behind a
       barrier.  */
    double denominators[DF_MAX_DEVICES];
    bool stopping;
    int64_t steps_saved; /* by the last checkpoint */
    bool save_due;       /* the first lane's, as is the next */
    bool trial_due;
    struct df_save save;   /* the first lane's too */
    _Atomic double saving; /* seconds that steps waited for it */
    struct df_trial_state trial;

    struct df_tally tally, eval_tally; /* the log's */
    double last_seconds;               /* when the last step ended */

    atomic_bool stop;     /* df_run_stop was called */
    atomic_bool stopped;  /* and ended the run */
    atomic_bool diagnose; /* name a tensor that isn't finite */
    _Atomic int64_t steps_done, steps_logged;
    _Atomic uint64_t tokens, host_waits;
    uint64_t allocations; /* by the end of the warm-up; so is FLOPS */
    double flops;
};

/* Draw the channels and stages of a run.  */
void df_run_draw_live(struct df_run *run);
void df_run_draw_capture(struct df_run *run);
void df_run_draw_offline(struct df_run *run);

/* The embeddings on DEV, which is one of RUN's devices.  */
const struct df_embeddings *df_run_embeddings(const struct df_run *run,
                                              const struct df_device *dev);

/* Make a drawing that of RUN.  */
void df_run_draw(struct df_run *run, const struct df_channel_def *channels,
                 size_t n_channels, const struct df_stage_def *stages,
                 size_t n_stages);

/* Metrics that may wait for the log: each lane keeps one for its next batch,
   and the log has one; a lane that runs ahead must not hold what the slowest
   needs.  */
static inline size_t
df_run_metrics_room(const struct df_run *run)
{
    return run->n_metrics - run->o.n_drafters - 1;
}

/* Make BATCH, whose samples are in it, the plan's ITEM.  */
DF_MUST_USE df_status df_prefetch_conclude(const struct df_run *run,
                                           struct df_batch *batch,
                                           const struct df_plan_item *item);

/* Stages: one function a file.  */
df_status df_prefetch_acquire(struct df_worker *worker);
df_status df_prefetch_work(struct df_worker *worker, struct df_item *item);
df_status df_target_acquire(struct df_worker *worker);
df_status df_target_work(struct df_worker *worker, struct df_item *item);
df_status df_postprocess_work(struct df_worker *worker, struct df_item *item);
df_status df_lane_acquire(struct df_worker *worker);
df_status df_lane_work(struct df_worker *worker, struct df_item *item);
df_status df_lane_finish(struct df_worker *worker);
df_status df_log_work(struct df_worker *worker, struct df_item *item);

/* End the step that LANE is in: sum the gradients of all lanes, step.  */
DF_MUST_USE df_status df_lane_step(struct df_worker *worker,
                                   struct df_lane *lane,
                                   struct df_metric *metric);

/* On the first lane: save and try the drafter if it is time, before the next
   step begins but after the numbers of the last one are on their way to the
   log.  */
DF_MUST_USE df_status df_lane_pause(struct df_worker *worker,
                                    struct df_lane *lane);

/* Trials of the first lane's drafter, if RUN's options want any: their target,
   before all others; what else they need; the largest once; whether one
   follows STEP done steps; one, told to the observer.  */
DF_MUST_USE df_status df_trial_make_target(struct df_run *run);
DF_MUST_USE df_status df_trial_make(struct df_run *run);
DF_MUST_USE df_status df_trial_warm_up(struct df_run *run);
bool df_trial_is_due(const struct df_run *run, int64_t step);
DF_MUST_USE df_status df_trial_run(struct df_run *run, int64_t step);

/* Take a checkpoint of the first lane's drafter, and begin to write it, when
   the one before is written; wait until it is; look whether it is.  All tell
   of a failure to write.  */
DF_MUST_USE df_status df_save_begin(struct df_run *run, int64_t step);
DF_MUST_USE df_status df_save_end(struct df_run *run);
DF_MUST_USE df_status df_save_look(struct df_run *run);

/* Queue target T's pass over BATCH in MIRROR, packed into BUFFER, which is
   waited for and recorded.  If there are checks, OWN, which may be BUFFER, is
   where they go.  */
DF_MUST_USE df_status df_run_forward(struct df_run *run,
                                     struct df_target_state *t,
                                     const struct df_batch *batch,
                                     struct df_mirror *mirror,
                                     struct df_buffer *buffer,
                                     struct df_buffer *own);

/* Queue LANE's pass over BATCH in MIRROR with the states at HIDDEN; with
   gradients if TRAIN.  READ, unless NULL, is recorded behind the last read
   of HIDDEN.  */
DF_MUST_USE df_status df_run_draft(struct df_run *run, struct df_lane *lane,
                                   const struct df_batch *batch,
                                   struct df_mirror *mirror,
                                   const void *hidden, struct df_fence *read,
                                   bool train);

/* Allocate all that RUN's options ask for.  */
DF_MUST_USE df_status df_run_set_up(struct df_run *run);
DF_MUST_USE df_status df_run_make_pipe(struct df_run *run);
void df_run_clear(struct df_run *run);

DF_MUST_USE df_status df_mirror_make(struct df_mirror *mirror,
                                     const struct df_batch_limits *limits,
                                     struct df_device *dev);

/* The noise for BATCH, whose arrays are ARRAYS; none in evaluations.  */
struct df_noise df_run_noise(const struct df_run *run,
                             const struct df_batch *batch,
                             const struct df_batch_arrays *arrays);

#endif

/* tiny.h - a target of random weights and samples of random tokens, for
   tests of what stands on them; no file is needed.  */

#ifndef DF_TINY_H
#define DF_TINY_H

#include <stdio.h>

#include "dflash/drafter.h"
#include "dflash/safetensors.h"
#include "dflash/train.h"

/* Give up if CALL fails.  */
#define CHECKED(call)                             \
    do {                                          \
        if ((call) != DF_OK)                      \
            bail("%s", df_error_last()->message); \
    } while (0)

enum {
    TINY_VOCAB = 64,
    TINY_MASK_ID = 63, /* in no sample */
    TINY_MAX_LENGTH = 24
};

/* H 32, 3 layers; the drafter has 2 layers over target layers 0 and 2, the
   second with a sliding window, and blocks of 4.  */
struct tiny {
    struct df_model_config config;
    struct df_tensors *tensors;
    struct df_drafter_config drafter;
    struct df_batch_limits limits;
    uint8_t *image; /* what TENSORS views */
};
void tiny_make(struct tiny *t);
void tiny_clear(struct tiny *t);

/* Uniform in [-1, 1), by SEED and N.  */
float tiny_random(uint64_t seed, uint64_t n);

/* Sample INDEX: 6 to TINY_MAX_LENGTH tokens, the first 2 unsupervised.  IDS
   and MASK have room for the longest.  Returns its length.  */
size_t tiny_sample(uint32_t index, int32_t *ids, uint8_t *mask);

/* A drafter of random weights on a CPU, with a batch of its own and the batch
   on the device.  */
struct tiny_drafter {
    struct tiny model;
    struct df_device *dev;
    struct df_stream *stream;
    struct df_embeddings embeddings;
    struct df_drafter *drafter;
    struct df_batch *batch;
    struct df_batch_arrays arrays;
    void *memory;
    struct df_loss_sums *sums; /* device memory */
};
void tiny_drafter_make(struct tiny_drafter *d);
/* The same on DEV, which tiny_drafter_clear closes.  */
void tiny_drafter_make_on(struct tiny_drafter *d, struct df_device *dev);
void tiny_drafter_clear(struct tiny_drafter *d);

/* Samples 0 to N-1 as the batch, on the device too.  */
void tiny_drafter_load(struct tiny_drafter *d, uint32_t n);

/* A run over N samples; 0 or NULL where nothing else is said.  */
struct tiny_options {
    const char *name;                          /* for messages of the test */
    size_t targets, drafters, prefetch, depth; /* 0: 1 */
    size_t min_ready;
    size_t per_step;    /* 0: 1 */
    int64_t max_steps;  /* 0: one epoch */
    int64_t first_step; /* resume from CHECKPOINT_DIR */
    int64_t eval_interval;
    int64_t save_interval;
    uint32_t samples, eval_samples;
    enum df_transport transport;
    bool apart; /* a device each */
    bool packed;
    float noise;
    const char *checkpoint_dir;
    bool poison;   /* a weight of the target that isn't finite */
    bool no_masks; /* nothing is supervised */
    void (*record)(void *arg, const struct df_record *record);
    void *arg;
};

/* The run made from OPTIONS, ready for df_run_train: weights and warm-up are
   done.  */
struct tiny_run {
    struct tiny model;
    struct tiny_options o;
    struct df_device *devices[8];
    struct df_device *targets[4], *drafters[4];
    size_t n_devices;
    struct df_plan *plan;
    struct df_run *run;
    int32_t ids[8][TINY_MAX_LENGTH]; /* a thread each */
    uint8_t masks[8][TINY_MAX_LENGTH];
};
df_status tiny_run_make(struct tiny_run *r, const struct tiny_options *o);
void tiny_run_clear(struct tiny_run *r);

/* Run OPTIONS, whose RECORD is unused, to the end, and print its records to
   OUT, one a line, then the message if it fails.  */
df_status tiny_run_print(FILE *out, const struct tiny_options *options);

/* The same as a text, to be freed: equal texts say equal bits.  */
char *tiny_run_text(const struct tiny_options *options);

/* What "PROGRAM NUMBER" prints with DFLASH_FAULT set to FAULT, which a
   process reads but once.  To be freed.  */
char *tiny_run_faulty(const char *program, size_t number, const char *fault);

#endif

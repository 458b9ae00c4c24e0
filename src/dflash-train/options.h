/* options.h - what dflash-train is told.  */

#ifndef DF_TRAIN_OPTIONS_H
#define DF_TRAIN_OPTIONS_H

#include "common/input.h"

enum {
    LOSS_DFLASH,
    LOSS_DPACE
};

struct train_options {
    /* Input and output; more of it is in INPUT.  */
    const char *output, *init_from, *spool, *verifier;
    int layout; /* enum df_drafter_layout, of what is exported */
    struct string_list eval_data, captures, eval_captures;
    int verify; /* enum df_capture_verify */
    bool resume, overwrite;
    const char *metrics, *stats;

    /* The drafter.  */
    long block_size, mask_token_id;

    /* What is learnt from.  */
    long num_anchors;
    bool whole_blocks;

    /* How.  */
    int loss;
    double loss_decay_gamma, dpace_alpha, noise;
    long epochs, max_steps, accumulate;
    double learning_rate, warmup_ratio, max_grad_norm, weight_decay;
    long eval_decode, eval_decode_interval, eval_decode_tokens;
    long eval_interval, save_interval, keep, log_interval;

    /* Where.  */
    const char *drafter_devices;
    long min_ready;
    bool split;
    bool compile;
    int transport;
};

extern struct train_options opt;
extern const char *const loss_names[];
extern const struct tool train_tool;

/* Whether captures are trained from, and no target runs.  */
static inline bool
from_captures(void)
{
    return opt.captures.count > 0;
}

/* Exit with a message unless the options go together.  */
void check_options(void);

#endif

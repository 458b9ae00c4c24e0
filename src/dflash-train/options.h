/* options.h - what dflash-train is told.  */

#ifndef DF_TRAIN_OPTIONS_H
#define DF_TRAIN_OPTIONS_H

#include "common/option.h"

enum {
    LOSS_DFLASH,
    LOSS_DPACE
};
enum {
    TRAIN_ON_ALL,
    TRAIN_ON_LAST
};

struct train_options {
    /* Input and output.  */
    const char *target, *output, *chat_template, *init_from;
    struct string_list data, eval_data;
    bool resume, overwrite, strict;
    const char *metrics, *stats;

    /* The drafter.  */
    long num_draft_layers, block_size, mask_token_id;
    struct int_list target_layer_ids;

    /* What is learnt from.  */
    long num_anchors, max_length, token_budget, max_batch_size;
    int train_on;
    bool whole_blocks;
    uint64_t cache;

    /* How.  */
    int loss;
    double loss_decay_gamma, dpace_alpha, noise;
    long epochs, max_steps, accumulate, seed;
    double learning_rate, warmup_ratio, max_grad_norm, weight_decay;
    long eval_interval, save_interval, keep, log_interval;

    /* Where.  */
    const char *target_devices, *drafter_devices;
    long prefetch_threads, depth, min_ready;
    bool split;
    bool compile;
    int transport;
};

extern struct train_options opt;
extern const char *const loss_names[], *const turn_names[];
extern const struct tool train_tool;

/* Exit with a message unless the options go together.  */
void check_options(void);

#endif

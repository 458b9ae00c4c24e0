/* options.h - what dflash-bench is told.  */

#ifndef DF_BENCH_OPTIONS_H
#define DF_BENCH_OPTIONS_H

#include "common/option.h"

struct bench_options {
    /* What is measured.  */
    bool list, check;
    const char *only, *devices;

    /* What the suites with a target work on; 0: it depends on the target.
       More of it is in INPUT.  */
    long token_budget, max_length, num_anchors, block_size;

    /* Decoding; 0, or empty: it depends on the target.  */
    const char *drafter;
    struct string_list prompts;
    long max_new_tokens;
    double temperature;
    struct int_list concurrency, force_accept;
    bool check_lossless;

    /* How.  */
    long repeat;
    double min_time; /* s */

    /* What is said.  */
    bool json, csv;
    const char *plot;

    /* What it is compared with.  */
    const char *baseline, *save_baseline;
    double limit; /* percent */
};

extern struct bench_options opt;
extern const struct tool bench_tool;

#endif

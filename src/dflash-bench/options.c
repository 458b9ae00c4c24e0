#include <config.h>

#include "common/input.h"
#include "dflash-bench/options.h"
#include "dflash/ops.h"

struct bench_options opt = {
    .devices = "auto",
    .repeat = 20,
    .min_time = 0.004,
    .limit = 5,
};

/* clang-format off */
static const struct option_def options[] = {
    {OPT_GROUP, .help = "What is measured"},
    {OPT_FLAG, 0, "list", NULL, &opt.list,
     .help = "print the names of the cases, and measure nothing"},
    {OPT_STRING, 0, "only", "REGEX", &opt.only, .unset = "all cases",
     .help = "measure the cases whose line of --list has a match of the "
             "extended regular expression REGEX"},
    {OPT_STRING, 0, "devices", "LIST", &opt.devices,
     .help = "measure on each of these: cpu, cuda:N; auto is the first GPU, "
             "or the CPU where there is none"},
    {OPT_FLAG, 0, "check", NULL, &opt.check,
     .help = "do every case once to see that its result is right; take no "
             "times"},

    {OPT_GROUP, .help = "The models, for forward, step, pipeline, capture, "
                        "spec and sweep"},
    {OPT_STRING, 't', "target", "DIR", &input.target,
     .unset = "random weights in small shapes",
     .help = "the model in DIR, or random:FILE, random weights in the shapes "
             "of a config.json"},
    {OPT_STRING, 0, "drafter", "DIR", &opt.drafter,
     .unset = "random weights in the target's shapes",
     .help = "the drafter in DIR, in either layout"},
    LAYER_OPTIONS("give drafters N layers",
                  "capture the residual stream after the target's layers of "
                  "LIST, counted from 0"),
    {OPT_INT, 0, "token-budget", "N", &opt.token_budget, .min = 2,
     .max = 1 << 28, .unset = "8192; without --target 256",
     .help = "have N tokens in a batch"},
    {OPT_INT, 0, "max-length", "N", &opt.max_length, .min = 2, .max = 1 << 24,
     .unset = "2048; without --target 64",
     .help = "have N tokens in a sequence, of which the last two thirds are "
             "supervised"},
    {OPT_INT, 0, "num-anchors", "N", &opt.num_anchors, .min = 1,
     .max = 1 << 20, .unset = "512; without --target 8",
     .help = "draw up to N blocks from a sequence"},
    {OPT_INT, 0, "block-size", "N", &opt.block_size, .min = 2,
     .max = DF_MAX_BLOCK, .unset = "16; without --target 8",
     .help = "let a block have N slots, the anchor's included"},

    {OPT_GROUP, .help = "Decoding, for spec"},
    {OPT_STRINGS, 0, "prompts", "FILE", &opt.prompts,
     .unset = "random tokens",
     .help = "answer the prompts of FILE... (JSONL) that have up to "
             "--max-length tokens"},
    RECORD_OPTIONS,
    {OPT_INT, 0, "max-new-tokens", "N", &opt.max_new_tokens, .min = 2,
     .max = 1 << 20, .unset = "128; without --target 16",
     .help = "end an answer after N tokens"},
    {OPT_REAL, 0, "temperature", "T", &opt.temperature,
     .range = {.min = 0, .max = 100},
     .help = "draw tokens at temperature T; 0: take the likeliest"},
    {OPT_INTS, 0, "concurrency", "LIST", &opt.concurrency, .min = 1,
     .max = 1024, .unset = "1",
     .help = "decode so many requests at a time, each of LIST"},
    {OPT_FLAG, 0, "check-lossless", NULL, &opt.check_lossless,
     .help = "compare the answers, token by token, with those of plain "
             "decoding; the exit status is 1 if one differs"},
    {OPT_INTS, 0, "force-accept", "LIST", &opt.force_accept, .min = 1,
     .max = DF_MAX_BLOCK, .unset = "as it comes",
     .help = "for tests: let each round give so many tokens, right or wrong, "
             "each of LIST"},

    {OPT_GROUP, .help = "How it is measured"},
    {OPT_INT, 0, "repeat", "N", &opt.repeat, .min = 1, .max = 100000,
     .help = "take N samples of a case"},
    {OPT_REAL, 0, "min-time", "S", &opt.min_time,
     .range = {.min = 0, .max = 60},
     .help = "repeat short work within a sample until that takes S seconds"},

    {OPT_GROUP, .help = "What is said"},
    {OPT_FLAG, 0, "json", NULL, &opt.json,
     .help = "print JSON objects, a line each, with all samples"},
    {OPT_FLAG, 0, "csv", NULL, &opt.csv,
     .help = "print values separated by commas"},
    {OPT_STRING, 0, "plot", "FILE", &opt.plot, .unset = "none",
     .help = "draw bandwidth over size, and time by part, into FILE as SVG"},

    {OPT_GROUP, .help = "What it is compared with"},
    {OPT_STRING, 0, "save-baseline", "FILE", &opt.save_baseline,
     .unset = "none",
     .help = "write the results to FILE, for --baseline"},
    {OPT_STRING, 0, "baseline", "FILE", &opt.baseline, .unset = "none",
     .help = "compare with the results in FILE, case by case"},
    {OPT_REAL, 0, "limit", "PERCENT", &opt.limit,
     .range = {.min = 0, .max = 1000},
     .help = "with --baseline: the exit status is 1 if a case is slower by "
             "more than this, and not by chance"},
    COMMON_OPTIONS,
    {0},
};
/* clang-format on */

const struct tool bench_tool = {
    .name = "dflash-bench",
    .summary = "Measure the parts of the pipeline and the whole, see that "
               "their results are right, and compare with an earlier run.",
    .operands = "[SUITE...]",
    .options = options,
};

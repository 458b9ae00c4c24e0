/* input.h - the options of every tool that runs a target over a data set.

   Each has one name, one meaning and one default in all of them: the tools'
   tables take their rows from here, and the values are in INPUT.  */

#ifndef DF_INPUT_H
#define DF_INPUT_H

#include "common/option.h"
#include "dflash/config.h"

enum {
    TRAIN_ON_ALL,
    TRAIN_ON_LAST
};

struct input_options {
    const char *target, *chat_template;
    struct string_list data;
    bool strict;

    long num_draft_layers;
    struct int_list target_layer_ids;

    int train_on;
    long max_length, token_budget, max_batch_size;
    uint64_t cache;
    long seed;

    const char *target_devices;
    long prefetch_threads, depth;
};

extern struct input_options input;
extern const char *const turn_names[];

/* Exit with a message unless the options go together.  */
void check_input(const struct tool *tool);

/* clang-format off */
#define TARGET_OPTION                                                      \
    {OPT_STRING, 't', "target", "DIR", &input.target, .required = true,    \
     .help = "the model in DIR: config.json, safetensors, tokenizer.json; "\
             "or random:FILE, random weights in the shapes of a config.json"}

/* WHAT is done with the records, and whether there is another source.  */
#define DATA_OPTION(WHAT, REQUIRED)                                        \
    {OPT_STRINGS, 'd', "data", "FILE", &input.data, .required = REQUIRED,  \
     .help = WHAT " the records of FILE... (JSONL)"}

#define RECORD_OPTIONS                                                     \
    {OPT_STRING, 0, "chat-template", "FILE", &input.chat_template,         \
     .unset = "the tokenizer's",                                           \
     .help = "render conversations with the template in FILE"},            \
    {OPT_FLAG, 0, "strict", NULL, &input.strict,                           \
     .help = "refuse what would be skipped"}

#define LAYER_OPTIONS(HELP_N, HELP_IDS)                                    \
    {OPT_INT, 0, "num-draft-layers", "N", &input.num_draft_layers,         \
     .min = 1, .max = DF_MAX_LAYERS, .help = HELP_N},                      \
    {OPT_INTS, 0, "target-layer-ids", "LIST", &input.target_layer_ids,     \
     .min = 0, .max = DF_MAX_LAYERS - 1, .unset = "spread over the target",\
     .help = HELP_IDS}

#define SAMPLE_OPTIONS                                                     \
    {OPT_CHOICE, 0, "train-on", "TURNS", &input.train_on,                  \
     .choices = turn_names,                                                \
     .help = "supervise these turns of the assistant"},                    \
    {OPT_INT, 0, "max-length", "N", &input.max_length, .min = 2,           \
     .max = 1 << 24, .help = "cut sequences off after N tokens"},          \
    {OPT_INT, 0, "token-budget", "N", &input.token_budget, .min = 2,       \
     .max = 1 << 28, .help = "fill a batch with up to N tokens"},          \
    {OPT_INT, 0, "max-batch-size", "N", &input.max_batch_size, .min = 1,   \
     .max = 1 << 16, .help = "fill a batch with up to N sequences"},       \
    {OPT_SIZE, 0, "cache", "BYTES", &input.cache, .min = 0,                \
     .max = LONG_MAX,                                                      \
     .help = "keep the tokens in memory if they fit into BYTES"}

#define TARGET_DEVICES_OPTION                                              \
    {OPT_STRING, 0, "target-devices", "LIST", &input.target_devices,       \
     .help = "run a target on each device of LIST: cpu, cpu:1, cuda:0"}

#define FLOW_OPTIONS                                                       \
    {OPT_INT, 0, "prefetch-threads", "N", &input.prefetch_threads,         \
     .min = 1, .max = 64, .help = "read and tokenise in N threads"},       \
    {OPT_INT, 0, "target-postprocess-depth", "N", &input.depth, .min = 1,  \
     .max = 64,                                                            \
     .help = "let N packed batches a target be on their way to the host"}
/* clang-format on */

#endif

#include <config.h>

#include <limits.h>
#include <math.h>

#include "dflash-train/options.h"
#include "dflash/train.h"

enum {
    NONE = -1 /* of a number that something else decides */
};

struct train_options opt = {
    .num_draft_layers = 5,
    .block_size = 16,
    .mask_token_id = NONE,
    .num_anchors = 512,
    .max_length = 2048,
    .token_budget = 8192,
    .max_batch_size = 8,
    .cache = 256 << 20,
    .loss_decay_gamma = 7,
    .dpace_alpha = 0.5,
    .epochs = 0,
    .accumulate = 1,
    .seed = 42,
    .learning_rate = 6e-4,
    .warmup_ratio = 0.04,
    .max_grad_norm = 1,
    .keep = 3,
    .log_interval = 10,
    .target_devices = "auto",
    .drafter_devices = "auto",
    .prefetch_threads = 4,
    .depth = 1,
    .min_ready = 10,
    .split = true,
};

const char *const loss_names[] = {"dflash", "dpace", NULL};
const char *const turn_names[] = {"all", "last", NULL};
static const char *const transports[] = {"auto", "host", "peer", "local",
                                         NULL};

/* clang-format off */
#define NO_LIMIT INFINITY

static const struct option_def options[] = {
    {OPT_GROUP, .help = "Input and output"},
    {OPT_STRING, 't', "target", "DIR", &opt.target, .required = true,
     .help = "train for the model in DIR: config.json, safetensors, "
             "tokenizer.json"},
    {OPT_STRINGS, 'd', "data", "FILE", &opt.data, .required = true,
     .help = "train on the records of FILE... (JSONL)"},
    {OPT_STRING, 'o', "output", "DIR", &opt.output, .required = true,
     .help = "write drafter, checkpoints and metrics into DIR"},
    {OPT_STRINGS, 0, "eval-data", "FILE", &opt.eval_data,
     .unset = "none", .help = "evaluate on the records of FILE..."},
    {OPT_STRING, 0, "chat-template", "FILE", &opt.chat_template,
     .unset = "the tokenizer's",
     .help = "render conversations with the template in FILE"},
    {OPT_STRING, 0, "init-from", "DIR", &opt.init_from,
     .unset = "random weights", .help = "begin with the drafter in DIR"},
    {OPT_FLAG, 0, "resume", NULL, &opt.resume,
     .help = "go on from the newest checkpoint in the output folder"},
    {OPT_FLAG, 0, "overwrite", NULL, &opt.overwrite,
     .help = "replace the run that the output folder holds"},
    {OPT_FLAG, 0, "strict", NULL, &opt.strict,
     .help = "refuse records that would be skipped"},
    {OPT_STRING, 0, "metrics", "FILE", &opt.metrics,
     .unset = "metrics.jsonl in the output folder",
     .help = "write a JSON line a step into FILE"},
    {OPT_STRING, 0, "stats", "FILE", &opt.stats, .implied = "-",
     .unset = "none",
     .help = "print more numbers of the pipeline at the end; with FILE, "
             "write them there as JSON too"},

    {OPT_GROUP, .help = "The drafter"},
    {OPT_INT, 0, "num-draft-layers", "N", &opt.num_draft_layers, .min = 1,
     .max = DF_MAX_LAYERS, .help = "give it N layers"},
    {OPT_INTS, 0, "target-layer-ids", "LIST", &opt.target_layer_ids, .min = 0,
     .max = DF_MAX_LAYERS - 1, .unset = "spread over the target",
     .help = "feed it the residual stream after the target's layers of "
             "LIST, counted from 0"},
    {OPT_INT, 0, "block-size", "N", &opt.block_size, .min = 2,
     .max = DF_MAX_BLOCK,
     .help = "let a block have N slots, the anchor's included"},
    {OPT_INT, 0, "mask-token-id", "ID", &opt.mask_token_id, .min = 0,
     .max = INT32_MAX,
     .unset = "the tokenizer's mask token, or else the first unused row of "
              "the embedding",
     .help = "fill the slots behind the anchor with token ID"},

    {OPT_GROUP, .help = "Samples"},
    {OPT_INT, 0, "num-anchors", "N", &opt.num_anchors, .min = 1,
     .max = 1 << 20, .help = "draw up to N blocks from a sequence"},
    {OPT_FLAG, 0, "whole-blocks", NULL, &opt.whole_blocks,
     .help = "draw no block that runs past the end of its sequence"},
    {OPT_CHOICE, 0, "train-on", "TURNS", &opt.train_on, .choices = turn_names,
     .help = "supervise these turns of the assistant"},
    {OPT_INT, 0, "max-length", "N", &opt.max_length, .min = 2,
     .max = 1 << 24, .help = "cut sequences off after N tokens"},
    {OPT_INT, 0, "token-budget", "N", &opt.token_budget, .min = 2,
     .max = 1 << 28, .help = "fill a batch with up to N tokens"},
    {OPT_INT, 0, "max-batch-size", "N", &opt.max_batch_size, .min = 1,
     .max = 1 << 16, .help = "fill a batch with up to N sequences"},
    {OPT_SIZE, 0, "cache", "BYTES", &opt.cache, .min = 0, .max = LONG_MAX,
     .help = "keep the tokens in memory if they fit into BYTES"},

    {OPT_GROUP, .help = "Training"},
    {OPT_CHOICE, 0, "loss", "KIND", &opt.loss, .choices = loss_names,
     .help = "weigh the slots of a block by KIND"},
    {OPT_REAL, 0, "loss-decay-gamma", "G", &opt.loss_decay_gamma,
     .range = {.max = 1e6},
     .help = "dflash: let the weight of slot j decay as exp(-(j-1)/G); "
             "0: all alike"},
    {OPT_REAL, 0, "dpace-alpha", "A", &opt.dpace_alpha, .range = {.max = 1},
     .help = "dpace: smooth the confidence of a slot by A"},
    {OPT_REAL, 0, "noise", "A", &opt.noise, .range = {.max = 1e6},
     .help = "add noise from [-A, A] to the hidden states"},
    {OPT_INT, 0, "epochs", "N", &opt.epochs, .min = 1, .max = 1 << 20,
     .unset = "1, or what --max-steps needs",
     .help = "go through the data N times"},
    {OPT_INT, 0, "max-steps", "N", &opt.max_steps, .min = 1,
     .max = LONG_MAX / 2, .unset = "none", .help = "stop after N steps"},
    {OPT_REAL, 0, "learning-rate", "R", &opt.learning_rate,
     .range = {.max = 1e3, .above_min = true},
     .help = "let the learning rate rise to R, then fall to 0"},
    {OPT_REAL, 0, "warmup-ratio", "F", &opt.warmup_ratio, .range = {.max = 1},
     .help = "warm up over the fraction F of all steps"},
    {OPT_REAL, 0, "max-grad-norm", "X", &opt.max_grad_norm,
     .range = {.max = NO_LIMIT},
     .help = "clip gradients to norm X; 0: never"},
    {OPT_REAL, 0, "weight-decay", "X", &opt.weight_decay, .range = {.max = 1},
     .help = "decay weights by X times the rate"},
    {OPT_INT, 0, "accumulate", "N", &opt.accumulate, .min = 1, .max = 1 << 16,
     .help = "sum the gradients of N batches a drafter before a step"},
    SEED_OPTION(&opt.seed),

    {OPT_GROUP, .help = "During the run"},
    {OPT_INT, 0, "eval-interval", "N", &opt.eval_interval, .min = 0,
     .max = LONG_MAX / 2,
     .help = "evaluate every N steps; 0: only before the first and after "
             "the last"},
    {OPT_INT, 0, "save-interval", "N", &opt.save_interval, .min = 0,
     .max = LONG_MAX / 2,
     .help = "write a checkpoint every N steps; 0: only at the end"},
    {OPT_INT, 0, "keep", "N", &opt.keep, .min = 0, .max = 1 << 20,
     .help = "keep the newest N checkpoints; 0: all"},
    {OPT_INT, 0, "log-interval", "N", &opt.log_interval, .min = 1,
     .max = LONG_MAX / 2, .help = "without a terminal, print every Nth step"},

    {OPT_GROUP, .help = "Pipeline"},
    {OPT_STRING, 0, "target-devices", "LIST", &opt.target_devices,
     .help = "run a target on each device of LIST: cpu, cpu:1, cuda:0"},
    {OPT_STRING, 0, "drafter-devices", "LIST", &opt.drafter_devices,
     .help = "train a drafter on each device of LIST"},
    {OPT_INT, 0, "prefetch-threads", "N", &opt.prefetch_threads, .min = 1,
     .max = 64, .help = "tokenise in N threads"},
    {OPT_INT, 0, "target-postprocess-depth", "N", &opt.depth, .min = 1,
     .max = 64,
     .help = "let N packed batches a target be on their way to the host"},
    {OPT_FLAG, 0, "split-fc-layers", NULL, &opt.split,
     .help = "pack the layers side by side, with their noise, on the "
             "target's side"},
    {OPT_FLAG, 0, "compile-drafter", NULL, &opt.compile,
     .help = "on GPUs, queue the drafter's passes as graphs, in rounded "
             "sizes"},
    {OPT_INT, 0, "min-ready", "N", &opt.min_ready, .min = 1, .max = 4096,
     .help = "start training when N batches are ready"},
    {OPT_CHOICE, 0, "transport", "HOW", &opt.transport, .choices = transports,
     .help = "bring hidden states to the drafter through host memory, from "
             "device to device, or without a copy on one device (local); "
             "auto: local where that is possible, else host"},
    COMMON_OPTIONS,
    {0},
};
/* clang-format on */

const struct tool train_tool = {
    .name = "dflash-train",
    .summary = "Train a DFlash drafter on the hidden states of a target "
               "that runs beside it.",
    .operands = "",
    .options = options,
};

void
check_options(void)
{
    if (opt.resume && opt.overwrite)
        option_mistake(&train_tool, "--resume and --overwrite exclude each "
                                    "other");
    if (opt.max_length > opt.token_budget)
        option_reject(&train_tool, &opt.token_budget,
                      "%ld is below --max-length, which is %ld",
                      opt.token_budget, opt.max_length);
}

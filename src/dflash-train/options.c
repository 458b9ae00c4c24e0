#include <config.h>

#include <limits.h>
#include <math.h>
#include <string.h>

#include "dflash-train/options.h"
#include "dflash/train.h"

enum {
    NONE = -1 /* of a number that something else decides */
};

struct train_options opt = {
    .block_size = 16,
    .mask_token_id = NONE,
    .num_anchors = 512,
    .loss_decay_gamma = 7,
    .dpace_alpha = 0.5,
    .epochs = 0,
    .accumulate = 1,
    .learning_rate = 6e-4,
    .warmup_ratio = 0.04,
    .max_grad_norm = 1,
    .eval_decode_tokens = 128,
    .keep = 3,
    .log_interval = 10,
    .drafter_devices = "auto",
    .min_ready = 10,
    .split = true,
};

const char *const loss_names[] = {"dflash", "dpace", NULL};
static const char *const verify_names[] = {"all", "sample", "off", NULL};
static const char *const layouts[] = {"zlab", "speculators", NULL};
static const char *const transports[] = {"auto", "host", "peer", "local",
                                         NULL};

/* clang-format off */
#define NO_LIMIT INFINITY

static const struct option_def options[] = {
    {OPT_GROUP, .help = "Input and output"},
    TARGET_OPTION,
    DATA_OPTION("train on", false),
    {OPT_STRINGS, 0, "captures", "FILE", &opt.captures, .unset = "none",
     .help = "train on the captures FILE... instead of data: files or "
             "folders of dflash-capture, or - for a stream on standard "
             "input; of the target only embedding and head are read"},
    {OPT_STRING, 'o', "output", "DIR", &opt.output, .required = true,
     .help = "write drafter, checkpoints and metrics into DIR"},
    {OPT_STRINGS, 0, "eval-data", "FILE", &opt.eval_data,
     .unset = "none", .help = "evaluate on the records of FILE..."},
    {OPT_STRINGS, 0, "eval-captures", "FILE", &opt.eval_captures,
     .unset = "none", .help = "evaluate on the captures FILE..."},
    {OPT_CHOICE, 0, "verify", "ROWS", &opt.verify, .choices = verify_names,
     .help = "compare these rows of captures with their checks"},
    {OPT_STRING, 0, "spool", "FILE", &opt.spool, .unset = "none",
     .help = "copy the stream on standard input into FILE, then train from "
             "there"},
    RECORD_OPTIONS,
    {OPT_STRING, 0, "init-from", "DIR", &opt.init_from,
     .unset = "random weights", .help = "begin with the drafter in DIR"},
    {OPT_CHOICE, 0, "export", "LAYOUT", &opt.layout, .choices = layouts,
     .help = "write the drafter in this layout"},
    {OPT_STRING, 0, "verifier", "NAME", &opt.verifier,
     .unset = "--target as it is given",
     .help = "with --export=speculators: call the target NAME"},
    {OPT_FLAG, 0, "resume", NULL, &opt.resume,
     .help = "go on from the newest checkpoint in the output folder"},
    {OPT_FLAG, 0, "overwrite", NULL, &opt.overwrite,
     .help = "replace the run that the output folder holds"},
    {OPT_STRING, 0, "metrics", "FILE", &opt.metrics,
     .unset = "metrics.jsonl in the output folder",
     .help = "write a JSON line a step into FILE"},
    {OPT_STRING, 0, "stats", "FILE", &opt.stats, .implied = "-",
     .unset = "none",
     .help = "print more numbers of the pipeline at the end; with FILE, "
             "write them there as JSON too"},

    {OPT_GROUP, .help = "The drafter"},
    LAYER_OPTIONS("give it N layers",
                  "feed it the residual stream after the target's layers of "
                  "LIST, counted from 0"),
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
    SAMPLE_OPTIONS,

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
     .max = UINT32_MAX, .unset = "none", .help = "stop after N steps"},
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
    SEED_OPTION(&input.seed),

    {OPT_GROUP, .help = "During the run"},
    {OPT_INT, 0, "eval-interval", "N", &opt.eval_interval, .min = 0,
     .max = LONG_MAX / 2,
     .help = "evaluate every N steps; 0: only before the first and after "
             "the last"},
    {OPT_INT, 0, "eval-decode", "N", &opt.eval_decode, .min = 0,
     .max = 1 << 20,
     .help = "answer the first N prompts of --eval-data with the drafter's "
             "help, and keep the drafter whose accept length is the highest; "
             "0: don't"},
    {OPT_INT, 0, "eval-decode-interval", "N", &opt.eval_decode_interval,
     .min = 0, .max = LONG_MAX / 2,
     .help = "do that every N steps; 0: only after the last"},
    {OPT_INT, 0, "eval-decode-tokens", "N", &opt.eval_decode_tokens, .min = 1,
     .max = 1 << 24, .help = "with answers of up to N tokens"},
    {OPT_INT, 0, "save-interval", "N", &opt.save_interval, .min = 0,
     .max = LONG_MAX / 2,
     .help = "write a checkpoint every N steps; 0: only at the end"},
    {OPT_INT, 0, "keep", "N", &opt.keep, .min = 0, .max = 1 << 20,
     .help = "keep the newest N checkpoints; 0: all"},
    {OPT_INT, 0, "log-interval", "N", &opt.log_interval, .min = 1,
     .max = LONG_MAX / 2, .help = "without a terminal, print every Nth step"},

    {OPT_GROUP, .help = "Pipeline"},
    TARGET_DEVICES_OPTION,
    {OPT_STRING, 0, "drafter-devices", "LIST", &opt.drafter_devices,
     .help = "train a drafter on each device of LIST"},
    FLOW_OPTIONS,
    {OPT_FLAG, 0, "split-fc-layers", NULL, &opt.split,
     .help = "pack the layers side by side, with their noise, on the "
             "target's side"},
    {OPT_FLAG, 0, "compile-drafter", NULL, &opt.compile,
     .help = "on GPUs, queue the drafter's passes as graphs"},
    {OPT_INT, 0, "min-ready", "N", &opt.min_ready, .min = 1, .max = 4096,
     .help = "start training when N batches are ready"},
    {OPT_CHOICE, 0, "transport", "HOW", &opt.transport, .choices = transports,
     .help = "bring hidden states to the drafter through host memory, from "
             "device to device, or without a copy on one device (local); "
             "auto: local where that is possible, else from device to device "
             "where devices reach each other, else host"},
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

/* What captures need, and what they leave no place for.  */
static void
check_captures(void)
{
    bool piped =
        opt.captures.count == 1 && strcmp(opt.captures.items[0], "-") == 0;

    if (input.data.count == 0 && !from_captures())
        option_mistake(&train_tool, "--data or --captures is required");
    if (input.data.count > 0 && from_captures())
        option_mistake(&train_tool, "--data and --captures exclude each "
                                    "other");
    if (from_captures() && opt.eval_data.count > 0)
        option_mistake(&train_tool, "--captures goes with --eval-captures, "
                                    "not with --eval-data");
    if (!from_captures() && opt.eval_captures.count > 0)
        option_mistake(&train_tool, "--eval-captures needs --captures");
    if (opt.spool && !piped)
        option_mistake(&train_tool, "--spool needs --captures -");
}

void
check_options(void)
{
    if (opt.resume && opt.overwrite)
        option_mistake(&train_tool, "--resume and --overwrite exclude each "
                                    "other");
    if (opt.verifier && opt.layout != DF_LAYOUT_SPECULATORS)
        option_mistake(&train_tool, "--verifier needs --export=speculators");
    check_captures();
    if (opt.eval_decode > 0 && opt.eval_data.count == 0)
        option_mistake(&train_tool, "--eval-decode needs --eval-data");
    check_input(&train_tool);
}

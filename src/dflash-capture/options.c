#include <config.h>

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "common/names.h"
#include "dflash-capture/options.h"

enum {
    NONE = -1
};

struct capture_options opt = {
    .format = NONE,
    .layout = DF_CAPTURE_SPLIT,
    .shards = 1,
    .flush_every = 16,
    .max_new_tokens = 512,
    .concurrency = 16,
};

static const char *const formats[] = {"hdf5", "stream", "speculators", NULL};
static const char *const layouts[] = {"packed", "split", NULL};

/* clang-format off */
static const struct option_def options[] = {
    {OPT_GROUP, .help = "Input and output"},
    TARGET_OPTION,
    DATA_OPTION("run it over", true),
    {OPT_STRING, 'o', "output", "FILE", &opt.output, .required = true,
     .help = "write the captures into FILE; - is standard output"},
    {OPT_CHOICE, 0, "format", "KIND", &opt.format, .choices = formats,
     .unset = "by FILE: .h5 or .hdf5, .dfs or -, a folder",
     .help = "write this format: hdf5, a stream for pipes, or the folder "
             "that speculators reads"},
    {OPT_FLAG, 0, "resume", NULL, &opt.resume,
     .help = "go on with FILE, if it exists, with the samples it lacks"},
    {OPT_FLAG, 0, "overwrite", NULL, &opt.overwrite,
     .help = "replace FILE"},
    RECORD_OPTIONS,
    {OPT_STRING, 0, "stats", "FILE", &opt.stats, .implied = "-",
     .unset = "none",
     .help = "print more numbers of the pipeline at the end; with FILE, "
             "write them there as JSON too"},

    {OPT_GROUP, .help = "What is captured"},
    LAYER_OPTIONS("the layers that a drafter of N layers sees by default",
                  "the residual stream after the layers of LIST, counted "
                  "from 0, before any norm"),
    {OPT_FLAG, 0, "last-hidden", NULL, &opt.last_hidden,
     .help = "capture what the last layer leaves, before the final norm, as "
             "well"},
    {OPT_CHOICE, 0, "layout", "KIND", &opt.layout, .choices = layouts,
     .help = "store the layers of a token side by side (packed), or each "
             "layer by itself (split)"},

    {OPT_GROUP, .help = "Samples"},
    SAMPLE_OPTIONS,
    {OPT_INT, 0, "max-samples", "N", &opt.max_samples, .min = 1,
     .max = LONG_MAX / 2, .unset = "all",
     .help = "capture only the first N samples of the data"},
    {OPT_STRING, 0, "shard", "I/N", &opt.shard_text, .unset = "none",
     .help = "capture part I of N, from 1/N to N/N, which together have "
             "every sample once"},
    SEED_OPTION(&input.seed),

    {OPT_GROUP, .help = "Answers"},
    {OPT_FLAG, 0, "generate", NULL, &opt.generate,
     .help = "have the target answer the prompts of the data, and capture "
             "these answers; if FILE ends in .jsonl, write just them, as "
             "training data"},
    {OPT_STRING, 0, "answers", "FILE", &opt.answers, .unset = "none",
     .help = "keep the answers that are captured in FILE (JSONL); with "
             "--resume, go on with those that are there"},
    {OPT_INT, 0, "max-new-tokens", "N", &opt.max_new_tokens, .min = 1,
     .max = 1 << 24, .help = "end an answer after N tokens"},
    {OPT_REAL, 0, "temperature", "T", &opt.temperature,
     .range = {.max = 100},
     .help = "draw tokens at temperature T; 0: take the likeliest"},
    {OPT_INT, 0, "concurrency", "N", &opt.concurrency, .min = 1,
     .max = 4096, .help = "answer N prompts at a time"},

    {OPT_GROUP, .help = "Space"},
    {OPT_FLAG, 0, "estimate", NULL, &opt.estimate,
     .help = "print how many bytes the captures will take and how many are "
             "free, and exit: with status 1 if they don't fit"},
    {OPT_FLAG, 0, "force", NULL, &opt.force,
     .help = "begin even if the captures won't fit"},
    {OPT_INT, 0, "flush-every", "N", &opt.flush_every, .min = 1,
     .max = 1 << 20,
     .help = "commit every Nth sample, and those before it, before going on: "
             "they outlive the process"},

    {OPT_GROUP, .help = "Pipeline"},
    TARGET_DEVICES_OPTION,
    FLOW_OPTIONS,
    COMMON_OPTIONS,
    {0},
};
/* clang-format on */

const struct tool capture_tool = {
    .name = "dflash-capture",
    .summary = "Run a target over a data set and keep the hidden states that "
               "drafters are trained on.",
    .operands = "",
    .options = options,
};

bool
to_stdout(void)
{
    return strcmp(opt.output, "-") == 0;
}

static bool
is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void
find_format(void)
{
    const char *name = opt.output;

    if (opt.format != NONE) {
        if (to_stdout() && opt.format != DF_CAPTURE_STREAM)
            option_reject(&capture_tool, &opt.format,
                          "standard output takes a stream only");
        return;
    }
    if (opt.answers_only)
        return;
    opt.format = to_stdout() ? DF_CAPTURE_STREAM : format_by_name(name);
    if (opt.format == NONE && (ends_in(name, "/") || is_folder(name)))
        opt.format = DF_CAPTURE_SPECULATORS;
    if (opt.format == NONE)
        option_reject(&capture_tool, &opt.output,
                      "'%s' doesn't end in .h5, .hdf5, .dfs or /: tell the "
                      "format by --format",
                      name);
}

/* What goes with --generate.  */
static void
check_generate(void)
{
    const void *const own[] = {&opt.answers, &opt.max_new_tokens,
                               &opt.temperature, &opt.concurrency};
    bool only = ends_in(opt.output, ".jsonl") && opt.format == NONE;

    for (size_t i = 0; !opt.generate && i < sizeof own / sizeof *own; i++)
        if (option_given(&capture_tool, own[i]))
            option_reject(&capture_tool, own[i], "needs --generate");
    if (!opt.generate)
        return;
    if (opt.estimate)
        option_mistake(&capture_tool, "--generate and --estimate exclude "
                                      "each other: nobody knows how long "
                                      "answers will be");
    if (only && opt.answers)
        option_mistake(&capture_tool, "--answers: the answers go to '%s'",
                       opt.output);
    opt.answers_only = only;
    if (only)
        opt.answers = opt.output;
    if (opt.resume && !opt.answers)
        option_mistake(&capture_tool, "--resume: answers that were to be gone "
                                      "with the run: name a file for them by "
                                      "--answers");
}

static void
find_shard(void)
{
    const char *slash = opt.shard_text ? strchr(opt.shard_text, '/') : NULL;
    char first[16] = "";
    int64_t i, n;

    if (!opt.shard_text)
        return;
    if (slash && slash - opt.shard_text < (ptrdiff_t) sizeof first)
        memcpy(first, opt.shard_text, (size_t) (slash - opt.shard_text));
    if (!slash || df_value_int(slash + 1, 1, INT32_MAX, &n) != DF_OK
        || df_value_int(first, 1, n, &i) != DF_OK)
        option_reject(&capture_tool, &opt.shard_text,
                      "'%s' is not I/N with I from 1 to N", opt.shard_text);
    opt.shard = (size_t) i - 1;
    opt.shards = (size_t) n;
}

void
check_options(void)
{
    if (opt.resume && opt.overwrite)
        option_mistake(&capture_tool, "--resume and --overwrite exclude each "
                                      "other");
    check_generate();
    find_format();
    find_shard();
    if (opt.resume && opt.format == DF_CAPTURE_STREAM)
        option_mistake(&capture_tool, "--resume: a stream can't be resumed");
    if (opt.format == DF_CAPTURE_SPECULATORS)
        opt.last_hidden = true; /* always there */
    check_input(&capture_tool);
}

#include <config.h>

#include <limits.h>

#include "dflash-inspect/options.h"
#include "dflash/config.h"

static const char *const layouts[] = {"zlab", "speculators", NULL};

struct inspect_options opt = {
    .convert = -1,
    .limit = 0.02,
    .max_findings = 1000,
    .norm_ratio = 16384,
    .table = 32 << 20,
};

/* clang-format off */
static const struct option_def options[] = {
    {OPT_GROUP, .help = "What to do with the samples"},
    {OPT_FLAG, 0, "pass", NULL, &opt.pass,
     .help = "write good samples to standard output as a stream, and "
             "everything else to standard error"},
    {OPT_STRING, 0, "repair", "FILE", &opt.repair, .unset = "none",
     .help = "write good samples to FILE: HDF5 if its name ends in .h5 or "
             ".hdf5, else a stream"},
    {OPT_FLAG, 0, "force", NULL, &opt.force,
     .help = "replace the file that --repair names, or the drafter in the "
             "folder that --output names"},
    {OPT_STRING, 0, "compare", "OTHER", &opt.compare, .unset = "none",
     .help = "tell how far the samples are from those of the same ids in "
             "the capture OTHER"},
    {OPT_REAL, 0, "limit", "R", &opt.limit, .range = {.max = 1e6},
     .help = "with --compare: the relative error of a layer above which the "
             "exit status is 1"},
    {OPT_STRING, 0, "dump", "SAMPLE", &opt.dump, .unset = "none",
     .help = "print the sample of index SAMPLE, or of the id N if that is "
             "id:N, as text with its loss mask; nothing else"},

    {OPT_GROUP, .help = "What to do with a drafter"},
    {OPT_CHOICE, 0, "convert", "LAYOUT", &opt.convert, .choices = layouts,
     .unset = "none",
     .help = "write the drafter in this layout into the folder of --output"},
    {OPT_STRING, 'o', "output", "DIR", &opt.output, .unset = "none",
     .help = "with --convert: write into DIR"},
    {OPT_STRING, 0, "verifier", "NAME", &opt.verifier,
     .unset = "what the drafter says, or else --target as it is given",
     .help = "with --convert=speculators: call the target NAME"},

    {OPT_GROUP, .help = "What is said"},
    {OPT_FLAG, 0, "json", NULL, &opt.json,
     .help = "print JSON objects, a line each"},
    {OPT_FLAG, 0, "stats", NULL, &opt.stats,
     .help = "print a table of the layers, and how fast it went"},
    {OPT_INT, 0, "max-findings", "N", &opt.max_findings, .min = 0,
     .max = LONG_MAX,
     .help = "print N findings of each kind; all are counted"},

    {OPT_GROUP, .help = "Reading and judging"},
    {OPT_STRING, 't', "target", "DIR", &opt.target, .unset = "none",
     .help = "take vocabulary and tokenizer from the model in DIR; check a "
             "drafter against it, and give it copies of embedding and head "
             "where the layout has them"},
    {OPT_REAL, 0, "norm-ratio", "R", &opt.norm_ratio,
     .range = {.min = 2, .max = 1e30},
     .help = "a norm is absurd if it is R times the layer's mean, or a part "
             "in R of it"},
    {OPT_SIZE, 0, "table", "BYTES", &opt.table, .min = 4096, .max = 1L << 40,
     .help = "remember rows in BYTES of memory to find equal ones"},
    {OPT_INTS, 0, "target-layer-ids", "LIST", &opt.target_layer_ids, .min = 0,
     .max = DF_MAX_LAYERS - 1, .unset = "not known",
     .help = "the layers that a speculators folder has"},
    {OPT_STRING, 0, "data-file", "FILE", &opt.data_file,
     .unset = "DATA.jsonl in the folder or beside it",
     .help = "the data file of a speculators folder"},
    COMMON_OPTIONS,
    {0},
};
/* clang-format on */

const struct tool inspect_tool = {
    .name = "dflash-inspect",
    .summary = "Look captures over: NaN, buffers that were overwritten, "
               "missing data, mistaken identity; and drafters: what engines "
               "would run wrong.",
    .operands = "FILE...",
    .options = options,
};

/* A tool with an option of each type, for options.sh.  It prints what
   parse_options left: the options as a dump, and the operands.  */
#include <config.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "common/message.h"
#include "common/option.h"

static long depth = 1, mask = -1, steps, seed;
static double rate = 6e-4, gamma_ = NAN;
static int transport;
static bool split = true, quiet;
static const char *target, *stats;
static struct string_list data;
static struct int_list layers;
static uint64_t room = 64 << 20;
static const char *const transports[] = {"auto", "host", "peer", NULL};

/* clang-format off */
static const struct option_def options[] = {
    {OPT_GROUP, .help = "Demo options"},
    {OPT_STRING, 't', "target", "DIR", &target, .required = true,
     .help = "read the target from DIR"},
    {OPT_STRINGS, 'd', "data", "FILE", &data, .help = "train on FILE"},
    {OPT_INT, 0, "target-postprocess-depth", "D", &depth, .min = 1, .max = 64,
     .help = "let D packed batches of a target be on their way between the "
             "pack and the place where the drafter finds them"},
    {OPT_INT, 0, "mask-token-id", "ID", &mask, .min = 0, .max = LONG_MAX,
     .unset = "the tokenizer's", .help = "fill blocks with token ID"},
    {OPT_INT, 'n', "max-steps", "N", &steps, .min = 0, .max = LONG_MAX,
     .help = "stop after N steps"},
    {OPT_REAL, 'r', "learning-rate", "R", &rate,
     .range = {.min = 0, .above_min = true, .max = 1},
     .help = "step with rate R"},
    {OPT_REAL, 0, "gamma", "G", &gamma_, .range = {.max = INFINITY},
     .help = "decay by G"},
    {OPT_CHOICE, 0, "transport", "HOW", &transport, .choices = transports,
     .help = "move hidden states by HOW"},
    {OPT_INTS, 0, "target-layer-ids", "LIST", &layers, .min = 0, .max = 63,
     .unset = "spread over the target", .help = "capture the layers of LIST"},
    {OPT_SIZE, 0, "room", "BYTES", &room, .min = 4096, .max = 1L << 40,
     .help = "take at most BYTES"},
    {OPT_FLAG, 0, "split-fc-layers", NULL, &split,
     .help = "pack the layers on the target's side"},
    {OPT_FLAG, 'q', "quiet", NULL, &quiet, .help = "print less"},
    {OPT_STRING, 0, "stats", "FILE", &stats, .implied = "-",
     .help = "print statistics at the end, or into FILE"},
    SEED_OPTION(&seed),
    COMMON_OPTIONS,
    {0},
};
/* clang-format on */

static const struct tool tool = {
    .name = "option-demo",
    .summary = "Show what the option parser of the tools makes of its input.",
    .operands = "[WORD]...",
    .options = options,
};

int
main(int argc, char **argv)
{
    int first = parse_options(&tool, argc, argv);

    for (size_t i = 1; i < layers.count; i++)
        if (layers.items[i] <= layers.items[i - 1])
            option_reject(&tool, &layers, "layer %ld is out of order",
                          (long) layers.items[i]);
    dump_options(&tool, stdout);
    for (int i = first; i < argc; i++)
        printf("operand %s\n", argv[i]);
    return EXIT_OK;
}

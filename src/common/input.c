#include <config.h>

#include "common/input.h"

struct input_options input = {
    .num_draft_layers = 5,
    .max_length = 2048,
    .token_budget = 8192,
    .max_batch_size = 8,
    .cache = 256 << 20,
    .seed = 42,
    .target_devices = "auto",
    .prefetch_threads = 4,
    .depth = 1,
};

const char *const turn_names[] = {"all", "last", NULL};

void
check_input(const struct tool *tool)
{
    if (input.max_length > input.token_budget)
        option_reject(tool, &input.token_budget,
                      "%ld is below --max-length, which is %ld",
                      input.token_budget, input.max_length);
    if (input.max_batch_size > input.token_budget)
        option_reject(tool, &input.max_batch_size,
                      "%ld is above --token-budget, which is %ld",
                      input.max_batch_size, input.token_budget);
}

#include <config.h>

#include "dflash-bench/bench.h"

/* In this order they run.  */
/* clang-format off */
const struct suite suites[] = {
    {"ops", "every operation", bench_ops},
    {"pack", "hidden states packed, with noise and checks", bench_pack},
    {"copy", "copies to and from devices, by size and depth", bench_copy},
    {"postprocess", "pack, copy and publish, by depth", bench_postprocess},
    {"forward", "the target's forward pass", bench_forward},
    {"step", "a step of a drafter, whole and by part", bench_step},
    {"pipeline", "live training, with the stage table", bench_pipeline},
    {"capture", "hidden states into files", bench_capture},
    {"spec", "speculative decoding, beside plain decoding", bench_spec},
    {"sweep", "live training over a grid of settings", bench_sweep},
    {0},
};
/* clang-format on */

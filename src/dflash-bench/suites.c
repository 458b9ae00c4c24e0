#include <config.h>

#include "dflash-bench/bench.h"

/* In this order they run.  */
/* clang-format off */
const struct suite suites[] = {
    {"ops", "every operation", bench_ops},
    {"pack", "hidden states packed, with noise and checks", bench_pack},
    {"copy", "copies to and from devices, by size and depth", bench_copy},
    {"postprocess", "pack, copy and publish, by depth", bench_postprocess},
    {0},
};
/* clang-format on */

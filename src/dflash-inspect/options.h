/* options.h - what dflash-inspect is told.  */

#ifndef DF_INSPECT_OPTIONS_H
#define DF_INSPECT_OPTIONS_H

#include "common/option.h"

struct inspect_options {
    /* What is done with the samples.  */
    bool pass, force;
    int convert; /* enum df_drafter_layout, or -1 */
    const char *output, *verifier;
    const char *repair, *compare, *dump;
    double limit;

    /* What is said.  */
    bool json, stats;
    long max_findings;

    /* How captures are read and judged.  */
    const char *target, *data_file;
    struct int_list target_layer_ids;
    double norm_ratio;
    uint64_t table;
};

extern struct inspect_options opt;
extern const struct tool inspect_tool;

#endif

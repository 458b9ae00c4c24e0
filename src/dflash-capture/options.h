/* options.h - what dflash-capture is told.  */

#ifndef DF_CAPTURE_OPTIONS_H
#define DF_CAPTURE_OPTIONS_H

#include "common/input.h"
#include "dflash/record.h"

struct capture_options {
    const char *output, *stats;
    int format; /* enum df_capture_format */
    int layout; /* enum df_capture_layout */
    bool last_hidden, estimate, force, resume, overwrite;
    const char *shard_text;
    size_t shard, shards; /* number from 0, of how many */
    long flush_every, max_samples;

    /* The target's own answers.  */
    bool generate;
    bool answers_only;   /* OUTPUT is for answers, nothing is captured */
    const char *answers; /* file for them, or NULL */
    long max_new_tokens, concurrency;
    double temperature;
};

enum {
    GENERATE_PREFILL = 512 /* tokens of prompts in a pass */
};

extern struct capture_options opt;
extern const struct tool capture_tool;

/* Whether the samples go to standard output, so that nothing else may.  */
bool to_stdout(void);

/* Exit with a message unless the options go together; find out the format
   and the shard.  */
void check_options(void);

#endif

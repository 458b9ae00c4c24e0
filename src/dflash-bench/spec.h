/* spec.h - speculative decoding: prompts, models, and runs over all prompts.

       prompts --> plain decoding, a token a step        --> answers, times
               --> drafted and verified, a block a round --> answers, times

   The plain steps that times are compared with have as few rows as there are
   requests; those that tokens are compared with have the rows of a
   verification, so that products round alike.  */

#ifndef DF_BENCH_SPEC_H
#define DF_BENCH_SPEC_H

#include "dflash-bench/workload.h"
#include "dflash/decode.h"

/* Prompts, and the tokens that end their answers.  */
struct spec_prompts {
    struct df_prompt *items; /* [n] */
    size_t n;
    size_t length; /* all have at most so many tokens */
    int32_t *stop_ids;
    size_t n_stop_ids;
};

/* The prompts of the options' files; without files N of random tokens, whose
   answers nothing ends.  All zero before; free them after a failure too.  */
DF_MUST_USE df_status spec_prompts_open(struct spec_prompts *p,
                                        const struct workload *w, size_t n);
void spec_prompts_free(struct spec_prompts *p);

/* The models on a device.  */
struct spec_models {
    struct df_device *dev;
    struct df_embeddings embeddings;
    struct df_target *target;
    struct df_drafter *drafter;
    struct df_stream *stream;
};

/* For up to CONCURRENCY requests at a time.  All zero before; close them
   after a failure too.  */
DF_MUST_USE df_status spec_models_open(struct spec_models *m,
                                       const struct workload *w,
                                       struct df_device *dev, size_t length,
                                       size_t concurrency);
void spec_models_close(struct spec_models *m);

/* What a case decodes like.  */
struct spec_way {
    size_t concurrency;
    bool drafted;
    size_t forced; /* accept length; 0: as it comes */
};

/* A run over all prompts.  */
struct spec_run {
    struct spec_answer {
        int32_t *ids;
        size_t n;
    } * answers; /* [prompts] */
    size_t n;
    struct df_decode_stats stats;
};

/* A decoder, warmed up, and the runs that it does.  */
struct spec_decoder {
    const struct spec_prompts *prompts;
    struct df_generator *generator;
    size_t next; /* prompt */
    struct spec_run *run;
    struct result *r; /* gets the times of rounds, or NULL */
    size_t every;     /* rounds of which one is a sample */
    size_t rounds;
};

/* All zero before; close it after a failure too.  */
DF_MUST_USE df_status spec_decoder_open(struct spec_decoder *d,
                                        const struct spec_models *m,
                                        const struct spec_prompts *prompts,
                                        const struct spec_way *way);
void spec_decoder_close(struct spec_decoder *d);

/* Answer all prompts, PLAIN or with the drafter; clear RUN also after a
   failure.  R, unless NULL, has room for 2 * --repeat samples, and gets the
   times of rounds spread evenly over the run.  */
DF_MUST_USE df_status spec_decode(struct spec_decoder *d, bool plain,
                                  struct spec_run *run, struct result *r);
void spec_run_clear(struct spec_run *run);

#endif

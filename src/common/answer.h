/* answer.h - a tool's target answers prompts.  */

#ifndef DF_ANSWER_H
#define DF_ANSWER_H

#include "common/model.h"
#include "dflash/decode.h"

enum {
    MAX_STOPS = DF_MAX_EOS_IDS + 1
};

/* Tokens that end an answer: those of the configuration, and the tokenizer's
   own.  */
struct stop_list {
    int32_t ids[MAX_STOPS];
    size_t n;
};
void model_stops(const struct model *m, struct stop_list *out);

/* A target with all that decoding needs; without a drafter.  */
struct answerer {
    struct df_embeddings embeddings;
    struct df_target *target;
    struct df_stream *stream;
    struct df_generator *generator;
};

/* Load M onto DEV, for decoding as OPTIONS say; warmed up.  Close it, also
   after a failure.  */
df_status answerer_open(struct answerer *a, const struct model *m,
                        struct df_device *dev,
                        const struct df_generator_options *options);
void answerer_close(struct answerer *a);

#endif

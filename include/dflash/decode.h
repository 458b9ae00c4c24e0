/* decode.h - answers of a target, drafted by a drafter or token by token.

       prompts -> [prefill] -> first token
                                   |
             +---------------------+
             v
       anchor and masks -> [draft] -> block -> [verify] -> tokens that stay
             ^              ^  cache            |   cache      and one more
             |              +--- hidden states -+                  |
             +-----------------------------------------------------+-> answer

   Several requests are decoded beside each other; each has a slot of the two
   caches.  A round drafts a block for every request, and the target verifies
   all blocks in one pass.  What is kept is what the target alone would have
   said: at temperature 0 token by token, else in distribution.  The host
   reads the tokens of a round and nothing else.

   The tokens of a request follow from its prompt, its id and the seed: not
   from the requests beside it.  To that end all passes have one of two sizes,
   whatever is in them, and what is missing is padding.

   All memory is got by df_generator_new and df_generator_warm_up.  */

#ifndef DFLASH_DECODE_H
#define DFLASH_DECODE_H

#include "dflash/drafter.h"
#include "dflash/target.h"

DF_BEGIN_DECLS

struct df_generator;

struct df_generator_options {
    size_t concurrency;    /* requests at a time, at least 1 */
    size_t max_seqlen;     /* tokens of a prompt and its answer, at least 2 */
    size_t max_new_tokens; /* of an answer, at least 1 */
    size_t prefill_rows;   /* tokens of prompts in a pass, at least 1 */
    float temperature;     /* 0: greedy */
    uint64_t seed;
    const int32_t *stop_ids; /* [n_stop_ids] tokens that end an answer, being
                                its last */
    size_t n_stop_ids;
    bool graphs; /* on GPUs, queue a round as a graph */
    bool timed;  /* have the device tell how long drafting takes */
    /* Plain decoding with products of CONCURRENCY rows instead of a block
       for each: as fast as it gets, but then other bits may come out than of
       verification, and with them, on a GPU, other tokens.  */
    bool narrow;
    size_t forced_accept; /* test switch: each round gives so many tokens, at
                             most a block, right or wrong; 0: off */
};

/* What a target and its embeddings have to be made with, for a decoder of
   OPTIONS with blocks of BLOCK_SIZE, or 1 without a drafter.  Of the limits,
   max_tokens and max_seqlen count, as the least.  */
DF_EXPORT struct df_batch_limits
df_generator_limits(const struct df_generator_options *options,
                    size_t block_size);

/* A decoder that queues on STREAM.  TARGET has all its layers, and the head;
   DRAFTER is NULL for plain decoding alone.  Both, and STREAM, must outlive
   the decoder; OPTIONS need not.  DF_SHAPE if they don't fit together.  */
DF_EXPORT DF_MUST_USE df_status
df_generator_new(struct df_generator **out, struct df_target *target,
                 const struct df_drafter *drafter, struct df_stream *stream,
                 const struct df_generator_options *options);
DF_EXPORT void df_generator_free(struct df_generator *d);

/* Run the largest passes once, so that nothing is allocated later.  */
DF_EXPORT DF_MUST_USE df_status df_generator_warm_up(struct df_generator *d);

struct df_prompt {
    uint64_t id;        /* names the request's random numbers */
    const int32_t *ids; /* [n] */
    size_t n;           /* at least 1, less than max_seqlen */
};

struct df_answer {
    uint64_t id;        /* as in the prompt */
    size_t index;       /* number of the prompt, from 0 */
    const int32_t *ids; /* [n] new tokens, the stop token included */
    size_t n;           /* at least 1 */
    bool stopped;       /* by a stop token; else by a limit */
    /* Rounds of this request, and the tokens that each gave; of the last,
       those too that were cut off.  The first token comes of the prefill.  */
    const uint8_t *accept; /* [rounds] */
    size_t rounds;
};

/* What df_generate does, and what it calls, in its own thread.  Pointers stay
   valid until the next call of the same function.  NEXT returns DF_END
   behind the last prompt.  DONE gets answers as they end, which is not the
   order of the prompts.  */
struct df_decode_job {
    void *arg;
    df_status (*next)(void *arg, struct df_prompt *out);
    df_status (*done)(void *arg, const struct df_answer *answer);
    /* NULL, or told of each round as it's over: what it took, drafting and
       all.  */
    void (*round)(void *arg, double seconds);
    bool plain; /* without the drafter, a token a round */
};

/* Decode all prompts.  DF_SHAPE for a prompt that is empty or too long,
   DF_INVALID for a token outside the vocabulary; any failure of the job's
   functions is returned.  */
DF_EXPORT DF_MUST_USE df_status df_generate(struct df_generator *d,
                                            const struct df_decode_job *job);

/* Of all calls since the decoder was made or the numbers were cleared.  */
struct df_decode_stats {
    uint64_t requests, tokens; /* tokens: of answers */
    uint64_t prompt_tokens;
    /* Of drafted rounds, one for each request: */
    uint64_t rounds, accepted;          /* accept lengths, and their sum */
    uint64_t lengths[DF_MAX_BLOCK + 1]; /* rounds of each accept length */
    uint64_t passes;                    /* of the target, but for prefills */
    double seconds;                     /* in df_generate */
    double prefill, draft, verify;      /* of them; DRAFT is in VERIFY unless
                                           timed.  VERIFY is also plain decoding,
                                           and has what the host does */
    uint64_t allocations;               /* by the device since the warm-up */
};
DF_EXPORT void df_generator_get_stats(const struct df_generator *d,
                                      struct df_decode_stats *out);
DF_EXPORT void df_generator_clear_stats(struct df_generator *d);

/* Mean accept length; 0 without a round.  And the part of the rounds that
   came to slot J, from 1, whose token stayed there: the acceptance of a
   slot given that of those before it.  0 if none came to it.  */
DF_EXPORT double df_decode_mean_accept(const struct df_decode_stats *s);
DF_EXPORT double df_decode_slot_accept(const struct df_decode_stats *s,
                                       size_t j);

DF_END_DECLS
#endif

/* decode_internal.h - a decoder from the inside.

   C requests at a time, blocks of b slots; M = C*b rows of a round, P of a
   prefill.  A slot has `places` rows in each cache: max_seqlen, and a block
   behind it.  Requests that are under way are packed into a pass in the order
   of their slots.  */

#ifndef DF_DECODE_INTERNAL_H
#define DF_DECODE_INTERNAL_H

#include "base/arena_internal.h"
#include "dflash/decode.h"
#include "draft/cache_internal.h"
#include "model/target_internal.h"

/* What is queued at a time, or is a graph.  */
enum df_decode_part {
    DF_DECODE_DRAFT,
    DF_DECODE_VERIFY,
    DF_DECODE_PLAIN,
    DF_DECODE_PARTS
};

/* What a pass is told: the same layout on the host and on the device.  */
struct df_pass_arrays {
    uint64_t *request;  /* [rows] */
    int32_t *ids;       /* [rows] */
    int32_t *pos;       /* [rows] place in its request */
    int32_t *cache_row; /* [rows], -1: padding */
    int32_t *cu;        /* [C+1] first row of each request */
    int32_t *cu_blocks; /* [C+1] first block */
    int32_t *kv_begin;  /* [C] cache row of the request's first token */
    int32_t *past;      /* [C] tokens in the cache */
    int32_t *anchor;    /* [C] cache row of the anchor */
    /* Of a prefill: row of a prompt's last token, its request, its place.  */
    int32_t *last, *last_pos; /* [C] */
    uint64_t *last_request;   /* [C] */
};

/* A request, in the slot of its number.  */
struct df_request {
    bool busy;
    uint64_t id;
    size_t index;
    int32_t *tokens;  /* [max_seqlen + 1] prompt and answer */
    uint8_t *accept;  /* [max_new_tokens] */
    size_t prompt, n; /* tokens of the prompt; of both */
    size_t cached;    /* tokens of the prompt that have been through */
    size_t rounds;
    bool stopped;
};

struct df_generator {
    struct df_generator_options o;
    int32_t *stop_ids;
    struct df_target *target;
    const struct df_drafter *drafter; /* or NULL */
    struct df_draft_cache *draft;     /* NULL without a drafter */
    struct df_stream *stream;
    struct df_device *dev;
    size_t C, b, M, P, rows; /* rows: the greater of M and P */
    size_t places, V, ldz, H;
    size_t pass_rows; /* of the pass that is being queued */

    struct df_arena host, device, memory;
    struct df_pass_arrays at_host, at_device;
    int32_t *result_host; /* [C,b+1] */
    int32_t *result;      /* [C,b+1] count and tokens; plain: tokens [C] */
    size_t array_bytes;   /* of at_host and at_device */
    int32_t *every_row;   /* [rows] 0, 1, 2... */
    void **kv;            /* [layers] the target's cache */
    void *norm;           /* [M,H] */
    float *z, *z_draft;   /* [M,ldz] logits; one array at temperature 0 */

    struct df_request *requests; /* [C] */
    char *texts;                 /* of the requests' arrays */
    size_t *active;              /* [C] slots under way, ascending */
    size_t n_active;

    struct df_graph *graphs[DF_DECODE_PARTS];
    bool queued[DF_DECODE_PARTS];     /* some time before */
    struct df_event *begun, *drafted; /* timed, or NULL */
    bool ended;                       /* no more prompts */
    size_t n_taken;                   /* prompts so far */
    uint64_t allocations;
    struct df_decode_stats stats;
};

static inline int32_t
df_cache_begin(const struct df_generator *d, size_t slot)
{
    return (int32_t) (slot * d->places);
}

/* Fill the free slots with prompts of JOB.  */
DF_MUST_USE df_status df_decode_admit(struct df_generator *d,
                                      const struct df_decode_job *job);

/* Bring the prompts that are not in the caches there, and the first token of
   each to its answer.  */
DF_MUST_USE df_status df_decode_prefill(struct df_generator *d);

/* A round of the requests under way: one pass of the target.  */
DF_MUST_USE df_status df_decode_round(struct df_generator *d,
                                      const struct df_decode_job *job);

/* Hand over the answers that have ended, and free their slots.  */
DF_MUST_USE df_status df_decode_finish(struct df_generator *d,
                                       const struct df_decode_job *job);

/* Append N tokens of one round, or of the prefill, to R's answer, up to its
   end.  */
void df_decode_append(struct df_generator *d, struct df_request *r,
                      const int32_t *tokens, size_t n);

/* Whether R's answer is whole.  */
bool df_decode_whole(const struct df_generator *d, const struct df_request *r);

/* Queue a part of a round, or a prefill, the arrays being on the device.  A
   round and a prefill leave the result.  */
DF_MUST_USE df_status df_decode_queue(struct df_generator *d,
                                      enum df_decode_part part);
DF_MUST_USE df_status df_decode_queue_prefill(struct df_generator *d);

/* Queue the arrays' way to the device.  */
DF_MUST_USE df_status df_decode_send(struct df_generator *d);

/* No request in the host's arrays: all rows are padding.  */
void df_decode_clear(struct df_generator *d);

/* Row T of them becomes token ID of request R, which has SLOT, at PLACE.  */
void df_decode_set_row(struct df_generator *d, size_t t, size_t slot,
                       int32_t id, size_t place);

#endif

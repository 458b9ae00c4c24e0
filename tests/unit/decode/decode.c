/* Decoding with a drafter of random weights: what comes out is what the
   target says alone, however it is cut up.  */
#include <config.h>

#include <math.h>

#include "unit/decode/rig.h"

static struct df_generator_options
options(void)
{
    return (struct df_generator_options){.concurrency = 3,
                                         .max_seqlen = RIG_LENGTH,
                                         .max_new_tokens = 40,
                                         .prefill_rows = 64,
                                         .graphs = true};
}

static bool
same(const struct rig_answer *a, const struct rig_answer *b)
{
    for (size_t i = 0; i < RIG_PROMPTS; i++)
        if (!a[i].there || !b[i].there || a[i].n != b[i].n
            || a[i].stopped != b[i].stopped
            || memcmp(a[i].ids, b[i].ids, a[i].n * sizeof *a[i].ids) != 0) {
            diag("answer %zu: %zu and %zu tokens", i, a[i].n, b[i].n);
            return false;
        }
    return true;
}

/* The greatest logit behind TEXT[n], in a pass of its own, without a cache. */
static int32_t
next_token(struct rig *r, struct df_batch *batch, const int32_t *text,
           size_t n)
{
    static uint8_t mask[RIG_LENGTH];
    const int32_t last = (int32_t) n - 1;
    float z[TINY_VOCAB], *logits;
    struct df_batch_arrays arrays;
    void *memory, *norm;
    int32_t *row, best = 0;

    CHECKED(df_device_alloc(r->dev, DF_MEM_DEVICE, batch->bytes, &memory));
    CHECKED(df_device_alloc(r->dev, DF_MEM_DEVICE, 256, (void **) &row));
    CHECKED(df_device_alloc(r->dev, DF_MEM_DEVICE, 256, &norm));
    CHECKED(
        df_device_alloc(r->dev, DF_MEM_DEVICE, sizeof z, (void **) &logits));
    df_batch_layout(&batch->limits, memory, &arrays);
    df_batch_clear(batch);
    CHECKED(df_batch_add(batch, &(struct df_sample){0, n, text, mask}));
    CHECKED(df_batch_finish(batch, 0, 0));
    CHECKED(df_copy(r->stream, memory, batch->memory, batch->bytes));
    CHECKED(df_copy(r->stream, row, &last, sizeof last));
    CHECKED(
        df_target_forward(r->target, r->stream, batch, &arrays, NULL, NULL));
    CHECKED(df_target_logits(r->target, r->stream, row, 1, norm, logits));
    CHECKED(df_copy(r->stream, z, logits, sizeof z));
    CHECKED(df_stream_sync(r->stream));
    for (int32_t v = 1; v < TINY_VOCAB; v++)
        best = z[v] > z[best] ? v : best;
    df_device_free(r->dev, DF_MEM_DEVICE, logits);
    df_device_free(r->dev, DF_MEM_DEVICE, norm);
    df_device_free(r->dev, DF_MEM_DEVICE, row);
    df_device_free(r->dev, DF_MEM_DEVICE, memory);
    return best;
}

/* Each token of the answers, from the target without a cache.  */
static void
test_target(struct rig *r, const struct rig_answer *answers, const char *name)
{
    const struct df_batch_limits limits = {.max_tokens = RIG_LENGTH,
                                           .max_seqs = 1,
                                           .max_seqlen = RIG_LENGTH,
                                           .num_anchors = 1,
                                           .block_size = 4};
    struct df_batch *batch;
    size_t wrong = 0;

    if (!df_device_is_cpu(r->dev)) {
        skip("%s: a cache changes no bit: on the CPU alone", name);
        return;
    }
    CHECKED(df_batch_new(&batch, &limits, NULL));
    for (size_t i = 0; i < RIG_PROMPTS; i++) {
        int32_t text[2 * RIG_LENGTH];
        size_t n = rig_prompt(i, text);

        for (size_t t = 0; t < answers[i].n; t++) {
            wrong += next_token(r, batch, text, n) != answers[i].ids[t];
            text[n++] = answers[i].ids[t];
        }
    }
    df_batch_free(batch);
    is_long(0, (long) wrong, "%s: tokens that a pass over all wouldn't choose",
            name);
}

static void
test_ways(struct rig *r, const char *name, struct rig_answer *wanted)
{
    static const struct {
        size_t concurrency, prefill;
        bool plain, timed, narrow;
    } ways[] = {
        {1, 1,   true,  false, false},
        {5, 100, true,  false, false},
        {1, 64,  false, false, false},
        {3, 7,   false, true,  false},
        {8, 200, false, false, false},
        {2, 3,   false, false, true },
    };
    static struct rig_answer seen[RIG_PROMPTS];
    struct df_generator_options o = options();
    struct df_decode_stats stats;

    rig_run(r, &o, true, wanted, &stats);
    is_long(0, (long) stats.rounds, "%s: plain decoding drafts nothing", name);
    test_target(r, wanted, name);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        o.concurrency = ways[i].concurrency;
        o.prefill_rows = ways[i].prefill;
        o.timed = ways[i].timed;
        o.narrow = ways[i].narrow;
        rig_run(r, &o, ways[i].plain, seen, &stats);
        ok(same(wanted, seen) && stats.allocations == 0,
           "%s: %s, %zu at a time, prefill of %zu: %llu allocations", name,
           ways[i].plain ? "plain" : "drafted", o.concurrency, o.prefill_rows,
           (unsigned long long) stats.allocations);
    }
}

/* With an accept length that is forced, wrong tokens come, but counts are
   right.  */
static void
test_counts(struct rig *r)
{
    static struct rig_answer seen[RIG_PROMPTS];
    struct df_generator_options o = options();
    struct df_decode_stats stats;
    size_t wanted = 0, rounds = 0, accepted = 0, tokens = 0;

    o.forced_accept = 3;
    rig_run(r, &o, false, seen, &stats);
    for (size_t i = 0; i < RIG_PROMPTS; i++) {
        wanted += (seen[i].n - 1 + 2) / 3;
        rounds += seen[i].rounds;
        accepted += seen[i].accepted;
        tokens += seen[i].n;
    }
    is_long((long) wanted, (long) rounds, "forced: a round every 3 tokens");
    is_long((long) (3 * rounds), (long) accepted, "and 3 in each");
    ok(stats.rounds == rounds && stats.lengths[3] == rounds
           && stats.accepted == accepted && stats.tokens == tokens
           && stats.requests == RIG_PROMPTS,
       "and so do the statistics say");
    ok(df_decode_mean_accept(&stats) == 3
           && df_decode_slot_accept(&stats, 1) == 1
           && df_decode_slot_accept(&stats, 2) == 1
           && df_decode_slot_accept(&stats, 3) == 0,
       "mean, and acceptance by slot");
}

/* Every round is told of, and a timed drafter has its part of it.  */
static void
test_times(struct rig *r)
{
    static struct rig_answer seen[RIG_PROMPTS];
    struct rig_job job = {.n = RIG_PROMPTS, .answers = seen};
    struct df_generator_options o = options();
    struct df_decode_stats s;

    o.timed = true;
    CHECKED(rig_try(r, &o, false, &job, &s));
    is_long((long) s.passes, (long) job.rounds, "each round is told");
    ok(s.draft > 0 && s.draft < job.seconds && s.verify > 0
           && fabs(s.draft + s.verify - job.seconds) < 1e-6
           && s.prefill + job.seconds <= s.seconds,
       "drafting %g s and verification %g s are its %g s, of %g s in all",
       s.draft, s.verify, job.seconds, s.seconds);
}

/* Answers end with the first stop token, wherever in a block it is.  */
static void
test_stop(struct rig *r, const struct rig_answer *whole)
{
    static struct rig_answer seen[RIG_PROMPTS];
    struct df_generator_options o = options();
    struct df_decode_stats stats;
    size_t good = 0, tried = 0;

    for (size_t at = 0; at < 6; at++) {
        const int32_t stop[] = {TINY_MASK_ID, whole[2].ids[at * at]};

        o.stop_ids = stop;
        o.n_stop_ids = 2;
        o.forced_accept = 0;
        rig_run(r, &o, at % 2, seen, &stats);
        for (size_t i = 0; i < RIG_PROMPTS; i++, tried++) {
            size_t n = 0;

            while (n < whole[i].n && whole[i].ids[n] != stop[1]
                   && whole[i].ids[n] != stop[0])
                n++;
            good += seen[i].stopped == (n < whole[i].n)
                    && seen[i].n == n + (n < whole[i].n)
                    && memcmp(seen[i].ids, whole[i].ids,
                              seen[i].n * sizeof *seen[i].ids)
                           == 0;
        }
    }
    is_long((long) tried, (long) good, "answers end with a stop token");
}

/* A request that fills its slot to the last place, in every length of its
   last block; and answers of few tokens.  */
static void
test_ends(struct rig *r, const struct rig_answer *whole)
{
    static struct rig_answer seen[RIG_PROMPTS];
    struct df_generator_options o = options();
    struct df_decode_stats stats;
    size_t good = 0, tried = 0;

    for (size_t room = 1; room < 8; room++) {
        o.max_seqlen = RIG_LENGTH - 25 + room;
        o.max_new_tokens = room % 2 ? 40 : room;
        rig_run(r, &o, false, seen, &stats);
        for (size_t i = 0; i < RIG_PROMPTS; i++, tried++) {
            size_t n = i == 7 || room % 2 == 0 ? room : 40;

            good +=
                seen[i].n == n
                && memcmp(seen[i].ids, whole[i].ids, n * sizeof *seen[i].ids)
                       == 0;
        }
    }
    is_long((long) tried, (long) good, "answers end where there is no room");
}

static void
refused(struct rig *r, const struct df_generator_options *o, size_t first,
        size_t n, df_status wanted, const char *part)
{
    static struct rig_answer seen[RIG_PROMPTS];
    struct rig_job job = {.first = first, .n = n, .answers = seen};
    struct df_decode_stats stats;
    df_status status = rig_try(r, o, false, &job, &stats);

    if (!ok(status == wanted && strstr(df_error_last()->message, part),
            "refused: %s", part))
        diag("%d: %s", status, df_error_last()->message);
}

static void
test_refusals(struct rig *r)
{
    struct df_generator_options o = options(), bad;

#define BAD(member, value, status, part) \
    (bad = o, bad.member = (value),      \
     refused(r, &bad, 0, RIG_PROMPTS, status, part))
    BAD(concurrency, 0, DF_INVALID, "0 requests at a time");
    BAD(temperature, -1, DF_INVALID, "temperature is -1");
    BAD(temperature, 1e-35f, DF_INVALID, "temperature is 1e-35");
    BAD(forced_accept, 5, DF_INVALID, "a block has 4 slots");
    BAD(max_seqlen, 200, DF_SHAPE, "204 are needed");
    BAD(concurrency, 80, DF_SHAPE, "320 and");
    BAD(max_seqlen, 20, DF_SHAPE, "prompt 7: 125 tokens, not in 1 to 19");
#undef BAD
}

int
main(void)
{
    static struct rig_answer plain[RIG_PROMPTS], windowed[RIG_PROMPTS];
    struct rig r = {0};

    plan(2 * 8 + 4 + 2 + 2 + 7);
    rig_make(&r, 0);
    test_ways(&r, "full attention", plain);
    test_counts(&r);
    test_times(&r);
    test_stop(&r, plain);
    test_ends(&r, plain);
    test_refusals(&r);
    rig_clear(&r);
    rig_make(&r, 9);
    test_ways(&r, "window", windowed);
    rig_clear(&r);
    return 0;
}

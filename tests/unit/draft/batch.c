#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dflash/batch.h"
#include "tap/tap.h"

static const struct df_batch_limits small = {
    .max_tokens = 32,
    .max_seqs = 4,
    .max_seqlen = 16,
    .num_anchors = 8,
    .block_size = 4,
    .mask_token_id = 99,
};

static struct df_batch *
new_batch(struct df_batch_limits limits)
{
    struct df_batch *batch;

    if (df_batch_new(&batch, &limits, NULL) != DF_OK) {
        diag("%s", df_error_last()->message);
        exit(1);
    }
    return batch;
}

/* The sample ID with a mask like "1101"; its tokens are 10, 11, ...  */
static df_status
add(struct df_batch *batch, uint64_t id, const char *mask)
{
    int32_t ids[64];
    uint8_t bits[64];
    struct df_sample s = {id, strlen(mask), ids, bits};

    for (size_t i = 0; i < s.n; i++) {
        ids[i] = 10 + (int32_t) i;
        bits[i] = mask[i] == '1';
    }
    return df_batch_add(batch, &s);
}

static int
same(const int32_t *wanted, const int32_t *seen, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (wanted[i] == seen[i])
            continue;
        diag("element %zu: wanted %d, seen %d", i, wanted[i], seen[i]);
        return 0;
    }
    return 1;
}

static void
test_candidates(void)
{
    /* mask, block size if whole blocks only, wanted number.  */
    static const struct {
        const char *mask;
        size_t whole;
        long wanted;
    } cases[] = {
        {"",        0, 0},
        {"1",       0, 0},
        {"11",      0, 1},
        {"1101011", 0, 2},
        {"0000",    0, 0},
        {"1010101", 0, 0},
        {"1111",    0, 3},
        {"1111",    4, 0},
        {"11111",   4, 1},
        {"111",     4, 0},
        {"1111111", 4, 3},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct df_batch_limits l = small;
        uint8_t bits[16];
        size_t n = strlen(cases[c].mask);

        for (size_t i = 0; i < n; i++)
            bits[i] = cases[c].mask[i] == '1';
        l.whole_blocks_only = cases[c].whole > 0;
        is_long(cases[c].wanted, (long) df_anchor_candidates(bits, n, &l),
                "candidates of '%s'%s", cases[c].mask,
                cases[c].whole ? ", whole blocks" : "");
    }
}

/* Two sequences; every candidate is an anchor.  */
static void
test_blocks(void)
{
    static const int32_t anchor[] = {0, 5, 8, 9}, begin[] = {0, 0, 7, 7};
    static const int32_t cu_seqlens[] = {0, 7, 11}, cu_blocks[] = {0, 2, 4};
    static const int32_t block_ids[] = {10, 99, 99, 99, 15, 99, 99, 99,
                                        11, 99, 99, 99, 12, 99, 99, 99};
    static const int32_t block_pos[] = {0, 1, 2, 3, 5, 6, 7, 8,
                                        1, 2, 3, 4, 2, 3, 4, 5};
    /* Holes of the mask and the end of the sequence leave slots out.  */
    static const int32_t slot[] = {1, 3, 5, 9, 10, 13};
    static const int32_t labels[] = {11, 13, 16, 12, 13, 13};
    static const int32_t pos[] = {0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3};
    struct df_batch *b = new_batch(small);

    is_long(DF_OK, add(b, 7, "1101011"), "a sequence is added");
    is_long(DF_OK, add(b, 1ull << 40, "0111"), "and another");
    is_long(DF_OK, df_batch_finish(b, 1, 0), "the batch is finished");
    ok(b->T == 11 && b->B == 2 && b->N == 4 && b->R == 6, "its sizes");
    ok(b->max_seqlen == 7 && b->max_blocks == 2, "its largest sequence");
    ok(same(anchor, b->host.anchor, 4), "mask 1101011 has anchors 0 and 5");
    ok(same(begin, b->host.begin, 4), "begin");
    ok(same(cu_seqlens, b->host.cu_seqlens, 3), "cu_seqlens");
    ok(same(cu_blocks, b->host.cu_blocks, 3), "cu_blocks");
    ok(same(pos, b->host.pos, 11), "pos");
    ok(same(block_ids, b->host.block_ids, 16), "block ids");
    ok(same(block_pos, b->host.block_pos, 16), "block positions");
    ok(same(slot, b->host.slot, 6), "supervised slots");
    ok(same(labels, b->host.labels, 6), "labels");
    ok(b->host.sample[6] == 7 && b->host.sample[7] == 1ull << 40,
       "each row knows its sample");
    ok(df_batch_weight(b, 0) == 6, "the weight without decay");
    ok(fabs(df_batch_weight(b, 2) - (4 + exp(-.5) + exp(-1))) < 1e-12,
       "the weight with gamma 2");

    struct df_block_map map = df_batch_block_map(b, &b->host);
    ok(map.B == 2 && map.N == 4 && map.b == 4 && map.T == 11
           && map.anchor == b->host.anchor && map.max_blocks == 2,
       "the map of the blocks");

    /* The same batch memory serves again.  */
    df_batch_clear(b);
    is_long(DF_OK, add(b, 8, "0000"), "a cleared batch takes a sample");
    is_long(DF_OK, df_batch_finish(b, 1, 0), "without any candidate");
    ok(b->N == 0 && b->R == 0 && b->T == 4 && b->host.cu_blocks[1] == 0,
       "it has no block");
    df_batch_free(b);
}

static void
test_given_anchors(void)
{
    static const struct {
        int32_t anchors[3];
        size_t counts[2];
        df_status wanted;
    } cases[] = {
        {{2, 6, 0},  {2, 1}, DF_OK   },
        {{0, 3, 0},  {0, 2}, DF_OK   },
        {{2, 2, 0},  {2, 1}, DF_SHAPE},
        {{3, 2, 0},  {2, 1}, DF_SHAPE},
        {{-1, 2, 0}, {2, 1}, DF_SHAPE},
        {{2, 7, 0},  {2, 1}, DF_SHAPE},
        {{2, 6, 4},  {2, 1}, DF_SHAPE},
        {{0, 1, 2},  {9, 0}, DF_SHAPE},
    };
    struct df_batch *b = new_batch(small);

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        df_batch_clear(b);
        if (add(b, 1, "1111111") != DF_OK || add(b, 2, "1111") != DF_OK)
            diag("%s", df_error_last()->message);
        is_long(cases[c].wanted,
                df_batch_finish_with(b, cases[c].anchors, cases[c].counts),
                "given anchors, case %zu", c);
    }
    df_batch_free(b);
}

/* Draws depend on seed, sample and epoch, not on the company; they are fair,
   distinct and ascending.  */
static void
test_draws(void)
{
    struct df_batch_limits l = small;
    enum {
        ROUNDS = 6000,
        WANTED = 3
    };
    long hits[12] = {0}, first_pairs = 0;
    int ascending = 1, in_mask = 1;

    l.num_anchors = WANTED;
    struct df_batch *b = new_batch(l), *alone = new_batch(l);
    for (int i = 0; i < ROUNDS; i++) {
        df_batch_clear(b);
        if (add(b, (uint64_t) i, "011111111111") != DF_OK
            || df_batch_finish(b, 5, i % 3) != DF_OK || b->N != WANTED)
            diag("%s", df_error_last()->message);
        for (size_t n = 0; n < b->N; n++) {
            int32_t p = b->host.anchor[n];

            hits[p]++;
            in_mask &= p >= 1 && p <= 10;
            ascending &= n == 0 || b->host.anchor[n - 1] < p;
        }
        first_pairs += b->host.anchor[0] == 1 && b->host.anchor[1] == 2;
    }
    ok(ascending && in_mask, "anchors are distinct candidates, ascending");
    /* 1800 are expected of each of 10 candidates, the deviation is 35.  */
    int fair = 1;
    for (int p = 1; p <= 10; p++)
        fair &= labs(hits[p] - ROUNDS * WANTED / 10) < 175;
    ok(fair, "each candidate is taken equally often");
    /* 8 of the 120 triples: 400, deviation 20.  */
    ok(labs(first_pairs - 400) < 100, "so are pairs");

    df_batch_clear(b);
    int added = add(b, 3, "0111") == DF_OK
                && add(b, 17, "111111111111") == DF_OK
                && add(alone, 17, "111111111111") == DF_OK;
    ok(added && df_batch_finish(b, 5, 2) == DF_OK
           && df_batch_finish(alone, 5, 2) == DF_OK,
       "a sample alone and in company");
    int equal = 1;
    for (size_t n = 0; n < WANTED; n++)
        equal &= alone->host.anchor[n] + 4
                 == b->host.anchor[(size_t) b->host.cu_blocks[1] + n];
    ok(equal, "its anchors are the same");

    int32_t before[WANTED];
    int by_epoch = 0, by_seed = 0;
    for (int64_t e = 0; e < 10; e++) {
        ok(df_batch_finish(alone, 5, e) == DF_OK, "epoch %d", (int) e);
        memcpy(before, alone->host.anchor, sizeof before);
        if (df_batch_finish(alone, 5, e + 1) == DF_OK)
            by_epoch |= memcmp(before, alone->host.anchor, sizeof before);
        if (df_batch_finish(alone, 6, e) == DF_OK)
            by_seed |= memcmp(before, alone->host.anchor, sizeof before);
    }
    ok(by_epoch, "another epoch draws others");
    ok(by_seed, "another seed draws others");
    df_batch_free(b);
    df_batch_free(alone);
}

/* The largest batch that the limits allow fits its memory exactly.  */
static void
test_full(void)
{
    struct df_batch_limits l = small;

    l.block_size = DF_MAX_BLOCK;
    l.num_anchors = 1000;
    struct df_batch *b = new_batch(l);
    ok(df_batch_max_blocks(&l) == 32, "no more blocks than tokens");
    for (int i = 0; i < 2; i++)
        is_long(DF_OK, add(b, 1, "1111111111111111"), "16 of 32 tokens");
    is_long(DF_SHAPE, add(b, 1, "1"), "no token fits a full batch");
    is_long(DF_OK, df_batch_finish(b, 0, 0), "a full batch");
    ok(b->N == 30 && b->R == 2 * 15 * 16 / 2, "all its candidates");
    df_batch_clear(b);
    is_long(DF_SHAPE, add(b, 1, ""), "an empty sample");
    is_long(DF_SHAPE, add(b, 1, "11111111111111111"), "one of 17 tokens");
    for (int i = 0; i < 4; i++)
        is_long(DF_OK, add(b, 1, "1"), "sequence %d of 4", i + 1);
    is_long(DF_SHAPE, add(b, 1, "1"), "a fifth sequence");
    df_batch_free(b);

    struct df_batch_arrays a;
    char *base = (char *) 0x10000;
    l = small;
    df_batch_layout(&l, base, &a);
    size_t last = (size_t) ((char *) a.labels - base);
    size_t end = last + df_batch_max_slots(&l) * sizeof *a.labels;
    ok(df_batch_bytes(&l) >= end && df_batch_bytes(&l) - end < 256
           && last % 256 == 0,
       "the layout ends with its last array");
}

static void
test_limits(void)
{
    /* clang-format off */
    static const struct {
        const char *what;
        struct df_batch_limits l;
    } cases[] = {
        {"no tokens", {0, 1, 1, 1, 4, 0, false, false}},
        {"no sequences", {8, 0, 8, 1, 4, 0, false, false}},
        {"more sequences than tokens", {8, 9, 8, 1, 4, 0, false, false}},
        {"no sequence length", {8, 1, 0, 1, 4, 0, false, false}},
        {"sequences longer than the batch", {8, 1, 9, 1, 4, 0, false, false}},
        {"no anchors", {8, 1, 8, 0, 4, 0, false, false}},
        {"block size 1", {8, 1, 8, 1, 1, 0, false, false}},
        {"block size 65", {8, 1, 8, 1, 65, 0, false, false}},
        {"a negative mask token", {8, 1, 8, 1, 4, -1, false, false}},
        {"2^31 slots", {1u << 28, 1, 1u << 28, 1u << 28, 8, 0, false, false}},
    };
    /* clang-format on */
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct df_batch *b;

        is_long(DF_INVALID, df_batch_new(&b, &cases[c].l, NULL), "%s",
                cases[c].what);
    }
}

int
main(void)
{
    plan(81);
    test_candidates();
    test_blocks();
    test_given_anchors();
    test_draws();
    test_full();
    test_limits();
    return 0;
}

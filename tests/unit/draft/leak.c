/* What a block may see of its context: the features before its anchor,
   within the window, of its own sequence, and nothing else.  A whole drafter
   computes over a batch; then one thing is changed, and each block's output
   is either the same to the last bit or not.  */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tap/tap.h"
#include "tiny/tiny.h"

enum {
    B = 3,       /* sequences */
    LENGTH = 16, /* tokens of each */
    BLOCKS = 4,  /* of each, that overlap */
    N = B * BLOCKS,
    WINDOW = 5
};
static const int32_t places[BLOCKS] = {3, 4, 6, 11};

struct run {
    struct tiny_drafter d;
    size_t features, output; /* floats of a row, of a block */
    float *clean, *seen;     /* [N][output] */
};

static void
fill_features(struct run *r)
{
    float *f = df_drafter_features(r->d.drafter);

    for (size_t i = 0; i < r->d.batch->T * r->features; i++)
        f[i] = tiny_random(9, i);
}

static void
make_batch(struct run *r)
{
    struct df_batch *batch = r->d.batch;
    int32_t ids[LENGTH], anchors[N];
    uint8_t mask[LENGTH];
    size_t counts[B];

    df_batch_clear(batch);
    memset(mask, 1, sizeof mask);
    for (size_t s = 0; s < B; s++) {
        for (size_t t = 0; t < LENGTH; t++)
            ids[t] = (int32_t) ((s * 31 + t * 7) % TINY_MASK_ID);
        CHECKED(
            df_batch_add(batch, &(struct df_sample){s, LENGTH, ids, mask}));
        memcpy(anchors + s * BLOCKS, places, sizeof places);
        counts[s] = BLOCKS;
    }
    CHECKED(df_batch_finish_with(batch, anchors, counts));
}

/* The output of all blocks of the batch as it is now.  */
static void
forward(struct run *r, float *out)
{
    struct tiny_drafter *d = &r->d;

    CHECKED(df_copy(d->stream, d->memory, d->batch->memory, d->batch->bytes));
    CHECKED(df_drafter_forward(d->drafter, d->stream, d->batch, &d->arrays));
    CHECKED(df_stream_sync(d->stream));
    memcpy(out, df_drafter_hidden(d->drafter), N * r->output * sizeof *out);
}

/* What changes of row T's features: all of them, by a little, to NaN, or to
   something huge.  */
static void
change_row(struct run *r, size_t t, float to)
{
    float *f = df_drafter_features(r->d.drafter);

    for (size_t i = 0; i < r->features; i++)
        f[t * r->features + i] = to;
}

/* Whether a block at place P sees its sequence's token T: through a layer of
   full attention all before P; if all layers have windows, what the first
   slot's window reaches in any of them, as the blocks read the context
   directly in each layer.  */
static bool
may_see(size_t t, size_t p, bool windows)
{
    return t < p && (!windows || t + WINDOW > p);
}

/* Change each row in turn, and compare all blocks.  */
static void
test_rows(struct run *r, bool windows, float to, const char *what)
{
    size_t leaks = 0, blind = 0;

    for (size_t row = 0; row < B * LENGTH; row++) {
        fill_features(r);
        change_row(r, row, to);
        forward(r, r->seen);
        for (size_t n = 0; n < N; n++) {
            bool own = row / LENGTH == n / BLOCKS;
            bool sees =
                own
                && may_see(row % LENGTH, (size_t) places[n % BLOCKS], windows);
            bool same =
                memcmp(r->clean + n * r->output, r->seen + n * r->output,
                       r->output * sizeof *r->seen)
                == 0;

            leaks += !sees && !same;
            blind += sees && same;
        }
    }
    is_long(0, (long) leaks, "%s: blocks that saw what they must not", what);
    is_long(0, (long) blind, "%s: blocks that missed what they may see", what);
}

/* Change the tokens of each block in turn: no other block notices, be it of
   the same sequence and overlapping or not.  */
static void
test_blocks(struct run *r)
{
    struct df_batch *batch = r->d.batch;
    size_t b = batch->limits.block_size, leaks = 0, blind = 0;

    fill_features(r);
    for (size_t changed = 0; changed < N; changed++)
        for (size_t j = 0; j < b; j++) {
            int32_t *id = &batch->host.block_ids[changed * b + j], old = *id;

            *id = (old + 1) % TINY_VOCAB;
            forward(r, r->seen);
            *id = old;
            for (size_t n = 0; n < N; n++) {
                bool same =
                    memcmp(r->clean + n * r->output, r->seen + n * r->output,
                           r->output * sizeof *r->seen)
                    == 0;

                leaks += n != changed && !same;
                blind += n == changed && same;
            }
        }
    is_long(0, (long) leaks, "other blocks that saw a block's tokens");
    is_long(0, (long) blind, "blocks that missed their own");
}

/* A sequence's blocks are the same without the other sequences.  */
static void
test_alone(struct run *r)
{
    float *f = df_drafter_features(r->d.drafter);
    size_t rows = LENGTH * r->features, out = BLOCKS * r->output;
    int32_t ids[LENGTH];
    uint8_t mask[LENGTH];
    size_t count = BLOCKS, differ = 0;

    memset(mask, 1, sizeof mask);
    for (size_t s = 0; s < B; s++) {
        make_batch(r);
        memcpy(ids, r->d.batch->host.ids + s * LENGTH, sizeof ids);
        fill_features(r);
        memmove(f, f + s * rows, rows * sizeof *f);
        df_batch_clear(r->d.batch);
        CHECKED(df_batch_add(r->d.batch,
                             &(struct df_sample){s, LENGTH, ids, mask}));
        CHECKED(df_batch_finish_with(r->d.batch, places, &count));
        forward(r, r->seen);
        differ += memcmp(r->clean + s * out, r->seen, out * sizeof *f) != 0;
    }
    is_long(0, (long) differ, "sequences that differ when they are alone");
    make_batch(r);
}

/* The drafter with windows as given in its two layers.  */
static void
test_drafter(int first, int second)
{
    struct run r = {0};
    struct tiny_drafter *d = &r.d;
    bool windows = first > 0 && second > 0;

    tiny_drafter_make(d);
    df_drafter_free(d->drafter);
    d->model.drafter.d.window[0] = first;
    d->model.drafter.d.window[1] = second;
    CHECKED(df_drafter_new(&d->drafter, &d->model.drafter, &d->embeddings,
                           &d->model.limits));
    CHECKED(df_drafter_init(d->drafter, 1));
    r.features = (size_t) d->model.drafter.n_target_layer_ids
                 * (size_t) d->model.config.d.hidden_size;
    r.output =
        d->model.limits.block_size * (size_t) d->model.config.d.hidden_size;
    r.clean = calloc(N * r.output, sizeof *r.clean);
    r.seen = calloc(N * r.output, sizeof *r.seen);
    make_batch(&r);
    fill_features(&r);
    forward(&r, r.clean);
    diag("windows of %d and %d", first, second);
    test_rows(&r, windows, 0.5f, "changed");
    test_rows(&r, windows, 1e30f, "huge");
    test_rows(&r, windows, (float) NAN, "NaN");
    test_blocks(&r);
    test_alone(&r);
    free(r.clean);
    free(r.seen);
    tiny_drafter_clear(d);
}

int
main(void)
{
    static const int windows[][2] = {
        {0,      0     },
        {0,      WINDOW},
        {WINDOW, WINDOW},
    };

    plan(3 * 9);
    for (size_t i = 0; i < 3; i++)
        test_drafter(windows[i][0], windows[i][1]);
    return 0;
}

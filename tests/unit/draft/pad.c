/* A padded batch: what stands behind it changes no loss and no gradient.  */
#include <config.h>

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tap/tap.h"
#include "tiny/tiny.h"

static const struct df_objective objectives[] = {
    {.gamma = 7    },
    { .dpace = true, .alpha = 0.5f}
};

/* The features of the batch; all behind them NaN.  */
static void
set_features(struct tiny_drafter *d)
{
    size_t width = 2 * d->embeddings.H;
    size_t T = df_batch_room(&d->model.limits).T;
    float *f = df_drafter_features(d->drafter);

    for (size_t i = 0; i < T * width; i++)
        f[i] = i < d->batch->T * width ? tiny_random(4, i) : NAN;
}

/* Sums and gradients of the batch, which is padded if PADDED.  */
static float *
gradients(struct tiny_drafter *d, const struct df_objective *o, bool padded,
          struct df_loss_sums *sums)
{
    struct df_flat flat = df_drafter_flat(d->drafter);
    float *g = malloc(flat.count * sizeof *g);

    set_features(d);
    CHECKED(df_drafter_clear_gradients(d->drafter, d->stream));
    CHECKED(df_fill(d->stream, d->sums, 0, sizeof *d->sums));
    if (padded) {
        CHECKED(df_drafter_pass(d->drafter, d->stream, d->batch, &d->arrays, o,
                                d->sums));
    } else {
        CHECKED(
            df_drafter_forward(d->drafter, d->stream, d->batch, &d->arrays));
        CHECKED(df_drafter_loss(d->drafter, d->stream, d->batch, &d->arrays, o,
                                d->sums, true));
    }
    CHECKED(df_copy(d->stream, sums, d->sums, sizeof *sums));
    CHECKED(df_copy(d->stream, g, flat.g, flat.count * sizeof *g));
    CHECKED(df_stream_sync(d->stream));
    return g;
}

static double
distance(const float *a, const float *b, size_t n)
{
    double error = 0, norm = 0;

    for (size_t i = 0; i < n; i++) {
        error +=
            ((double) a[i] - (double) b[i]) * ((double) a[i] - (double) b[i]);
        norm += (double) a[i] * (double) a[i];
    }
    return sqrt(error / norm);
}

static bool
near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fabs(a);
}

/* What is counted is the same to the last bit.  */
static bool
same_sums(const struct df_loss_sums *a, const struct df_loss_sums *b)
{
    return near(a->loss, b->loss) && near(a->weight, b->weight)
           && memcmp(&a->accept, &b->accept,
                     sizeof *a - offsetof(struct df_loss_sums, accept))
                  == 0;
}

/* With nothing but zeros added, only the order of sums over rows differs.  */
static void
test_batch(struct tiny_drafter *d, uint32_t samples,
           const struct df_objective *o)
{
    const char *what = o->dpace ? "dpace" : "dflash";
    struct df_loss_sums plain, padded;
    struct df_batch sizes;
    float *a, *b;

    tiny_drafter_load(d, samples);
    a = gradients(d, o, false, &plain);
    df_batch_pad(d->batch);
    sizes = df_batch_padded(d->batch);
    CHECKED(df_copy(d->stream, d->memory, d->batch->memory, d->batch->bytes));
    b = gradients(d, o, true, &padded);
    ok(sizes.T % 8 == 0 && sizes.T >= d->batch->T && sizes.N >= d->batch->N
           && sizes.R > d->batch->R,
       "%u samples: T %zu, N %zu, R %zu become %zu, %zu, %zu", samples,
       d->batch->T, d->batch->N, d->batch->R, sizes.T, sizes.N, sizes.R);
    ok(same_sums(&plain, &padded), "%s: the same sums", what);
    ok(distance(a, b, df_drafter_flat(d->drafter).count) < 1e-6,
       "%s: the same gradients", what);
    free(a);
    free(b);
}

/* The largest batch there can be, and one without any block: the padding has
   room, and all lies where it must.  */
static void
test_rows(size_t n, size_t tokens, bool supervised)
{
    struct df_batch_limits l = {.max_tokens = 77,
                                .max_seqs = 7,
                                .max_seqlen = 11,
                                .num_anchors = 9,
                                .block_size = 5,
                                .padded = true};
    struct df_batch_room room = df_batch_room(&l);
    struct df_batch *batch, p;
    int32_t ids[11] = {0};
    uint8_t mask[11];
    bool good = true;

    memset(mask, supervised, sizeof mask);
    CHECKED(df_batch_new(&batch, &l, NULL));
    for (size_t i = 0; i < n; i++)
        CHECKED(
            df_batch_add(batch, &(struct df_sample){i, tokens, ids, mask}));
    CHECKED(df_batch_finish(batch, 1, 0));
    df_batch_pad(batch);
    p = df_batch_padded(batch);
    ok(p.T <= room.T && p.B <= room.B && p.N <= room.N && p.R <= room.R,
       "%zu times %zu tokens: within the room", n, tokens);
    for (size_t r = batch->R; r < p.R; r++)
        good = good && (size_t) p.host.slot[r] < p.N * l.block_size
               && ((size_t) p.host.slot[r] >= batch->N * l.block_size
                   || p.host.slot[r] % 5 == 0)
               && (r == batch->R || p.host.slot[r] > p.host.slot[r - 1]);
    ok(good, "added slots ascend: anchors', then those of added blocks");
    is_long((long) p.T, p.host.cu_seqlens[p.B], "sequences end at T");
    is_long((long) p.N, p.host.cu_blocks[p.B], "and their blocks at N");
    ok(p.T - batch->T <= p.max_seqlen && p.N - batch->N <= p.max_blocks,
       "and the added one is no longer than the longest");
    df_batch_free(batch);
}

int
main(void)
{
    struct tiny_drafter d = {0};

    plan(8 * 3 + 3 * 5 + 2);
    tiny_drafter_make(&d);
    for (uint32_t n = 1; n <= 4; n++)
        for (size_t i = 0; i < 2; i++)
            test_batch(&d, n, &objectives[i]);
    test_rows(7, 11, true);
    test_rows(1, 1, false);
    test_rows(6, 10, true);
    is_long(DF_UNSUPPORTED, df_drafter_compile(d.drafter),
            "no graphs on a CPU");
    ok(strcmp(df_error_last()->message,
              "device cpu: a drafter can be compiled for GPUs only")
           == 0,
       "and it says so");
    tiny_drafter_clear(&d);
    return 0;
}

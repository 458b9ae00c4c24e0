/* The forward pass of targets against transformers, layer by layer: the
   three sequences of a case alone, and packed into one batch.  */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/transfer_internal.h"
#include "dflash/target.h"
#include "golden/cases.h"
#include "golden/golden.h"
#include "tap/tap.h"

enum {
    N_SEQS = 3,
    MAX_TOKENS = 1024
};

static struct df_device *dev;
static struct df_stream *stream;

struct run {
    struct df_model_config config;
    struct df_tensors *weights, *expect;
    struct df_embeddings embeddings;
    struct df_target *target;
    struct df_batch *batch;
    struct df_batch_arrays arrays;
    void *memory;
    float *layers[DF_MAX_LAYERS]; /* [T,H] */
    size_t H, V;
};

#define CHECKED(call)                             \
    do {                                          \
        if ((call) != DF_OK)                      \
            bail("%s", df_error_last()->message); \
    } while (0)

/* Keep what the layer made.  */
static df_status
keep(void *arg, int layer, const void *x, struct df_stream *s)
{
    struct run *r = arg;

    return df_copy(s, r->layers[layer], x, r->batch->T * r->H * sizeof(float));
}

static double worst; /* error of a whole case */

static void
compare(struct run *r, const char *name, const float *seen, size_t row,
        size_t rows, size_t width)
{
    float *wanted = golden_floats(r->expect, name);
    double error = golden_error(seen + row * width, wanted, rows * width);

    if (!(error <= 1e-4))
        diag("%s: error %g", name, error);
    if (!(error <= worst))
        worst = error;
    free(wanted);
}

/* Sequences FROM .. TO-1 in one batch.  */
static void
run_batch(struct run *r, int from, int to)
{
    size_t rows[N_SEQS + 1] = {0}, R;
    float *norm, *logits;
    int32_t all[MAX_TOKENS];
    char name[32];

    df_batch_clear(r->batch);
    for (int s = from; s < to; s++) {
        snprintf(name, sizeof name, "seq%d.input_ids", s);
        size_t n = df_tensors_find(r->expect, name)->count;
        int32_t *ids = golden_ints(r->expect, name);
        uint8_t *mask = calloc(n, 1);

        rows[s - from + 1] = rows[s - from] + n;
        CHECKED(df_batch_add(r->batch,
                             &(struct df_sample){(uint64_t) s, n, ids, mask}));
        free(ids);
        free(mask);
    }
    CHECKED(df_batch_finish(r->batch, 0, 0));
    R = r->batch->T;
    for (size_t i = 0; i < R; i++)
        all[i] = (int32_t) i;
    CHECKED(
        df_device_alloc(dev, DF_MEM_DEVICE, R * r->H * 4, (void **) &norm));
    CHECKED(
        df_device_alloc(dev, DF_MEM_DEVICE, R * r->V * 4, (void **) &logits));
    CHECKED(df_copy(stream, r->memory, r->batch->memory, r->batch->bytes));
    CHECKED(
        df_target_forward(r->target, stream, r->batch, &r->arrays, keep, r));
    CHECKED(df_target_logits(r->target, stream, all, R, norm, logits));
    CHECKED(df_stream_sync(stream));
    for (int s = from; s < to; s++) {
        size_t row = rows[s - from], n = rows[s - from + 1] - row;

        for (int l = 0; l < r->config.d.num_hidden_layers; l++) {
            snprintf(name, sizeof name, "seq%d.layer_%d", s, l);
            compare(r, name, r->layers[l], row, n, r->H);
        }
        snprintf(name, sizeof name, "seq%d.final_norm", s);
        compare(r, name, norm, row, n, r->H);
        snprintf(name, sizeof name, "seq%d.logits", s);
        compare(r, name, logits, row, n, r->V);
    }
    df_device_free(dev, DF_MEM_DEVICE, norm);
    df_device_free(dev, DF_MEM_DEVICE, logits);
}

static void
set_up(struct run *r, const char *path)
{
    const struct df_batch_limits limits = {.max_tokens = MAX_TOKENS,
                                           .max_seqs = N_SEQS,
                                           .max_seqlen = MAX_TOKENS,
                                           .num_anchors = 1,
                                           .block_size = 2};
    int n = r->config.d.num_hidden_layers;

    r->H = (size_t) r->config.d.hidden_size;
    r->V = (size_t) r->config.d.vocab_size;
    r->weights = golden_tensors(path, "model.safetensors");
    r->expect = golden_tensors(path, "expect.safetensors");
    CHECKED(
        df_embeddings_load(&r->embeddings, r->weights, &r->config, dev, true));
    CHECKED(df_target_new(&r->target, &r->config, r->weights, &r->embeddings,
                          &limits, n - 1));
    CHECKED(df_batch_new(&r->batch, &limits, NULL));
    CHECKED(df_device_alloc(dev, DF_MEM_DEVICE, df_batch_bytes(&limits),
                            &r->memory));
    df_batch_layout(&limits, r->memory, &r->arrays);
    for (int l = 0; l < n; l++)
        r->layers[l] = calloc(MAX_TOKENS * r->H, sizeof(float));
}

static void
clear(struct run *r)
{
    for (int l = 0; l < r->config.d.num_hidden_layers; l++)
        free(r->layers[l]);
    df_device_free(dev, DF_MEM_DEVICE, r->memory);
    df_batch_free(r->batch);
    df_target_free(r->target);
    df_embeddings_free(&r->embeddings);
    df_tensors_free(r->expect);
    df_tensors_free(r->weights);
}

/* Two rows of the report.  */
static void
run_case(const char *path)
{
    struct run r = {0};
    const char *name = strrchr(path, '/') + 1;

    if (df_model_config_load(&r.config, path) == DF_UNSUPPORTED) {
        skip("%s alone: %s", name, df_error_last()->message);
        skip("%s packed: %s", name, df_error_last()->message);
        return;
    }
    CHECKED(df_model_config_load(&r.config, path));
    set_up(&r, path);
    worst = 0;
    for (int s = 0; s < N_SEQS; s++)
        run_batch(&r, s, s + 1);
    ok(worst <= 1e-4, "%s: each sequence alone, error %.1e", name, worst);
    worst = 0;
    run_batch(&r, 0, N_SEQS);
    ok(worst <= 1e-4, "%s: packed into one batch, error %.1e", name, worst);
    clear(&r);
}

int
main(void)
{
    char **cases = golden_cases("targets");
    int n = 0;

    while (cases[n])
        n++;
    plan(2 * n);
    CHECKED(df_device_open(&dev, "cpu"));
    CHECKED(df_stream_new(&stream, dev, "test"));
    for (int i = 0; i < n; i++)
        run_case(cases[i]);
    df_stream_free(stream);
    df_device_close(dev);
    golden_free(cases);
    return 0;
}

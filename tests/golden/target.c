/* The forward pass of targets against transformers, layer by layer: the
   three sequences of a case alone, and packed into one batch.  DFLASH_TEST_
   DEVICE says on which device.  A GPU may be off by half as much again as
   transformers itself is in bf16.  */
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
    json_t *json;
    void *layers[DF_MAX_LAYERS]; /* [T,H] act, device memory */
    int32_t *rows;               /* [T] 0, 1, ..., device memory */
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

    return df_copy(s, r->layers[layer], x,
                   r->batch->T * r->H * df_dtype_size(df_device_act(dev)));
}

static double worst; /* error over what is allowed, of a whole case */

static double
limit(const struct run *r, const char *name)
{
    json_t *errors = json_object_get(r->json, "bf16_relative_error");

    if (df_device_is_cpu(dev))
        return 1e-4;
    return 1.5 * json_number_value(json_object_get(errors, name));
}

/* Rows of the act SEEN, in device memory, with the tensor NAME.  */
static void
compare(struct run *r, const char *name, const void *seen, size_t row,
        size_t rows, size_t width)
{
    float *wanted = golden_floats(r->expect, name);
    float *got = golden_download(dev, seen, (row + rows) * width);
    double error = golden_error(got + row * width, wanted, rows * width);

    if (!(error <= limit(r, name)))
        diag("%s: error %g, %g allowed", name, error, limit(r, name));
    if (!(error / limit(r, name) <= worst))
        worst = error / limit(r, name);
    free(got);
    free(wanted);
}

/* Sequences FROM .. TO-1 in one batch.  */
static void
run_batch(struct run *r, int from, int to)
{
    size_t rows[N_SEQS + 1] = {0}, R;
    void *norm, *logits;
    char name[40];

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
    norm = golden_alloc(dev, R * r->H);
    logits = golden_alloc(dev, R * r->V);
    CHECKED(df_copy(stream, r->memory, r->batch->memory, r->batch->bytes));
    CHECKED(
        df_target_forward(r->target, stream, r->batch, &r->arrays, keep, r));
    CHECKED(df_target_logits(r->target, stream, r->rows, R, norm, logits));
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
    int32_t rows[MAX_TOKENS];

    r->json = golden_json(path, "expect.json");
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
        r->layers[l] = golden_alloc(dev, MAX_TOKENS * r->H);
    for (int32_t i = 0; i < MAX_TOKENS; i++)
        rows[i] = i;
    CHECKED(
        df_device_alloc(dev, DF_MEM_DEVICE, sizeof rows, (void **) &r->rows));
    CHECKED(df_copy_now(dev, r->rows, rows, sizeof rows));
}

static void
clear(struct run *r)
{
    for (int l = 0; l < r->config.d.num_hidden_layers; l++)
        df_device_free(dev, DF_MEM_DEVICE, r->layers[l]);
    df_device_free(dev, DF_MEM_DEVICE, r->rows);
    json_decref(r->json);
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
    ok(worst <= 1, "%s: each sequence alone, %.2g of the error allowed", name,
       worst);
    worst = 0;
    run_batch(&r, 0, N_SEQS);
    ok(worst <= 1, "%s: packed into one batch, %.2g of the error allowed",
       name, worst);
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
    dev = golden_device();
    CHECKED(df_stream_new(&stream, dev, "test"));
    for (int i = 0; i < n; i++)
        run_case(cases[i]);
    df_stream_free(stream);
    df_device_close(dev);
    golden_free(cases);
    return 0;
}

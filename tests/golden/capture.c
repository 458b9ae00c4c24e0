/* Hidden states on their whole way: target, pack, copy, file, reader.  What
   is read from HDF5 and from a stream, packed and split, is what transformers
   computed, up to the rounding to bf16, and bit by bit the rounded output of
   the target's layers.  */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dflash/target.h"
#include "dflash/train.h"
#include "golden/cases.h"
#include "golden/golden.h"
#include "tap/tap.h"

enum {
    N_SEQS = 3,
    MAX_TOKENS = 1024
};

static const struct df_batch_limits limits = {.max_tokens = MAX_TOKENS,
                                              .max_seqs = N_SEQS,
                                              .max_seqlen = MAX_TOKENS,
                                              .num_anchors = 1,
                                              .block_size = 2};

static struct df_device *dev;
static char folder[] = "/tmp/dflash-golden.XXXXXX";

struct run {
    struct df_model_config config;
    struct df_tensors *weights, *expect;
    int ids[DF_MAX_LAYER_IDS];
    size_t L, H;
    int32_t *tokens[N_SEQS];
    uint32_t lengths[N_SEQS];
    uint8_t mask[MAX_TOKENS];
    struct df_capture_header header;

    struct df_capture_writer *writer;
    size_t order[N_SEQS], n; /* of the samples as they came */
    uint16_t *layers;        /* [L,T,H] what the target's layers gave */
    size_t T;
};

#define CHECKED(call)                             \
    do {                                          \
        if ((call) != DF_OK)                      \
            bail("%s", df_error_last()->message); \
    } while (0)

static df_status
read_sample(void *arg, size_t thread, uint32_t index, struct df_sample *out)
{
    struct run *r = arg;

    (void) thread;
    *out = (struct df_sample){index, r->lengths[index], r->tokens[index],
                              r->mask};
    return DF_OK;
}

static df_status
write_sample(void *arg, const struct df_capture_sample *sample)
{
    struct run *r = arg;

    r->order[r->n++] = sample->index;
    return df_capture_writer_put(r->writer, sample);
}

/* Capture all sequences, as one batch, into PATH.  */
static void
capture(struct run *r, const char *path, enum df_capture_format format)
{
    struct df_plan_options plan = {.token_budget = MAX_TOKENS,
                                   .max_seqs = N_SEQS,
                                   .epochs = 1,
                                   .per_step = 1};
    struct df_run_options o = {.targets = &dev,
                               .n_targets = 1,
                               .prefetch_threads = 1,
                               .depth = 1,
                               .min_ready = 1,
                               .split = r->header.layout == DF_CAPTURE_SPLIT,
                               .limits = limits,
                               .target_config = &r->config,
                               .target_tensors = r->weights,
                               .layer_ids = r->ids,
                               .n_layer_ids = r->L,
                               .last_hidden = true};
    struct df_run *run;

    CHECKED(df_plan_new(&o.plan, r->lengths, N_SEQS, NULL, 0, &plan));
    o.train = (struct df_source){r, read_sample};
    o.sink = (struct df_sink){r, write_sample};
    r->n = 0;
    CHECKED(
        df_capture_writer_open(&r->writer, path, format, &r->header, NULL));
    CHECKED(df_run_new(&run, &o));
    CHECKED(df_run_warm_up(run));
    CHECKED(df_capture_writer_close(r->writer, df_run_train(run)));
    df_run_free(run);
    df_plan_free(o.plan);
}

/* Keep what the layer made, as bf16.  */
static df_status
keep(void *arg, int layer, const void *x, struct df_stream *stream)
{
    struct run *r = arg;
    size_t count = r->T * r->H;
    float *wide;

    DF_TRY(df_stream_sync(stream));
    wide = golden_download(dev, x, count);
    df_convert_from_f32(r->layers + (size_t) layer * count, DF_BF16, wide,
                        count);
    free(wide);
    return DF_OK;
}

/* The target's layers over the batch that was captured.  */
static void
forward(struct run *r)
{
    struct df_embeddings embeddings;
    struct df_target *target;
    struct df_batch *batch;
    struct df_batch_arrays arrays;
    struct df_stream *stream;
    void *memory;

    CHECKED(
        df_embeddings_load(&embeddings, r->weights, &r->config, dev, false));
    CHECKED(df_target_new(&target, &r->config, r->weights, &embeddings,
                          &limits, (int) r->L - 1));
    CHECKED(df_batch_new(&batch, &limits, NULL));
    CHECKED(
        df_device_alloc(dev, DF_MEM_DEVICE, df_batch_bytes(&limits), &memory));
    CHECKED(df_stream_new(&stream, dev, "test"));
    df_batch_layout(&limits, memory, &arrays);
    df_batch_clear(batch);
    for (size_t i = 0; i < N_SEQS; i++) {
        struct df_sample sample;

        CHECKED(read_sample(r, 0, (uint32_t) r->order[i], &sample));
        CHECKED(df_batch_add(batch, &sample));
    }
    CHECKED(df_batch_finish(batch, 0, 0));
    r->T = batch->T;
    r->layers = malloc(r->L * r->T * r->H * sizeof *r->layers);
    if (!r->layers)
        bail("no memory");
    CHECKED(df_copy(stream, memory, batch->memory, batch->bytes));
    CHECKED(df_target_forward(target, stream, batch, &arrays, keep, r));
    CHECKED(df_stream_sync(stream));
    df_stream_free(stream);
    df_device_free(dev, DF_MEM_DEVICE, memory);
    df_batch_free(batch);
    df_target_free(target);
    df_embeddings_free(&embeddings);
}

/* First row of sequence S in the batch.  */
static size_t
first_row(const struct run *r, size_t s)
{
    size_t row = 0;

    for (size_t i = 0; r->order[i] != s; i++)
        row += r->lengths[r->order[i]];
    return row;
}

static size_t wrong;    /* rows that aren't the target's */
static double farthest; /* relative error of a layer of a sequence */

/* Layer K of SAMPLE; the last layer comes again as K of the header.  */
static void
compare(struct run *r, const struct df_capture_sample *sample, size_t k)
{
    size_t s = sample->index, n = sample->n, layer = k < r->L ? k : r->L - 1;
    const uint16_t *wanted =
        r->layers + (layer * r->T + first_row(r, s)) * r->H;
    float *got = malloc(n * r->H * sizeof *got), *golden;
    char name[32];
    double error;

    if (!got)
        bail("no memory");
    for (size_t t = 0; t < n; t++) {
        const uint16_t *row = df_capture_row(&r->header, sample, t, k);

        wrong += memcmp(row, wanted + t * r->H, r->H * sizeof *row) != 0;
        df_convert_to_f32(got + t * r->H, row, DF_BF16, r->H);
    }
    snprintf(name, sizeof name, "seq%zu.layer_%zu", s, layer);
    golden = golden_floats(r->expect, name);
    error = golden_error(got, golden, n * r->H);
    if (!(error <= farthest))
        farthest = error;
    free(golden);
    free(got);
}

static void
read_back(struct run *r, const char *path)
{
    struct df_captures *captures;
    struct df_capture_scratch *scratch;
    struct df_capture_sample sample;

    wrong = 0;
    farthest = 0;
    CHECKED(df_captures_open(&captures, &path, 1, NULL));
    CHECKED(df_capture_scratch_new(&scratch));
    if (df_captures_count(captures) != N_SEQS)
        bail("%zu samples", df_captures_count(captures));
    for (size_t i = 0; i < N_SEQS; i++) {
        CHECKED(df_captures_read(captures, i, scratch, &sample));
        if (sample.n != r->lengths[i]
            || memcmp(sample.ids, r->tokens[i], sample.n * sizeof *sample.ids)
                   != 0)
            bail("%s: sample %zu has other tokens", path, i);
        for (size_t k = 0; k <= r->L; k++)
            compare(r, &sample, k);
    }
    df_capture_scratch_free(scratch);
    df_captures_free(captures);
}

static void
set_up(struct run *r, const char *path)
{
    r->weights = golden_tensors(path, "model.safetensors");
    r->expect = golden_tensors(path, "expect.safetensors");
    r->L = (size_t) r->config.d.num_hidden_layers;
    r->H = (size_t) r->config.d.hidden_size;
    for (int i = 0; i < N_SEQS; i++) {
        char name[32];

        snprintf(name, sizeof name, "seq%d.input_ids", i);
        r->lengths[i] = (uint32_t) df_tensors_find(r->expect, name)->count;
        r->tokens[i] = golden_ints(r->expect, name);
    }
    r->header = (struct df_capture_header){.K = r->L,
                                           .hidden_size = r->H,
                                           .has_last_hidden = true,
                                           .has_checks = true};
    for (int l = 0; l < (int) r->L; l++)
        r->ids[l] = r->header.layer_ids[l] = l;
}

static void
clear(struct run *r)
{
    for (int i = 0; i < N_SEQS; i++)
        free(r->tokens[i]);
    free(r->layers);
    df_tensors_free(r->expect);
    df_tensors_free(r->weights);
}

static const struct {
    const char *name, *ending;
    enum df_capture_format format;
    enum df_capture_layout layout;
} ways[] = {
    {"HDF5, packed",   "h5",  DF_CAPTURE_HDF5,   DF_CAPTURE_PACKED},
    {"HDF5, split",    "h5",  DF_CAPTURE_HDF5,   DF_CAPTURE_SPLIT },
    {"stream, packed", "dfs", DF_CAPTURE_STREAM, DF_CAPTURE_PACKED},
    {"stream, split",  "dfs", DF_CAPTURE_STREAM, DF_CAPTURE_SPLIT },
};

enum {
    N_WAYS = sizeof ways / sizeof *ways
};

/* A row of the report for each way.  */
static void
run_case(const char *path)
{
    struct run r = {0};
    const char *name = strrchr(path, '/') + 1;
    double limit = df_device_is_cpu(dev) ? 4e-3 : 2e-2;

    if (df_model_config_load(&r.config, path) == DF_UNSUPPORTED) {
        for (int i = 0; i < N_WAYS; i++)
            skip("%s: %s", name, df_error_last()->message);
        return;
    }
    CHECKED(df_model_config_load(&r.config, path));
    set_up(&r, path);
    for (int i = 0; i < N_WAYS; i++) {
        char *file = golden_path("%s/%d.%s", folder, i, ways[i].ending);

        r.header.layout = ways[i].layout;
        capture(&r, file, ways[i].format);
        if (!r.layers)
            forward(&r);
        read_back(&r, file);
        ok(wrong == 0 && farthest <= limit,
           "%s: %s: %zu rows other than the target's, error %.2g", name,
           ways[i].name, wrong, farthest);
        unlink(file);
        free(file);
    }
    clear(&r);
}

int
main(void)
{
    char **cases = golden_cases("targets");
    int n = 0;

    while (cases[n])
        n++;
    plan(N_WAYS * n);
    dev = golden_device();
    if (!mkdtemp(folder))
        bail("%s: %m", folder);
    for (int i = 0; i < n; i++)
        run_case(cases[i]);
    rmdir(folder);
    df_device_close(dev);
    golden_free(cases);
    return 0;
}

/* The drafter against SpecForge's modules: hidden states, predictions,
   losses, gradients, three steps of AdamW.  DFLASH_TEST_DEVICE says on which
   device.  */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/transfer_internal.h"
#include "dflash/drafter.h"
#include "golden/cases.h"
#include "golden/golden.h"
#include "tap/tap.h"

enum {
    TESTS_A_CASE = 12
};

/* What may be off, relatively.  */
struct limits {
    double hidden, loss, gradient, parameter;
    double predictions; /* share of the slots whose prediction may differ */
};

static const struct limits cpu_limits = {1e-4, 1e-5, 1e-4, 1e-4, 0};
static const struct limits cuda_limits = {1e-2, 1e-2, 3e-2, 1e-2, 0.03};
static const struct limits *limits = &cpu_limits;
static struct df_device *dev;
static struct df_stream *stream;

struct run {
    const char *name;
    struct df_drafter_config config;
    struct df_batch_limits limits;
    struct df_tensors *weights, *expect;
    json_t *json;
    struct df_embeddings embeddings;
    struct df_drafter *drafter;
    struct df_batch *batch;
    struct df_batch_arrays arrays;
    void *memory;
    struct df_loss_sums *sums; /* device memory */
};

#define CHECKED(call)                             \
    do {                                          \
        if ((call) != DF_OK)                      \
            bail("%s", df_error_last()->message); \
    } while (0)

/* Embedding and head are those of the golden target qwen3, in the folder
   that the case is in.  */
static void
load_embeddings(struct run *r, const char *path)
{
    struct df_model_config config;
    struct df_tensors *ts;
    char *dir;

    if (asprintf(&dir, "%s/../../targets/qwen3", path) < 0)
        bail("no memory");
    CHECKED(df_model_config_load(&config, dir));
    CHECKED(df_tensors_open(&ts, dir));
    CHECKED(df_embeddings_load(&r->embeddings, ts, &config, dev, true));
    df_tensors_free(ts);
    free(dir);
}

/* The case's sequences with its anchors, and their features.  */
static void
make_batch(struct run *r)
{
    const struct df_tensor *t = df_tensors_find(r->expect, "input_ids");
    size_t B = (size_t) t->shape[0], S = (size_t) t->shape[1];
    size_t width =
        (size_t) df_tensors_find(r->expect, "hidden_states")->shape[2];
    size_t n_anchors =
        (size_t) df_tensors_find(r->expect, "anchors")->shape[1];
    int32_t *ids = golden_ints(r->expect, "input_ids");
    int32_t *lengths = golden_ints(r->expect, "lengths");
    int32_t *anchors = golden_ints(r->expect, "anchors");
    float *features = golden_floats(r->expect, "hidden_states");
    const uint8_t *mask = df_tensors_find(r->expect, "loss_mask")->data;
    const uint8_t *keep = df_tensors_find(r->expect, "keep")->data;
    size_t counts[8] = {0}, kept = 0;
    char *f = df_drafter_features(r->drafter);

    for (size_t s = 0; s < B; s++) {
        size_t n = (size_t) lengths[s];

        CHECKED(df_batch_add(
            r->batch, &(struct df_sample){s, n, ids + s * S, mask + s * S}));
        golden_upload(dev, f, features + s * S * width, n * width);
        f += n * width * df_dtype_size(df_device_act(dev));
        for (size_t i = 0; i < n_anchors; i++)
            if (keep[s * n_anchors + i]) {
                anchors[kept++] = anchors[s * n_anchors + i];
                counts[s]++;
            }
    }
    CHECKED(df_batch_finish_with(r->batch, anchors, counts));
    CHECKED(df_copy_now(dev, r->memory, r->batch->memory, r->batch->bytes));
    free(ids);
    free(lengths);
    free(anchors);
    free(features);
}

static void
set_up(struct run *r, const char *path)
{
    r->name = strrchr(path, '/') + 1;
    CHECKED(df_drafter_config_load(&r->config, path));
    r->limits =
        (struct df_batch_limits){.max_tokens = 2 * 96,
                                 .max_seqs = 2,
                                 .max_seqlen = 96,
                                 .num_anchors = 8,
                                 .block_size = (size_t) r->config.block_size,
                                 .mask_token_id = r->config.mask_token_id};
    r->weights = golden_tensors(path, "model.safetensors");
    r->expect = golden_tensors(path, "expect.safetensors");
    r->json = golden_json(path, "expect.json");
    load_embeddings(r, path);
    CHECKED(
        df_drafter_new(&r->drafter, &r->config, &r->embeddings, &r->limits));
    CHECKED(df_drafter_load(r->drafter, r->weights));
    CHECKED(df_batch_new(&r->batch, &r->limits, NULL));
    CHECKED(df_device_alloc(dev, DF_MEM_DEVICE, df_batch_bytes(&r->limits),
                            &r->memory));
    df_batch_layout(&r->limits, r->memory, &r->arrays);
    CHECKED(df_device_alloc(dev, DF_MEM_DEVICE, sizeof *r->sums,
                            (void **) &r->sums));
    make_batch(r);
}

static void
clear(struct run *r)
{
    df_device_free(dev, DF_MEM_DEVICE, r->sums);
    df_device_free(dev, DF_MEM_DEVICE, r->memory);
    df_batch_free(r->batch);
    df_drafter_free(r->drafter);
    df_embeddings_free(&r->embeddings);
    json_decref(r->json);
    df_tensors_free(r->expect);
    df_tensors_free(r->weights);
}

static void
test_forward(struct run *r)
{
    size_t M = r->batch->N * r->limits.block_size, H = r->embeddings.H;
    float *wanted = golden_floats(r->expect, "draft_hidden");
    int32_t *wanted_pred = golden_ints(r->expect, "argmax");
    const uint8_t *keep = df_tensors_find(r->expect, "keep")->data;
    size_t all = df_tensors_find(r->expect, "argmax")->count, n = 0;
    size_t b = r->limits.block_size, wrong = 0;
    int32_t *pred = calloc(M, sizeof *pred), *on_device;

    CHECKED(df_device_alloc(dev, DF_MEM_DEVICE, M * sizeof *pred,
                            (void **) &on_device));
    CHECKED(df_drafter_forward(r->drafter, stream, r->batch, &r->arrays));
    CHECKED(df_head_loss(
        stream, &(struct df_head_loss_args){.pred = on_device,
                                            .h = df_drafter_hidden(r->drafter),
                                            .u = r->embeddings.head,
                                            .R = M,
                                            .H = H,
                                            .V = r->embeddings.V}));
    CHECKED(df_stream_sync(stream));
    CHECKED(df_copy_now(dev, pred, on_device, M * sizeof *pred));
    for (size_t i = 0; i < all; i++)
        if (keep[i / b]) {
            memmove(wanted + n * H, wanted + i * H, H * sizeof *wanted);
            wrong += pred[n] != wanted_pred[i];
            n++;
        }
    float *seen = golden_download(dev, df_drafter_hidden(r->drafter), M * H);
    double error = golden_error(seen, wanted, n * H);
    is_long((long) M, (long) n, "%s: as many slots", r->name);
    ok(error <= limits->hidden, "%s: hidden states, error %.1e", r->name,
       error);
    ok((double) wrong <= limits->predictions * (double) n,
       "%s: %zu of %zu predictions differ", r->name, wrong, n);
    df_device_free(dev, DF_MEM_DEVICE, on_device);
    free(seen);
    free(pred);
    free(wanted);
    free(wanted_pred);
}

/* One loss into *SUMS; the loss itself is returned.  */
static double
loss(struct run *r, struct df_objective o, struct df_loss_sums *sums)
{
    CHECKED(df_drafter_clear_gradients(r->drafter, stream));
    CHECKED(df_fill(stream, r->sums, 0, sizeof *r->sums));
    CHECKED(df_drafter_forward(r->drafter, stream, r->batch, &r->arrays));
    CHECKED(df_drafter_loss(r->drafter, stream, r->batch, &r->arrays, &o,
                            r->sums, true));
    CHECKED(df_stream_sync(stream));
    CHECKED(df_copy_now(dev, sums, r->sums, sizeof *sums));
    return sums->loss / (o.dpace ? (double) r->batch->B : sums->weight);
}

static double
total_correct(const struct df_loss_sums *sums)
{
    double n = 0;

    for (int j = 0; j < DF_MAX_BLOCK; j++)
        n += sums->correct[j];
    return n;
}

static void
test_losses(struct run *r)
{
    static const struct {
        const char *name;
        struct df_objective o;
    } kinds[] = {
        {"plain",  {.gamma = 0}                  },
        {"gamma4", {.gamma = 4}                  },
        {"gamma7", {.gamma = 7}                  },
        {"dpace",  {.dpace = true, .alpha = 0.5f}},
    };
    struct df_loss_sums sums;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        json_t *k = json_object_get(r->json, kinds[i].name);
        double wanted = json_number_value(json_object_get(k, "loss"));
        double seen = loss(r, kinds[i].o, &sums);

        ok(fabs(seen - wanted) <= limits->loss * wanted,
           "%s: loss %s, off by %.1e", r->name, kinds[i].name,
           fabs(seen - wanted) / wanted);
    }
    double wanted = json_number_value(
        json_object_get(json_object_get(r->json, "plain"), "correct"));
    double slots = (double) (r->batch->N * r->limits.block_size);

    ok(fabs(wanted - total_correct(&sums)) <= limits->predictions * slots,
       "%s: %g slots are correct, %g wanted", r->name, total_correct(&sums),
       wanted);
}

/* The worst error of the flat array FLAT, in device memory, divided by
   DENOMINATOR, against the tensors PREFIX.NAME, LIMIT being allowed.  */
static double
compare_params(struct run *r, const float *flat, double denominator,
               const char *prefix, double limit)
{
    const struct df_param *params;
    size_t n, count = df_drafter_flat(r->drafter).count;
    float *scaled;
    double worst = 0;
    char name[128];

    params = df_drafter_params(r->drafter, &n);
    CHECKED(df_download(dev, flat, count, &scaled));
    for (size_t i = 0; i < count; i++)
        scaled[i] = (float) (scaled[i] / denominator);
    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%s.%s", prefix, params[i].spec.name);
        float *wanted = golden_floats(r->expect, name);
        double error =
            golden_error(scaled + params[i].offset, wanted, params[i].count);

        if (!(error <= limit))
            diag("%s: error %g", name, error);
        worst = error > worst ? error : worst;
        free(wanted);
    }
    free(scaled);
    return worst;
}

static void
test_gradients(struct run *r)
{
    struct df_loss_sums sums;
    double error;

    loss(r, (struct df_objective){.gamma = 7}, &sums);
    error = compare_params(r, df_drafter_flat(r->drafter).g, sums.weight,
                           "grad.gamma7", limits->gradient);
    ok(error <= limits->gradient, "%s: gradients of dflash, error %.1e",
       r->name, error);
    loss(r, (struct df_objective){.dpace = true, .alpha = 0.5f}, &sums);
    error =
        compare_params(r, df_drafter_flat(r->drafter).g, (double) r->batch->B,
                       "grad.dpace", limits->gradient);
    ok(error <= limits->gradient, "%s: gradients of dpace, error %.1e",
       r->name, error);
}

static double
number(const json_t *obj, const char *key)
{
    return json_number_value(json_object_get(obj, key));
}

static void
test_steps(struct run *r)
{
    json_t *adamw = json_object_get(r->json, "adamw"), *step;
    struct df_adamw_options o = {.beta1 = 0.9f,
                                 .beta2 = 0.999f,
                                 .eps = (float) number(adamw, "eps"),
                                 .weight_decay =
                                     (float) number(adamw, "weight_decay"),
                                 .max_norm = number(adamw, "max_grad_norm")};
    struct df_step_state state;
    double worst = 0;
    size_t i;

    json_array_foreach(json_object_get(adamw, "steps"), i, step)
    {
        struct df_loss_sums sums;
        double seen = loss(r, (struct df_objective){.gamma = 7}, &sums);

        CHECKED(df_drafter_step(r->drafter, stream, 1 / sums.weight,
                                number(adamw, "lr"), &o));
        CHECKED(df_stream_sync(stream));
        CHECKED(df_copy_now(dev, &state, df_drafter_flat(r->drafter).state,
                            sizeof state));
        double e = fabs(seen / number(step, "loss") - 1);
        double n = fabs(state.norm / number(step, "grad_norm") - 1);
        worst = fmax(worst, fmax(e, n));
    }
    ok(worst <= limits->loss,
       "%s: losses and norms of three steps, off by %.1e", r->name, worst);
    worst = compare_params(r, df_drafter_flat(r->drafter).w, 1, "after3",
                           limits->parameter);
    ok(worst <= limits->parameter, "%s: parameters after them, error %.1e",
       r->name, worst);
}

int
main(void)
{
    char **cases = golden_cases("drafter");
    int n = 0;

    while (cases[n])
        n++;
    plan(TESTS_A_CASE * n);
    dev = golden_device();
    if (!df_device_is_cpu(dev))
        limits = &cuda_limits;
    CHECKED(df_stream_new(&stream, dev, "test"));
    for (int i = 0; i < n; i++) {
        struct run r = {0};

        set_up(&r, cases[i]);
        test_forward(&r);
        test_losses(&r);
        test_gradients(&r);
        test_steps(&r);
        clear(&r);
    }
    df_stream_free(stream);
    df_device_close(dev);
    golden_free(cases);
    return 0;
}

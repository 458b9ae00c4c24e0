#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "common/input.h"
#include "dflash-bench/options.h"
#include "dflash-bench/workload.h"
#include "dflash/philox.h"
#include "dflash/weights.h"

const struct df_objective workload_objective = {.gamma = 7};
const struct df_adamw_options workload_adamw = {
    .beta1 = 0.9f, .beta2 = 0.999f, .eps = 1e-8f, .max_norm = 1};

/* The target when none is named: two CPU cores take some hundredths of a
   second for a step, and any GPU has kernels for heads of this size.  */
static const struct df_model_config small = {
    .d = {.hidden_size = 128,
          .intermediate_size = 256,
          .num_hidden_layers = 8,
          .num_attention_heads = 2,
          .num_key_value_heads = 1,
          .head_dim = 64,
          .vocab_size = 1024,
          .max_position_embeddings = 1 << 16,
          .rms_norm_eps = 1e-6,
          .qk_norm = true,
          .rope = {.type = DF_ROPE_DEFAULT, .theta = 10000}},
    .model_type = "qwen3",
    .dtype = DF_BF16,
    .bos_token_id = -1,
    .pad_token_id = -1
};

/* The option's VALUE, or what stands for none.  */
static size_t
value_or(long value, size_t with_target, size_t without)
{
    if (value > 0)
        return (size_t) value;
    return input.target ? with_target : without;
}

static size_t
token_budget(void)
{
    return value_or(opt.token_budget, 8192, 256);
}

size_t
workload_length(void)
{
    return value_or(opt.max_length, 2048, 64);
}

size_t
workload_new_tokens(void)
{
    return value_or(opt.max_new_tokens, 128, 16);
}

struct shape
workload_shape(void)
{
    size_t length = workload_length();

    return (struct shape){token_budget() / length, length};
}

/* A drafter says itself what it's like.  */
static void
check_drafter(void)
{
    const void *const own[] = {&input.num_draft_layers,
                               &input.target_layer_ids, &opt.block_size};

    if (!opt.drafter)
        return;
    if (!input.target)
        option_mistake(&bench_tool, "--drafter needs --target");
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (option_given(&bench_tool, own[i]))
            option_reject(&bench_tool, own[i],
                          "the drafter of --drafter has its own");
}

void
workload_check(void)
{
    struct shape shape = workload_shape();

    check_drafter();
    if (shape.seqs == 0)
        option_reject(&bench_tool, &opt.token_budget,
                      "%zu is below --max-length, which is %zu",
                      token_budget(), shape.length);
}

static df_status
open_model(struct model *m)
{
    if (input.target)
        return model_open(m);
    m->config = small;
    m->name = strdup("random");
    if (!m->name)
        return DF_FAIL(DF_NO_MEMORY, "the target");
    return df_tensors_random(&m->tensors, &m->config, WORKLOAD_SEED);
}

static df_status
open_drafter(struct workload *w)
{
    const struct df_drafter_target target = {&w->model.config,
                                             w->model.tensors};
    const struct df_drafter_config *c;

    DF_TRY(df_drafter_files_open(&w->files, opt.drafter, &target));
    c = df_drafter_files_config(w->files);
    if (c->block_size > DF_MAX_BLOCK
        || c->n_target_layer_ids > DF_MAX_LAYER_IDS)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: blocks of %d and %d target layers, above %d and "
                       "%d",
                       opt.drafter, c->block_size, c->n_target_layer_ids,
                       DF_MAX_BLOCK, DF_MAX_LAYER_IDS);
    w->drafter = *c;
    w->weights = df_drafter_files_tensors(w->files);
    w->layers.n = (size_t) c->n_target_layer_ids;
    memcpy(w->layers.ids, c->target_layer_ids,
           w->layers.n * sizeof *w->layers.ids);
    return DF_OK;
}

/* Of random tokens none means anything: the last one is the mask.  */
static df_status
describe(struct workload *w)
{
    DF_TRY(open_model(&w->model));
    if (opt.drafter)
        return open_drafter(w);
    model_layers(&w->model, &bench_tool, &w->layers);
    DF_TRY(df_drafter_config_from_target(&w->drafter, &w->model.config,
                                         (int) input.num_draft_layers,
                                         w->layers.ids, (int) w->layers.n,
                                         (int) value_or(opt.block_size, 16, 8),
                                         w->model.config.d.vocab_size - 1));
    DF_TRY(df_tensors_random_drafter(&w->random, &w->drafter, WORKLOAD_SEED));
    w->weights = w->random;
    return DF_OK;
}

df_status
workload_open(struct bench *b)
{
    if (b->workload || opt.list)
        return DF_OK;
    b->workload = calloc(1, sizeof *b->workload);
    if (!b->workload)
        return DF_FAIL(DF_NO_MEMORY, "the target");
    return describe(b->workload);
}

void
workload_free(struct workload *w)
{
    if (!w)
        return;
    df_drafter_files_free(w->files);
    df_tensors_free(w->random);
    model_close(&w->model);
    free(w);
}

struct df_batch_limits
workload_limits(const struct workload *w, struct shape shape)
{
    return (struct df_batch_limits){
        .max_tokens = shape.seqs * shape.length,
        .max_seqs = shape.seqs,
        .max_seqlen = shape.length,
        .num_anchors = value_or(opt.num_anchors, 512, 8),
        .block_size = (size_t) w->drafter.block_size,
        .mask_token_id = w->drafter.mask_token_id};
}

void
workload_sample(const struct workload *w, uint64_t index, size_t length,
                int32_t *ids, uint8_t *mask)
{
    uint32_t most = (uint32_t) w->model.config.d.vocab_size - 1;
    uint64_t key = df_key(WORKLOAD_SEED, DF_KEY_ORDER);

    for (size_t i = 0; i < length; i++) {
        struct df_philox r = df_philox(key, (uint32_t) i, 0, (uint32_t) index,
                                       (uint32_t) (index >> 32));

        ids[i] = (int32_t) (r.v[0] % most);
        mask[i] = i >= length / 3;
    }
}

static df_status
fill(const struct workload *w, struct shape shape, uint64_t first,
     struct df_batch *batch)
{
    int32_t *ids = calloc(shape.length, sizeof *ids);
    uint8_t *mask = calloc(shape.length, sizeof *mask);
    df_status status = ids && mask ? DF_OK : DF_FAIL(DF_NO_MEMORY, "a sample");

    for (size_t i = 0; status == DF_OK && i < shape.seqs; i++) {
        struct df_sample s = {first + i, shape.length, ids, mask};

        workload_sample(w, s.id, s.n, ids, mask);
        status = df_batch_add(batch, &s);
    }
    free(ids);
    free(mask);
    return status == DF_OK ? df_batch_finish(batch, WORKLOAD_SEED, 0) : status;
}

df_status
workload_batch(const struct workload *w, struct shape shape, uint64_t first,
               const struct df_batch_limits *limits, struct df_batch **out)
{
    DF_TRY(df_batch_new(out, limits, NULL));
    DF_TRY(fill(w, shape, first, *out));
    if (limits->padded)
        df_batch_pad(*out);
    return DF_OK;
}

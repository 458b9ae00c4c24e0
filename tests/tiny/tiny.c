#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dflash/philox.h"
#include "dflash/weights.h"
#include "tap/tap.h"
#include "tiny/tiny.h"

float
tiny_random(uint64_t seed, uint64_t n)
{
    struct df_philox bits = df_philox(seed, (uint32_t) n, 1, 2, 3);

    return 2 * df_uniform(bits.v[0]) - 1;
}

size_t
tiny_sample(uint32_t index, int32_t *ids, uint8_t *mask)
{
    struct df_philox bits = df_philox(5, index, 0, 0, 0);
    size_t n = 6 + bits.v[0] % (TINY_MAX_LENGTH - 5);

    for (size_t t = 0; t < n; t++) {
        bits = df_philox(5, index, (uint32_t) t, 1, 0);
        ids[t] = (int32_t) (bits.v[0] % TINY_MASK_ID);
        mask[t] = t >= 2;
    }
    return n;
}

static void
describe(struct tiny *t)
{
    static const int ids[] = {0, 2};
    struct df_decoder_config *c = &t->config.d;

    *c = (struct df_decoder_config){.hidden_size = 32,
                                    .intermediate_size = 48,
                                    .num_hidden_layers = 3,
                                    .num_attention_heads = 4,
                                    .num_key_value_heads = 2,
                                    .head_dim = 8,
                                    .vocab_size = TINY_VOCAB,
                                    .max_position_embeddings = 64,
                                    .rms_norm_eps = 1e-6,
                                    .qk_norm = true,
                                    .rope = {.theta = 1e4}};
    strcpy(t->config.model_type, "qwen3");
    t->config.tie_word_embeddings = true;
    CHECKED(df_drafter_config_from_target(&t->drafter, &t->config, 2, ids, 2,
                                          4, TINY_MASK_ID));
    t->drafter.d.window[1] = 5;
    t->limits = (struct df_batch_limits){.max_tokens = 64,
                                         .max_seqs = 4,
                                         .max_seqlen = TINY_MAX_LENGTH,
                                         .num_anchors = 4,
                                         .block_size = 4,
                                         .padded = true,
                                         .mask_token_id = TINY_MASK_ID};
}

void
tiny_make(struct tiny *t)
{
    struct df_weight_spec *specs;
    struct df_tensor_def *defs;
    size_t n, size;

    describe(t);
    CHECKED(df_model_weights(&specs, &n, &t->config));
    defs = calloc(n, sizeof *defs);
    for (size_t i = 0; i < n; i++) {
        const struct df_weight_spec *s = &specs[i];
        size_t count =
            (size_t) s->shape[0] * (s->rank == 2 ? (size_t) s->shape[1] : 1);
        float *data = malloc(count * sizeof *data);

        for (size_t k = 0; k < count; k++)
            data[k] = (s->is_norm ? 1 : 0) + 0.2f * tiny_random(i, k);
        defs[i] = (struct df_tensor_def){.name = s->name,
                                         .dtype = DF_F32,
                                         .rank = s->rank,
                                         .shape = s->shape,
                                         .data = data};
    }
    CHECKED(df_safetensors_pack(
        &t->image, &size, &(struct df_safetensors_def){defs, n, NULL, 0}));
    CHECKED(df_tensors_view(&t->tensors, t->image, size, "tiny"));
    for (size_t i = 0; i < n; i++)
        free((void *) defs[i].data);
    free(defs);
    free(specs);
}

void
tiny_clear(struct tiny *t)
{
    df_tensors_free(t->tensors);
    free(t->image);
}

void
tiny_drafter_make(struct tiny_drafter *d)
{
    struct df_device *cpu;

    CHECKED(df_device_open(&cpu, "cpu"));
    tiny_drafter_make_on(d, cpu);
}

void
tiny_drafter_make_on(struct tiny_drafter *d, struct df_device *dev)
{
    void *sums;

    tiny_make(&d->model);
    d->dev = dev;
    CHECKED(df_stream_new(&d->stream, d->dev, "test"));
    CHECKED(df_embeddings_load(&d->embeddings, d->model.tensors,
                               &d->model.config, d->dev, true));
    CHECKED(df_drafter_new(&d->drafter, &d->model.drafter, &d->embeddings,
                           &d->model.limits));
    CHECKED(df_drafter_init(d->drafter, 1));
    CHECKED(df_batch_new(&d->batch, &d->model.limits, NULL));
    CHECKED(df_device_alloc(d->dev, DF_MEM_DEVICE,
                            df_batch_bytes(&d->model.limits), &d->memory));
    df_batch_layout(&d->model.limits, d->memory, &d->arrays);
    CHECKED(df_device_alloc(d->dev, DF_MEM_DEVICE, sizeof *d->sums, &sums));
    d->sums = sums;
}

void
tiny_drafter_clear(struct tiny_drafter *d)
{
    df_device_free(d->dev, DF_MEM_DEVICE, d->sums);
    df_device_free(d->dev, DF_MEM_DEVICE, d->memory);
    df_batch_free(d->batch);
    df_drafter_free(d->drafter);
    df_embeddings_free(&d->embeddings);
    df_stream_free(d->stream);
    df_device_close(d->dev);
    tiny_clear(&d->model);
}

void
tiny_drafter_load(struct tiny_drafter *d, uint32_t n)
{
    int32_t ids[TINY_MAX_LENGTH];
    uint8_t mask[TINY_MAX_LENGTH];

    df_batch_clear(d->batch);
    for (uint32_t i = 0; i < n; i++) {
        size_t length = tiny_sample(i, ids, mask);

        CHECKED(
            df_batch_add(d->batch, &(struct df_sample){i, length, ids, mask}));
    }
    CHECKED(df_batch_finish(d->batch, 1, 0));
    CHECKED(df_copy(d->stream, d->memory, d->batch->memory, d->batch->bytes));
    CHECKED(df_stream_sync(d->stream));
}

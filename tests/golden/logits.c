/* logits TARGET DRAFTER OUT: what the drafter computes from random features,
   for other programs to compare with: the file OUT with

       input_ids [T] I64, features [T, K*H] BF16, anchors [N] I64,
       hidden [N, b, H] F32, logits [N, b, V] F32

   DFLASH_TEST_DEVICE says on which device.  */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/normal_internal.h"
#include "base/transfer_internal.h"
#include "dflash/drafter.h"
#include "dflash/philox.h"
#include "golden/cases.h"
#include "tap/tap.h"

enum {
    TOKENS = 40,
    BLOCKS = 5
};

#define CHECKED(call)                             \
    do {                                          \
        if ((call) != DF_OK)                      \
            bail("%s", df_error_last()->message); \
    } while (0)

/* The first two blocks see no more than a token and two; the last runs past
   the end.  */
static const int32_t anchors[BLOCKS] = {1, 2, 17, 18, 38};

struct run {
    struct df_device *dev;
    struct df_stream *stream;
    struct df_model_config target;
    struct df_drafter_config config;
    struct df_tensors *weights, *own;
    struct df_embeddings embeddings;
    struct df_drafter *drafter;
    struct df_batch *batch;
    struct df_batch_arrays arrays;
    void *memory;
    int32_t ids[TOKENS];
    uint16_t *features;
    float *hidden, *logits;
};

static void
open_models(struct run *r, const char *target, const char *drafter)
{
    const struct df_drafter_config *c = &r->config;

    CHECKED(df_model_config_load(&r->target, target));
    CHECKED(df_tensors_open(&r->weights, target));
    CHECKED(df_drafter_config_load(&r->config, drafter));
    CHECKED(df_tensors_open(&r->own, drafter));
    CHECKED(df_embeddings_load(&r->embeddings, r->weights, &r->target, r->dev,
                               true));
    const struct df_batch_limits limits = {.max_tokens = TOKENS,
                                           .max_seqs = 1,
                                           .max_seqlen = TOKENS,
                                           .num_anchors = BLOCKS,
                                           .block_size =
                                               (size_t) c->block_size,
                                           .mask_token_id = c->mask_token_id};
    CHECKED(df_drafter_new(&r->drafter, c, &r->embeddings, &limits));
    CHECKED(df_drafter_load(r->drafter, r->own));
    CHECKED(df_batch_new(&r->batch, &limits, NULL));
    CHECKED(df_device_alloc(r->dev, DF_MEM_DEVICE, df_batch_bytes(&limits),
                            &r->memory));
    df_batch_layout(&limits, r->memory, &r->arrays);
}

static void
make_input(struct run *r)
{
    size_t n =
        TOKENS * r->embeddings.H * (size_t) r->config.n_target_layer_ids;
    float *wide = malloc((n + 1) * sizeof *wide);
    size_t counts[] = {BLOCKS};
    uint8_t mask[TOKENS];

    r->features = malloc(n * sizeof *r->features);
    if (!wide || !r->features)
        bail("no memory");
    for (size_t i = 0; i < n; i += 2)
        df_normal_pair(df_key(7, DF_KEY_WEIGHTS), i / 2, wide + i);
    df_convert_from_f32(r->features, DF_BF16, wide, n);
    for (size_t i = 0; i < n; i++)
        wide[i] = df_f32_from_bf16(r->features[i]);
    golden_upload(r->dev, df_drafter_features(r->drafter), wide, n);
    free(wide);
    for (int i = 0; i < TOKENS; i++)
        r->ids[i] = (i * 37 + 11) % r->target.d.vocab_size;
    memset(mask, 1, sizeof mask);
    CHECKED(
        df_batch_add(r->batch, &(struct df_sample){0, TOKENS, r->ids, mask}));
    CHECKED(df_batch_finish_with(r->batch, anchors, counts));
    CHECKED(df_copy_now(r->dev, r->memory, r->batch->memory, r->batch->bytes));
}

/* The hidden states times the head, in double precision.  */
static void
compute(struct run *r)
{
    size_t M = BLOCKS * (size_t) r->config.block_size;
    size_t H = r->embeddings.H, V = r->embeddings.V;
    float *head;

    CHECKED(df_drafter_forward(r->drafter, r->stream, r->batch, &r->arrays));
    CHECKED(df_stream_sync(r->stream));
    r->hidden = golden_download(r->dev, df_drafter_hidden(r->drafter), M * H);
    head = golden_download(r->dev, r->embeddings.head, V * H);
    r->logits = malloc(M * V * sizeof *r->logits);
    if (!r->logits)
        bail("no memory");
    for (size_t i = 0; i < M; i++)
        for (size_t k = 0; k < V; k++) {
            double sum = 0;

            for (size_t h = 0; h < H; h++)
                sum += (double) r->hidden[i * H + h] * head[k * H + h];
            r->logits[i * V + k] = (float) sum;
        }
    free(head);
}

static void
write_all(const struct run *r, const char *path)
{
    int64_t H = (int64_t) r->embeddings.H, V = (int64_t) r->embeddings.V;
    const int64_t tokens[] = {TOKENS}, blocks[] = {BLOCKS};
    const int64_t features[] = {TOKENS, H * r->config.n_target_layer_ids};
    const int64_t hidden[] = {BLOCKS, r->config.block_size, H};
    const int64_t logits[] = {BLOCKS, r->config.block_size, V};
    int64_t ids[TOKENS], wide_anchors[BLOCKS];

    for (int i = 0; i < TOKENS; i++)
        ids[i] = r->ids[i];
    for (int i = 0; i < BLOCKS; i++)
        wide_anchors[i] = anchors[i];
    const struct df_tensor_def defs[] = {
        {"input_ids", DF_I64,  1, tokens,   ids         },
        {"anchors",   DF_I64,  1, blocks,   wide_anchors},
        {"features",  DF_BF16, 2, features, r->features },
        {"hidden",    DF_F32,  3, hidden,   r->hidden   },
        {"logits",    DF_F32,  3, logits,   r->logits   },
    };
    CHECKED(df_safetensors_write(
        path, &(struct df_safetensors_def){defs, sizeof defs / sizeof *defs,
                                           NULL, 0}));
}

static void
clear(struct run *r)
{
    free(r->logits);
    free(r->hidden);
    free(r->features);
    df_device_free(r->dev, DF_MEM_DEVICE, r->memory);
    df_batch_free(r->batch);
    df_drafter_free(r->drafter);
    df_embeddings_free(&r->embeddings);
    df_tensors_free(r->own);
    df_tensors_free(r->weights);
    df_stream_free(r->stream);
    df_device_close(r->dev);
}

int
main(int argc, char **argv)
{
    struct run r = {0};

    if (argc != 4)
        bail("three operands are wanted: TARGET DRAFTER OUT");
    r.dev = golden_device();
    CHECKED(df_stream_new(&r.stream, r.dev, "logits"));
    open_models(&r, argv[1], argv[2]);
    make_input(&r);
    compute(&r);
    write_all(&r, argv[3]);
    clear(&r);
    return 0;
}

/* Random weights in the shapes of a config.  All tensors point into one
   buffer, each at a place of its own, and the buffer repeats a block: no
   product is faster or slower for that, and no large model takes minutes to
   draw.  */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/normal_internal.h"
#include "dflash/weights.h"
#include "model/safetensors_internal.h"

enum {
    BLOCK = 1 << 20, /* numbers that are drawn */
    SHIFT = 4099     /* from one tensor's place to the next's */
};

/* Room for the largest tensor at the last place, then ones for norms.  */
static df_status
fill(struct df_tensors *ts, const struct df_weight_spec *specs, size_t n,
     uint64_t seed, size_t *ones)
{
    size_t most = 0, norm = 0;
    uint16_t *data;

    for (size_t i = 0; i < n; i++) {
        size_t count = df_weight_count(&specs[i]);

        most = count > most ? count : most;
        norm = specs[i].is_norm && count > norm ? count : norm;
    }
    *ones = (most + n * SHIFT + BLOCK - 1) / BLOCK * BLOCK;
    ts->data = data = malloc((*ones + norm) * sizeof *data);
    if (!data)
        return DF_FAIL(DF_NO_MEMORY, "random weights of %zu bytes",
                       (*ones + norm) * sizeof *data);
    for (size_t i = 0; i < BLOCK; i += 2) {
        float pair[2];

        df_normal_pair(df_key(seed, DF_KEY_WEIGHTS), i, pair);
        df_convert_from_f32(data + i, DF_BF16, pair, 2);
    }
    for (size_t at = BLOCK; at < *ones; at += BLOCK)
        memcpy(data + at, data, BLOCK * sizeof *data);
    for (size_t i = 0; i < norm; i++)
        data[*ones + i] = df_bf16_from_f32(1);
    return DF_OK;
}

static void
describe(struct df_tensors *ts, const struct df_weight_spec *specs, size_t n,
         size_t ones)
{
    const uint16_t *data = ts->data;

    for (size_t i = 0; i < n; i++) {
        const struct df_weight_spec *w = &specs[i];
        size_t at = w->is_norm ? ones : i * SHIFT;

        ts->tensors[i] =
            (struct df_tensor){.name = w->name,
                               .path = ts->path,
                               .dtype = DF_BF16,
                               .rank = w->rank,
                               .count = df_weight_count(w),
                               .size = 2 * df_weight_count(w),
                               .data = (const uint8_t *) (data + at)};
        memcpy(ts->tensors[i].shape, w->shape, sizeof w->shape);
    }
    qsort(ts->tensors, n, sizeof *ts->tensors, df_tensor_by_name);
}

/* Tensors of the weights SPECS[n], which are taken over.  */
static df_status
make(struct df_tensors **out, struct df_weight_spec *specs, size_t n,
     uint64_t seed)
{
    struct df_tensors *ts = calloc(1, sizeof *ts);
    size_t ones = 0;
    df_status status;

    if (!ts) {
        free(specs);
        return DF_FAIL(DF_NO_MEMORY, "random weights");
    }
    ts->names = specs;
    ts->path = strdup("random weights");
    ts->tensors = calloc(n, sizeof *ts->tensors);
    ts->n_tensors = n;
    status = ts->path && ts->tensors ? fill(ts, specs, n, seed, &ones)
                                     : DF_FAIL(DF_NO_MEMORY, "random weights");
    if (status != DF_OK) {
        df_tensors_free(ts);
        return status;
    }
    describe(ts, specs, n, ones);
    *out = ts;
    return DF_OK;
}

df_status
df_tensors_random(struct df_tensors **out, const struct df_model_config *c,
                  uint64_t seed)
{
    struct df_weight_spec *specs;
    size_t n;

    *out = NULL;
    DF_TRY(df_model_weights(&specs, &n, c));
    return make(out, specs, n, seed);
}

df_status
df_tensors_random_drafter(struct df_tensors **out,
                          const struct df_drafter_config *c, uint64_t seed)
{
    struct df_weight_spec *specs;
    size_t n;

    *out = NULL;
    DF_TRY(df_drafter_weights(&specs, &n, c));
    return make(out, specs, n, seed);
}

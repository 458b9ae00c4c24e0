/* Two captures of the same samples, row by row.  */

#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dflash/compare.h"
#include "store/compare_internal.h"

struct layer {
    double difference, squares;
    struct df_layer_distance distance;
};

struct df_compare {
    size_t K, H;
    struct layer layers[DF_MAX_LAYER_IDS + 1];
};

static bool
same_layers(const struct df_capture_header *a,
            const struct df_capture_header *b)
{
    if (a->K != b->K)
        return false;
    for (size_t k = 0; k < a->K; k++)
        if (a->layer_ids[k] != b->layer_ids[k] && a->layer_ids[k] >= 0
            && b->layer_ids[k] >= 0)
            return false;
    return true;
}

df_status
df_compare_new(struct df_compare **out, const struct df_capture_header *a,
               const struct df_capture_header *b)
{
    *out = NULL;
    if (a->hidden_size != b->hidden_size)
        return DF_FAIL(DF_INVALID, "hidden sizes %zu and %zu are compared",
                       a->hidden_size, b->hidden_size);
    if (!same_layers(a, b))
        return DF_FAIL(DF_INVALID, "captures of other layers are compared");
    *out = calloc(1, sizeof **out);
    if (!*out)
        return DF_FAIL(DF_NO_MEMORY, "comparing two captures");
    (*out)->K = a->K;
    (*out)->H = a->hidden_size;
    return DF_OK;
}

void
df_compare_free(struct df_compare *compare)
{
    free(compare);
}

static double
relative(double difference, double squares)
{
    if (difference == 0)
        return 0;
    return squares > 0 && isfinite(difference) ? sqrt(difference / squares)
                                               : INFINITY;
}

static void
add_row(struct df_compare *c, size_t k, const uint16_t *a, const uint16_t *b,
        const struct df_capture_sample *s, size_t t)
{
    struct layer *l = &c->layers[k];
    struct df_layer_distance *d = &l->distance;
    float difference, squares;
    double error;

    d->rows++;
    df_compare_rows(a, b, c->H, &difference, &squares);
    if (memcmp(a, b, c->H * sizeof *a) == 0) {
        d->equal++;
        difference = 0; /* of NaN too */
        squares = isfinite(squares) ? squares : 0;
    }
    l->difference += difference;
    l->squares += squares;
    error = relative(difference, squares);
    if (error > d->worst || d->rows == 1) {
        d->worst = error;
        d->worst_index = s->index;
        d->worst_id = s->id;
        d->worst_token = t;
    }
}

bool
df_compare_sample(struct df_compare *c, const struct df_capture_header *ha,
                  const struct df_capture_sample *a,
                  const struct df_capture_header *hb,
                  const struct df_capture_sample *b, uint64_t *token)
{
    size_t n = a->n < b->n ? a->n : b->n, slots = c->K;

    *token = 0;
    while (*token < n && a->ids[*token] == b->ids[*token])
        (*token)++;
    if (*token < n || a->n != b->n)
        return false;
    slots += ha->has_last_hidden && hb->has_last_hidden;
    for (size_t t = 0; t < n; t++)
        for (size_t k = 0; k < slots; k++)
            add_row(c, k, df_capture_row(ha, a, t, k),
                    df_capture_row(hb, b, t, k), a, t);
    return true;
}

struct df_layer_distance
df_compare_layer(const struct df_compare *c, size_t k)
{
    const struct layer *l = &c->layers[k];
    struct df_layer_distance d = l->distance;

    d.error = relative(l->difference, l->squares);
    return d;
}

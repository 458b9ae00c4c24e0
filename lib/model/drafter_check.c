/* A drafter's tensors: its parameters, copies of the target's, the maps of a
   vocabulary of its own, and nothing else.  */

#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/drafter_files_internal.h"
#include "dflash/weights.h"

/* A tensor beside the parameters, in speculators' layout.  */
struct beside {
    const char *name;
    bool is_float;
    enum df_dtype dtype; /* of one that isn't */
    int rank;
    int64_t shape[2];
    bool of_vocabulary; /* is there if the drafter has its own, only then */
    bool required;
};

enum {
    N_BESIDE = 4
};

static void
list_beside(struct beside out[N_BESIDE], const struct df_drafter_config *c)
{
    int64_t V = c->d.vocab_size, H = c->d.hidden_size;
    bool own = c->draft_vocab_size > 0;
    int64_t Vd = own ? c->draft_vocab_size : V;

    out[0] = (struct beside){
        DF_EMBEDDING_COPY, true, DF_BF16, 2, {V, H},
            false, false
    };
    out[1] = (struct beside){
        DF_HEAD_COPY, true, DF_BF16, 2, {Vd, H},
            false, own
    };
    out[2] = (struct beside){
        "t2d", false, DF_BOOL, 1, {V, 0},
            true, own
    };
    out[3] = (struct beside){
        "d2t", false, DF_I64, 1, {Vd, 0},
            true, own
    };
}

static df_status
check_beside(const struct df_tensor *t, const struct beside *b)
{
    char want[64], have[128];

    if (t->rank != b->rank
        || memcmp(t->shape, b->shape, (size_t) b->rank * sizeof *b->shape))
        return DF_FAIL(DF_SHAPE,
                       "%s: tensor %s has shape %s, config.json wants %s",
                       t->path, t->name,
                       df_shape_text(have, sizeof have, t->shape, t->rank),
                       df_shape_text(want, sizeof want, b->shape, b->rank));
    if (b->is_float ? !df_dtype_is_float(t->dtype) : t->dtype != b->dtype)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: unsupported dtype %s in tensor %s, which is %s",
                       t->path, df_dtype_name(t->dtype), t->name,
                       b->is_float ? "BF16, F16 or F32"
                                   : df_dtype_name(b->dtype));
    return DF_OK;
}

/* D2T [Vd] are offsets: token i of the drafter is i + d2t[i] of the target.
   T2D [V] marks those, and so both say the same.  */
static df_status
check_maps(const struct df_tensor *d2t, const struct df_tensor *t2d)
{
    size_t kept = 0;

    for (size_t i = 0; i < t2d->count; i++) {
        int64_t offset;

        if (t2d->data[i] > 1)
            return DF_FAIL(DF_FORMAT, "%s: t2d[%zu] is %d, not 0 or 1",
                           t2d->path, i, t2d->data[i]);
        if (!t2d->data[i])
            continue;
        if (kept == d2t->count)
            return DF_FAIL(DF_FORMAT,
                           "%s: t2d keeps more than the %zu tokens of d2t",
                           t2d->path, d2t->count);
        memcpy(&offset, d2t->data + kept * sizeof offset, sizeof offset);
        if (offset != (int64_t) (i - kept))
            return DF_FAIL(DF_FORMAT,
                           "%s: d2t[%zu] is %" PRId64 ", but token %zu of t2d"
                           " is %zu: wanted is %zu",
                           d2t->path, kept, offset, kept, i, i - kept);
        kept++;
    }
    if (kept < d2t->count)
        return DF_FAIL(DF_FORMAT,
                       "%s: t2d keeps %zu tokens, not the %zu of"
                       " d2t",
                       t2d->path, kept, d2t->count);
    return DF_OK;
}

static df_status
check_vocabulary(const struct df_drafter_config *c,
                 const struct df_tensors *ts)
{
    struct beside all[N_BESIDE];

    list_beside(all, c);
    for (size_t i = 0; i < N_BESIDE; i++) {
        const struct df_tensor *t = df_tensors_find(ts, all[i].name);

        if (!t && all[i].required)
            return DF_FAIL(DF_FORMAT,
                           "%s: no tensor %s, although draft_vocab_size is"
                           " %d of %d",
                           df_tensors_path(ts), all[i].name,
                           c->draft_vocab_size, c->d.vocab_size);
        if (t && all[i].of_vocabulary && !c->draft_vocab_size)
            return DF_FAIL(DF_FORMAT,
                           "%s: tensor %s, although draft_vocab_size is all"
                           " of vocab_size",
                           t->path, t->name);
        if (t)
            DF_TRY(check_beside(t, &all[i]));
    }
    if (!c->draft_vocab_size)
        return DF_OK;
    return check_maps(df_tensors_find(ts, "d2t"), df_tensors_find(ts, "t2d"));
}

/* Whether speculators' layout has NAME beside the parameters.  */
static bool
is_beside(const struct df_drafter_config *c, const char *name)
{
    struct beside all[N_BESIDE];

    list_beside(all, c);
    for (size_t i = 0; i < N_BESIDE; i++)
        if (strcmp(all[i].name, name) == 0)
            return c->layout == DF_LAYOUT_SPECULATORS;
    return false;
}

static df_status
check_known(const struct df_drafter_config *c, const struct df_tensors *ts)
{
    struct df_weight_spec *specs;
    size_t n;
    df_status status = DF_OK;

    DF_TRY(df_drafter_weights(&specs, &n, c));
    for (size_t i = 0; i < df_tensors_count(ts) && status == DF_OK; i++) {
        const struct df_tensor *t = df_tensors_at(ts, i);
        size_t k = 0;

        while (k < n && strcmp(specs[k].name, t->name) != 0)
            k++;
        if (k == n && !is_beside(c, t->name))
            status = DF_FAIL(DF_FORMAT,
                             "%s: unknown tensor %s: a drafter of %d layers"
                             " in the layout of %s doesn't have it",
                             t->path, t->name, c->d.num_hidden_layers,
                             df_drafter_layout_name(c->layout));
    }
    free(specs);
    return status;
}

df_status
df_drafter_check_tensors(const struct df_drafter_config *c,
                         const struct df_tensors *ts)
{
    DF_TRY(df_drafter_check_body(c, ts));
    if (df_tensors_unindexed(ts) > 0)
        return DF_FAIL(DF_FORMAT, "%s: %zu tensors are not in the index",
                       df_tensors_path(ts), df_tensors_unindexed(ts));
    DF_TRY(check_known(c, ts));
    return c->layout == DF_LAYOUT_SPECULATORS ? check_vocabulary(c, ts)
                                              : DF_OK;
}

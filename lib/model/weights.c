/* From a family's table of weights to the tensors of one model, and the
   check that a file holds them.  */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/config_internal.h"
#include "model/drafter_files_internal.h"

/* What the tables are filled in with.  */
struct context {
    const struct df_decoder_config *d;
    const struct df_weight_row *rows;
    int64_t dims[DF_N_DIMS];
    bool tied;
};

/* A drafter's embedding and head are the target's.  */
static const struct df_weight_row drafter_rows[] = {
    DF_MATRIX(FC, "fc.weight", H, KH),
    DF_VECTOR(HIDDEN_NORM, "hidden_norm.weight", H, ALWAYS),
    DF_VECTOR(NORM, "norm.weight", H, ALWAYS),
    DF_DECODER_ROWS(""),
    DF_QK_NORM_ROWS(""),
    {0},
};

static struct context
context_of(const struct df_decoder_config *d, const struct df_weight_row *rows,
           int n_captured, bool tied)
{
    int64_t h = d->hidden_size;

    return (struct context){
        .d = d,
        .rows = rows,
        .tied = tied,
        .dims = {[DF_DIM_H] = h,
                 [DF_DIM_I] = d->intermediate_size,
                 [DF_DIM_V] = d->vocab_size,
                 [DF_DIM_D] = d->head_dim,
                 [DF_DIM_AD] = (int64_t) d->num_attention_heads * d->head_dim,
                 [DF_DIM_GD] = (int64_t) d->num_key_value_heads * d->head_dim,
                 [DF_DIM_KH] = n_captured * h}
    };
}

/* Whether the model has the weight of ROW at all.  */
static bool
wanted(const struct context *x, const struct df_weight_row *row)
{
    switch (row->when) {
    case DF_WHEN_UNTIED:
        return !x->tied;
    case DF_WHEN_BIAS:
        return x->d->attention_bias;
    case DF_WHEN_QK_NORM:
        return x->d->qk_norm;
    case DF_ALWAYS:
        break;
    }
    return true;
}

/* ROW with all letters and the '*' filled in for LAYER.  */
static struct df_weight_spec
spec_of(const struct context *x, const struct df_weight_row *row, int layer)
{
    const char *star = strchr(row->name, '*');
    struct df_weight_spec s = {
        .weight = row->weight,
        .layer = layer,
        .rank = row->cols == DF_DIM_NONE ? 1 : 2,
        .shape = {x->dims[row->rows], x->dims[row->cols]},
        .is_norm = row->cols == DF_DIM_NONE && row->when != DF_WHEN_BIAS,
    };

    if (star)
        snprintf(s.name, sizeof s.name, "%.*s%d%s", (int) (star - row->name),
                 row->name, layer, star + 1);
    else
        snprintf(s.name, sizeof s.name, "%s", row->name);
    return s;
}

/* Call VISIT for every weight that the table knows, wanted or not, in
   order: those outside of layers, then layer by layer.  */
static df_status
visit_all(const struct context *x,
          df_status (*visit)(void *to, const struct context *x,
                             const struct df_weight_row *row,
                             const struct df_weight_spec *s),
          void *to)
{
    for (int layer = -1; layer < x->d->num_hidden_layers; layer++)
        for (const struct df_weight_row *row = x->rows; row->name; row++) {
            if (!strchr(row->name, '*') != (layer < 0))
                continue;
            struct df_weight_spec s = spec_of(x, row, layer);

            DF_TRY(visit(to, x, row, &s));
        }
    return DF_OK;
}

struct list {
    struct df_weight_spec *specs;
    size_t n;
};

/* TO is the struct list.  */
static df_status
append(void *to, const struct context *x, const struct df_weight_row *row,
       const struct df_weight_spec *s)
{
    struct list *list = to;

    if (wanted(x, row))
        list->specs[list->n++] = *s;
    return DF_OK;
}

static df_status
list_all(struct df_weight_spec **out, size_t *n, const struct context *x)
{
    size_t rows = 0;
    struct list list = {0};

    *out = NULL;
    while (x->rows[rows].name)
        rows++;
    rows *= (size_t) x->d->num_hidden_layers + 1;
    list.specs = calloc(rows, sizeof *list.specs);
    if (!list.specs)
        return DF_FAIL(DF_NO_MEMORY, "a list of %zu weights", rows);
    DF_TRY(visit_all(x, append, &list));
    *out = list.specs;
    *n = list.n;
    return DF_OK;
}

/* That T, found under the name of S, can be used as S.  */
static df_status
check_shape(const struct df_tensor *t, const struct df_weight_spec *s)
{
    char want[64], have[128];

    if (t->rank != s->rank
        || memcmp(t->shape, s->shape, (size_t) s->rank * sizeof *s->shape))
        return DF_FAIL(DF_SHAPE,
                       "%s: tensor %s has shape %s, config.json wants %s",
                       t->path, t->name,
                       df_shape_text(have, sizeof have, t->shape, t->rank),
                       df_shape_text(want, sizeof want, s->shape, s->rank));
    if (!df_dtype_is_float(t->dtype))
        return DF_FAIL(DF_UNSUPPORTED, "%s: unsupported dtype %s in tensor %s",
                       t->path, df_dtype_name(t->dtype), t->name);
    return DF_OK;
}

/* A model that says its head is the embedding may ship the head as well,
   but not another one.  */
static df_status
check_tied_head(const struct context *x, const struct df_tensors *ts,
                const struct df_tensor *head)
{
    const struct df_weight_row *row = x->rows;
    const struct df_tensor *embedding;

    while (row->weight != DF_WEIGHT_EMBEDDING)
        row++;
    DF_TRY(df_tensors_get(ts, row->name, &embedding));
    if (head->size == embedding->size && head->dtype == embedding->dtype
        && memcmp(head->data, embedding->data, head->size) == 0)
        return DF_OK;
    return DF_FAIL(DF_FORMAT,
                   "%s: tie_word_embeddings is true, but %s is there and"
                   " differs from %s",
                   head->path, head->name, embedding->name);
}

/* TO is the struct df_tensors.  */
static df_status
check(void *to, const struct context *x, const struct df_weight_row *row,
      const struct df_weight_spec *s)
{
    const struct df_tensors *ts = to;
    const struct df_tensor *t = df_tensors_find(ts, s->name);

    if (wanted(x, row) && t)
        return check_shape(t, s);
    if (wanted(x, row))
        return DF_FAIL(DF_FORMAT, "%s: no tensor %s%s", df_tensors_path(ts),
                       s->name,
                       row->when == DF_WHEN_UNTIED
                           ? ", although tie_word_embeddings is false"
                           : "");
    if (!t)
        return DF_OK;
    if (row->when == DF_WHEN_UNTIED)
        return check_tied_head(x, ts, t);
    return DF_FAIL(DF_FORMAT,
                   "%s: tensor %s, but config.json says there is"
                   " none",
                   t->path, t->name);
}

static df_status
check_all(const struct context *x, const struct df_tensors *ts)
{
    return visit_all(x, check, (void *) ts);
}

static struct context
model_context(const struct df_model_config *c)
{
    return context_of(&c->d, df_family_find(c->model_type)->rows, 0,
                      c->tie_word_embeddings);
}

static struct context
drafter_context(const struct df_drafter_config *c)
{
    return context_of(&c->d, drafter_rows, c->n_target_layer_ids, false);
}

df_status
df_model_weights(struct df_weight_spec **out, size_t *n,
                 const struct df_model_config *c)
{
    struct context x = model_context(c);

    return list_all(out, n, &x);
}

df_status
df_drafter_weights(struct df_weight_spec **out, size_t *n,
                   const struct df_drafter_config *c)
{
    struct context x = drafter_context(c);

    return list_all(out, n, &x);
}

df_status
df_model_check_tensors(const struct df_model_config *c,
                       const struct df_tensors *ts)
{
    struct context x = model_context(c);

    return check_all(&x, ts);
}

df_status
df_model_find_outer(const struct df_model_config *c,
                    const struct df_tensors *ts,
                    const struct df_tensor **embed,
                    const struct df_tensor **head)
{
    struct context x = model_context(c);

    *embed = *head = NULL;
    for (const struct df_weight_row *row = x.rows; row->name; row++)
        if (row->weight == DF_WEIGHT_EMBEDDING)
            DF_TRY(df_tensors_get(ts, row->name, embed));
        else if (row->weight == DF_WEIGHT_HEAD && wanted(&x, row))
            DF_TRY(df_tensors_get(ts, row->name, head));
    return DF_OK;
}

/* Which of TS the table has a row for.  */
struct marks {
    const struct df_tensors *ts;
    bool *known; /* [tensors of TS] */
};

/* TO is the struct marks.  */
static df_status
mark(void *to, const struct context *x, const struct df_weight_row *row,
     const struct df_weight_spec *s)
{
    struct marks *m = to;
    const struct df_tensor *t = df_tensors_find(m->ts, s->name);

    (void) x;
    (void) row;
    if (t)
        m->known[t - df_tensors_at(m->ts, 0)] = true;
    return DF_OK;
}

df_status
df_model_find_unknown(const struct df_model_config *c,
                      const struct df_tensors *ts, size_t *n,
                      const struct df_tensor **first)
{
    struct context x = model_context(c);
    size_t all = df_tensors_count(ts);
    struct marks m = {ts, calloc(all + 1, sizeof *m.known)};
    df_status status;

    *n = 0;
    *first = NULL;
    if (!m.known)
        return DF_FAIL(DF_NO_MEMORY, "%s: %zu tensors", df_tensors_path(ts),
                       all);
    status = visit_all(&x, mark, &m);
    for (size_t i = all; i-- > 0;)
        if (!m.known[i]) {
            *first = df_tensors_at(ts, i);
            ++*n;
        }
    free(m.known);
    return status;
}

df_status
df_drafter_check_body(const struct df_drafter_config *c,
                      const struct df_tensors *ts)
{
    struct context x = drafter_context(c);

    return check_all(&x, ts);
}

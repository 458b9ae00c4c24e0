/* A drafter's parameters: flat arrays, and who lies where in them.  */
#include <config.h>

#include <stdlib.h>

#include "draft/drafter_internal.h"

enum {
    ALIGNMENT = 64 /* elements */
};

/* Weights that lie right behind the one before them, to form one product
   with it.  */
static bool
continues(enum df_weight w)
{
    return w == DF_WEIGHT_K || w == DF_WEIGHT_V || w == DF_WEIGHT_UP;
}

static df_status
lay_out(struct df_drafter *d)
{
    struct df_weight_spec *specs;
    size_t at = 0;

    DF_TRY(df_drafter_weights(&specs, &d->n_params, &d->config));
    d->params = calloc(d->n_params, sizeof *d->params);
    if (!d->params) {
        free(specs);
        return DF_FAIL(DF_NO_MEMORY, "%zu parameters", d->n_params);
    }
    for (size_t i = 0; i < d->n_params; i++) {
        struct df_param *p = &d->params[i];

        p->spec = specs[i];
        p->count = df_weight_count(&specs[i]);
        if (!continues(p->spec.weight))
            at = (at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        p->offset = at;
        at += p->count;
    }
    d->flat.count = at;
    free(specs);
    return DF_OK;
}

static void
layout(struct df_arena *a, void *owner)
{
    struct df_drafter *d = owner;
    struct df_flat *f = &d->flat;

    if (d->frozen) {
        d->act = df_arena_take(a, f->count, df_act_size(d));
        return;
    }
    f->w = df_arena_take(a, f->count, sizeof *f->w);
    f->g = df_arena_take(a, f->count, sizeof *f->g);
    f->m = df_arena_take(a, f->count, sizeof *f->m);
    f->v = df_arena_take(a, f->count, sizeof *f->v);
    f->state = df_arena_take(a, 1, sizeof *f->state);
    d->sum = df_arena_take(a, 1, sizeof *d->sum);
    d->act = df_device_act(d->dev) == DF_F32
                 ? f->w
                 : df_arena_take(a, f->count, df_act_size(d));
}

/* Where the layers look for the weight of P; NULL for one that is reached
   through the weight before it.  */
static struct weight *
place(struct df_drafter *d, const struct df_param *p)
{
    struct draft_layer *l =
        p->spec.layer < 0 ? NULL : &d->layers[p->spec.layer];

    switch (p->spec.weight) {
    case DF_WEIGHT_NORM:
        return &d->norm;
    case DF_WEIGHT_FC:
        return &d->fc;
    case DF_WEIGHT_HIDDEN_NORM:
        return &d->hidden_norm;
    case DF_WEIGHT_INPUT_NORM:
        return &l->input_norm;
    case DF_WEIGHT_Q:
        return &l->qkv;
    case DF_WEIGHT_K:
        return &l->kv;
    case DF_WEIGHT_Q_NORM:
        return &l->q_norm;
    case DF_WEIGHT_K_NORM:
        return &l->k_norm;
    case DF_WEIGHT_O:
        return &l->o;
    case DF_WEIGHT_MLP_NORM:
        return &l->mlp_norm;
    case DF_WEIGHT_GATE:
        return &l->gate_up;
    case DF_WEIGHT_DOWN:
        return &l->down;
    default:
        return NULL;
    }
}

df_status
df_drafter_make_params(struct df_drafter *d)
{
    DF_TRY(lay_out(d));
    DF_TRY(df_arena_make(&d->memory, d->dev, DF_MEM_DEVICE, layout, d));
    for (size_t i = 0; i < d->n_params; i++) {
        struct weight *w = place(d, &d->params[i]);

        if (w) {
            w->w = (char *) d->act + d->params[i].offset * df_act_size(d);
            w->g = d->frozen ? NULL : d->flat.g + d->params[i].offset;
        }
    }
    return DF_OK;
}

const struct df_param *
df_drafter_params(const struct df_drafter *d, size_t *n)
{
    *n = d->n_params;
    return d->params;
}

struct df_flat
df_drafter_flat(const struct df_drafter *d)
{
    return d->flat;
}

#include <config.h>

#include <math.h>

#include "draft/drafter_internal.h"

df_status
df_drafter_clear_gradients(struct df_drafter *d, struct df_stream *s)
{
    return df_fill(s, d->flat.g, 0, d->flat.count * sizeof *d->flat.g);
}

df_status
df_drafter_step(struct df_drafter *d, struct df_stream *s, double scale,
                double lr, const struct df_adamw_options *o)
{
    const struct df_flat *f = &d->flat;

    DF_TRY(df_sum_squares(s, &(struct df_sum_squares_args){
                                 .sum = d->sum, .x = f->g, .N = f->count}));
    DF_TRY(df_clip(s, &(struct df_clip_args){.state = f->state,
                                             .sum = d->sum,
                                             .scale = scale,
                                             .max_norm = o->max_norm}));
    return df_adamw(
        s, &(struct df_adamw_args){.w = f->w,
                                   .m = f->m,
                                   .v = f->v,
                                   .g = f->g,
                                   .w_act = d->act == f->w ? NULL : d->act,
                                   .state = f->state,
                                   .N = f->count,
                                   .lr = (float) lr,
                                   .beta1 = o->beta1,
                                   .beta2 = o->beta2,
                                   .eps = o->eps,
                                   .weight_decay = o->weight_decay});
}

double
df_learning_rate(double lr, double warmup_ratio, int64_t total, int64_t e)
{
    int64_t warmup = (int64_t) (warmup_ratio * (double) total);

    if (e < warmup)
        return lr * (double) (e + 1) / (double) warmup;
    if (e >= total)
        return 0;
    double done = (double) (e - warmup) / (double) (total - warmup);
    return lr * 0.5 * (1 + cos(M_PI * done));
}

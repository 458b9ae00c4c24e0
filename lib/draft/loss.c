#include <config.h>

#include "draft/drafter_internal.h"

df_status
df_drafter_score(struct df_drafter *d, struct df_stream *s,
                 const struct df_batch *batch, const struct df_batch_arrays *a,
                 bool backward)
{
    DF_TRY(df_gather_rows(
        s, &(struct df_gather_rows_args){.y = d->rows,
                                         .x = d->hidden,
                                         .index = a->slot,
                                         .R = batch->R,
                                         .C = d->H,
                                         .T = batch->N * d->b}));
    return df_head_loss(
        s, &(struct df_head_loss_args){.nll = d->nll,
                                       .pred = d->pred,
                                       .dh = backward ? d->d_rows : NULL,
                                       .h = d->rows,
                                       .u = d->embeddings->head,
                                       .labels = a->labels,
                                       .R = batch->R,
                                       .H = d->H,
                                       .V = d->embeddings->V});
}

df_status
df_drafter_weigh(struct df_drafter *d, struct df_stream *s,
                 const struct df_batch *batch, const struct df_batch_arrays *a,
                 const struct df_objective *objective,
                 struct df_loss_sums *sums)
{
    return df_objective(
        s, &(struct df_objective_args){.weight = d->weight,
                                       .sums = sums,
                                       .nll = d->nll,
                                       .pred = d->pred,
                                       .labels = a->labels,
                                       .slot = a->slot,
                                       .R = batch->R,
                                       .N = batch->N,
                                       .b = d->b,
                                       .dpace = objective->dpace,
                                       .gamma = objective->gamma,
                                       .alpha = objective->alpha});
}

df_status
df_drafter_return(struct df_drafter *d, struct df_stream *s,
                  const struct df_batch *batch,
                  const struct df_batch_arrays *a)
{
    DF_TRY(df_scatter_rows(
        s, &(struct df_scatter_rows_args){.y = d->dn,
                                          .x = d->d_rows,
                                          .index = a->slot,
                                          .scale = d->weight,
                                          .R = batch->R,
                                          .C = d->H,
                                          .T = batch->N * d->b}));
    return df_drafter_backward(d, s, batch, a);
}

df_status
df_drafter_loss(struct df_drafter *d, struct df_stream *s,
                const struct df_batch *batch, const struct df_batch_arrays *a,
                const struct df_objective *objective,
                struct df_loss_sums *sums, bool backward)
{
    DF_TRY(df_drafter_score(d, s, batch, a, backward));
    DF_TRY(df_drafter_weigh(d, s, batch, a, objective, sums));
    return backward ? df_drafter_return(d, s, batch, a) : DF_OK;
}

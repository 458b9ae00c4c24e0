#include <config.h>

#include "cpu/cpu_internal.h"
#include "cpu/math_internal.h"

DF_CLONES static void
swiglu_row(float *h, const float *g, const float *u, size_t I)
{
    for (size_t i = 0; i < I; i++)
        h[i] = g[i] / (1.0f + df_expf(-g[i])) * u[i];
}

static df_status
swiglu_task(void *arg, size_t task)
{
    const struct df_swiglu_args *a = arg;
    size_t step = df_task_rows(a->I), end = df_task_end(task, a->T, step);

    for (size_t t = task * step; t < end; t++) {
        const float *gu = (const float *) a->gu + t * 2 * a->I;

        swiglu_row((float *) a->h + t * a->I, gu, gu + a->I, a->I);
    }
    return DF_OK;
}

df_status
cpu_swiglu(const struct df_swiglu_args *a)
{
    return df_pool_run(swiglu_task, (void *) a,
                       df_tasks(a->T, df_task_rows(a->I)));
}

/* With s = 1 / (1 + e^-g): du = dh g s, dg = dh u s (1 + g (1 - s)).  */
DF_CLONES static void
swiglu_bwd_row(float *dg, float *du, const float *dh, const float *g,
               const float *u, size_t I)
{
    for (size_t i = 0; i < I; i++) {
        float s = 1.0f / (1.0f + df_expf(-g[i]));
        float gs = g[i] * s;

        float d = dh[i] * u[i] * (s + gs * (1.0f - s));
        du[i] = dh[i] * gs;
        dg[i] = d;
    }
}

static df_status
swiglu_bwd_task(void *arg, size_t task)
{
    const struct df_swiglu_bwd_args *a = arg;
    size_t step = df_task_rows(a->I), end = df_task_end(task, a->T, step);

    for (size_t t = task * step; t < end; t++) {
        const float *gu = (const float *) a->gu + t * 2 * a->I;
        float *dgu = (float *) a->dgu + t * 2 * a->I;

        swiglu_bwd_row(dgu, dgu + a->I, (const float *) a->dh + t * a->I, gu,
                       gu + a->I, a->I);
    }
    return DF_OK;
}

df_status
cpu_swiglu_bwd(const struct df_swiglu_bwd_args *a)
{
    return df_pool_run(swiglu_bwd_task, (void *) a,
                       df_tasks(a->T, df_task_rows(a->I)));
}

#include <config.h>

#include <math.h>
#include <string.h>

#include "cpu/cpu_internal.h"
#include "cpu/math_internal.h"

DF_CLONES static void
norm_row(float *y, float *rstd, const float *x, const float *w, size_t C,
         float eps)
{
    double mean = df_dot(x, x, C) / (double) C;
    float r = (float) (1 / sqrt(mean + (double) eps));

    for (size_t c = 0; c < C; c++)
        y[c] = x[c] * r * w[c];
    if (rstd)
        *rstd = r;
}

static df_status
rmsnorm_task(void *arg, size_t task)
{
    const struct df_rmsnorm_args *a = arg;
    size_t step = df_task_rows(a->C), end = df_task_end(task, a->T, step);

    for (size_t t = task * step; t < end; t++)
        norm_row((float *) a->y + t * a->C, a->rstd ? a->rstd + t : NULL,
                 (const float *) a->x + t * a->C, a->w, a->C, a->eps);
    return DF_OK;
}

df_status
cpu_rmsnorm(const struct df_rmsnorm_args *a)
{
    return df_pool_run(rmsnorm_task, (void *) a,
                       df_tasks(a->T, df_task_rows(a->C)));
}

struct norm_bwd {
    const struct df_rmsnorm_bwd_args *a;
    size_t step;
    float *parts; /* [tasks,C] of dw */
};

DF_CLONES static void
dw_row(float *dw, const float *dy, const float *x, float rstd, size_t C)
{
    for (size_t c = 0; c < C; c++)
        dw[c] += dy[c] * (x[c] * rstd);
}

/* sum_c dy * w * x.  */
DF_CLONES static double
dot3(const float *dy, const float *w, const float *x, size_t C)
{
    double lanes[DF_LANES] = {0};
    size_t c = 0;

    for (; c + DF_LANES <= C; c += DF_LANES)
        for (size_t j = 0; j < DF_LANES; j++)
            lanes[j] += (double) (dy[c + j] * w[c + j]) * (double) x[c + j];
    for (size_t j = 0; c + j < C; j++)
        lanes[j] += (double) (dy[c + j] * w[c + j]) * (double) x[c + j];
    return df_add_lanes(lanes);
}

DF_CLONES static void
dx_row(float *dx, const float *dy, const float *x, const float *w, float rstd,
       size_t C, int accumulate)
{
    double mean = dot3(dy, w, x, C) * (double) rstd / (double) C;
    float scale = (float) mean * rstd; /* mean of g * xhat, times rstd */

    if (accumulate)
        for (size_t c = 0; c < C; c++)
            dx[c] += rstd * (dy[c] * w[c] - x[c] * scale);
    else
        for (size_t c = 0; c < C; c++)
            dx[c] = rstd * (dy[c] * w[c] - x[c] * scale);
}

static df_status
norm_bwd_task(void *arg, size_t task)
{
    const struct norm_bwd *job = arg;
    const struct df_rmsnorm_bwd_args *a = job->a;
    size_t end = df_task_end(task, a->T, job->step);
    float *dw = job->parts + task * a->C;

    memset(dw, 0, a->C * sizeof *dw);
    for (size_t t = task * job->step; t < end; t++) {
        const float *dy = (const float *) a->dy + t * a->C;
        const float *x = (const float *) a->x + t * a->C;

        dw_row(dw, dy, x, a->rstd[t], a->C); /* before DX overwrites DY */
        if (a->dx)
            dx_row((float *) a->dx + t * a->C, dy, x, a->w, a->rstd[t], a->C,
                   a->accumulate);
    }
    return DF_OK;
}

void
df_add_parts(float *sum, const float *parts, size_t n_parts, size_t C)
{
    for (size_t c = 0; c < C; c++) {
        double total = 0;

        for (size_t i = 0; i < n_parts; i++)
            total += (double) parts[i * C + c];
        sum[c] += (float) total;
    }
}

df_status
cpu_rmsnorm_bwd(const struct df_rmsnorm_bwd_args *a)
{
    struct norm_bwd job = {.a = a, .step = df_part_rows(a->T, a->C)};
    size_t n = df_tasks(a->T, job.step);
    void *parts;

    DF_TRY(df_op_scratch(DF_MAX_PARTS * a->C * sizeof(float), &parts));
    job.parts = parts;
    DF_TRY(df_pool_run(norm_bwd_task, &job, n));
    df_add_parts(a->dw, job.parts, n, a->C);
    return DF_OK;
}

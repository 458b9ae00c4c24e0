#include <config.h>

#include <math.h>
#include <string.h>

#include "cpu/cpu_internal.h"
#include "cpu/math_internal.h"

/* One head of D.  COS and SIN are rows of D/2.  Y may be X.  */
DF_CLONES static void
head(float *y, float *rstd, const float *x, const float *w, const float *cos,
     const float *sin, size_t D, float eps)
{
    size_t half = D / 2;

    if (!w) {
        for (size_t i = 0; i < half; i++) {
            float lo = x[i], hi = x[i + half];

            y[i] = lo * cos[i] - hi * sin[i];
            y[i + half] = hi * cos[i] + lo * sin[i];
        }
        return;
    }
    float r = (float) (1 / sqrt(df_dot(x, x, D) / (double) D + (double) eps));

    for (size_t i = 0; i < half; i++) {
        float lo = x[i] * r * w[i], hi = x[i + half] * r * w[i + half];

        y[i] = lo * cos[i] - hi * sin[i];
        y[i + half] = hi * cos[i] + lo * sin[i];
    }
    if (rstd)
        *rstd = r;
}

static df_status
rope_task(void *arg, size_t task)
{
    const struct df_head_norm_rope_args *a = arg;
    size_t N = a->N, D = a->D;
    size_t ldx = df_ld(a->ldx, N * D), ldy = df_ld(a->ldy, N * D);
    size_t step = df_task_rows(N * D), end = df_task_end(task, a->T, step);

    for (size_t t = task * step; t < end; t++) {
        const float *x = (const float *) a->x + t * ldx;
        float *y = (float *) a->y + t * ldy;
        size_t row = (size_t) a->pos[t] * (D / 2);

        for (size_t n = 0; n < N; n++)
            head(y + n * D, a->rstd ? a->rstd + t * N + n : NULL, x + n * D,
                 a->w, a->cos + row, a->sin + row, D, a->eps);
    }
    return DF_OK;
}

df_status
cpu_head_norm_rope(const struct df_head_norm_rope_args *a)
{
    return df_pool_run(rope_task, (void *) a,
                       df_tasks(a->T, df_task_rows(a->N * a->D)));
}

/* The rotation backwards: the gradient of z.  DZ may be DY.  */
DF_CLONES static void
turn_back(float *dz, const float *dy, const float *cos, const float *sin,
          size_t D)
{
    size_t half = D / 2;

    for (size_t i = 0; i < half; i++) {
        float lo = dy[i], hi = dy[i + half];

        dz[i] = lo * cos[i] + hi * sin[i];
        dz[i + half] = hi * cos[i] - lo * sin[i];
    }
}

/* From the gradient of z in DX to that of x, as in rmsnorm_bwd.  */
DF_CLONES static void
norm_back(float *dx, float *dw, const float *x, const float *w, float rstd,
          size_t D)
{
    double dot = 0;

    for (size_t i = 0; i < D; i++)
        dot += (double) (dx[i] * w[i]) * (double) x[i];
    float scale = (float) (dot * (double) rstd / (double) D) * rstd;

    for (size_t i = 0; i < D; i++) {
        dw[i] += dx[i] * (x[i] * rstd);
        dx[i] = rstd * (dx[i] * w[i] - x[i] * scale);
    }
}

struct rope_bwd {
    const struct df_head_norm_rope_bwd_args *a;
    size_t step;
    float *parts; /* [tasks,D] of dw */
};

static df_status
rope_bwd_task(void *arg, size_t task)
{
    const struct rope_bwd *job = arg;
    const struct df_head_norm_rope_bwd_args *a = job->a;
    size_t N = a->N, D = a->D;
    size_t lddx = df_ld(a->lddx, N * D), lddy = df_ld(a->lddy, N * D);
    size_t ldx = df_ld(a->ldx, N * D);
    size_t end = df_task_end(task, a->T, job->step);
    float *dw = job->parts ? job->parts + task * D : NULL;

    if (dw)
        memset(dw, 0, D * sizeof *dw);
    for (size_t t = task * job->step; t < end; t++) {
        const float *dy = (const float *) a->dy + t * lddy;
        float *dx = (float *) a->dx + t * lddx;
        size_t row = (size_t) a->pos[t] * (D / 2);

        for (size_t n = 0; n < N; n++) {
            turn_back(dx + n * D, dy + n * D, a->cos + row, a->sin + row, D);
            if (a->w)
                norm_back(dx + n * D, dw,
                          (const float *) a->x + t * ldx + n * D, a->w,
                          a->rstd[t * N + n], D);
        }
    }
    return DF_OK;
}

df_status
cpu_head_norm_rope_bwd(const struct df_head_norm_rope_bwd_args *a)
{
    struct rope_bwd job = {.a = a, .step = df_part_rows(a->T, a->N * a->D)};
    size_t n = df_tasks(a->T, job.step);
    void *parts = NULL;

    if (a->w)
        DF_TRY(df_op_scratch(DF_MAX_PARTS * a->D * sizeof(float), &parts));
    job.parts = parts;
    DF_TRY(df_pool_run(rope_bwd_task, &job, n));
    if (a->w)
        df_add_parts(a->dw, job.parts, n, a->D);
    return DF_OK;
}

/* The optimizer: norm of the gradient, clipping, AdamW.  */

#include <config.h>

#include <math.h>
#include <string.h>

#include "cpu/cpu_internal.h"
#include "cpu/math_internal.h"

struct squares {
    const struct df_sum_squares_args *a;
    size_t step;
    double parts[DF_MAX_PARTS];
};

DF_CLONES static double
sum_of_squares(const float *x, size_t n)
{
    return df_dot(x, x, n);
}

static df_status
squares_task(void *arg, size_t task)
{
    struct squares *job = arg;
    size_t begin = task * job->step;

    job->parts[task] = sum_of_squares(
        job->a->x + begin, df_task_end(task, job->a->N, job->step) - begin);
    return DF_OK;
}

df_status
cpu_sum_squares(const struct df_sum_squares_args *a)
{
    struct squares job = {.a = a, .step = df_part_rows(a->N, 1)};
    size_t n = df_tasks(a->N, job.step);
    double sum = 0;

    DF_TRY(df_pool_run(squares_task, &job, n));
    for (size_t i = 0; i < n; i++)
        sum += job.parts[i];
    *a->sum = sum;
    return DF_OK;
}

df_status
cpu_clip(const struct df_clip_args *a)
{
    struct df_step_state *s = a->state;

    s->norm = a->scale * sqrt(*a->sum);
    if (!isfinite(s->norm)) {
        s->factor = 0;
        s->skipped++;
        s->skipped_in_a_row++;
        return DF_OK;
    }
    s->factor = a->scale;
    if (a->max_norm > 0)
        s->factor *= fmin(1, a->max_norm / (s->norm + 1e-6));
    s->applied++;
    s->skipped_in_a_row = 0;
    return DF_OK;
}

/* What is the same for all weights of a step.  */
struct step {
    const struct df_adamw_args *a;
    float factor; /* of the gradient */
    float keep;   /* 1 - lr * weight_decay */
    float rate;   /* lr / (1 - beta1^t) */
    float root;   /* sqrt(1 - beta2^t) */
};

DF_CLONES static void
adamw(const struct step *s, float *restrict w, float *restrict m,
      float *restrict v, const float *restrict g, size_t n)
{
    float b1 = s->a->beta1, c1 = 1.0f - b1;
    float b2 = s->a->beta2, c2 = 1.0f - b2;
    float factor = s->factor, keep = s->keep, rate = s->rate, root = s->root;
    float eps = s->a->eps;

    for (size_t i = 0; i < n; i++) {
        float d = factor * g[i];

        m[i] = b1 * m[i] + c1 * d;
        v[i] = b2 * v[i] + c2 * (d * d);
        w[i] = keep * w[i] - rate * m[i] / (sqrtf(v[i]) / root + eps);
    }
}

static df_status
adamw_task(void *arg, size_t task)
{
    const struct step *s = arg;
    const struct df_adamw_args *a = s->a;
    size_t i = task * DF_TASK_ELEMENTS;
    size_t n = df_task_end(task, a->N, DF_TASK_ELEMENTS) - i;

    adamw(s, a->w + i, a->m + i, a->v + i, a->g + i, n);
    if (a->w_act)
        memcpy((float *) a->w_act + i, a->w + i, n * sizeof(float));
    return DF_OK;
}

df_status
cpu_adamw(const struct df_adamw_args *a)
{
    double lr = (double) a->lr, t = (double) a->state->applied;
    struct step step = {
        .a = a,
        .factor = (float) a->state->factor,
        .keep = (float) (1 - lr * (double) a->weight_decay),
        .rate = (float) (lr / (1 - pow((double) a->beta1, t))),
        .root = (float) sqrt(1 - pow((double) a->beta2, t)),
    };

    if (a->state->factor == 0)
        return DF_OK;
    return df_pool_run(adamw_task, &step, df_tasks(a->N, DF_TASK_ELEMENTS));
}

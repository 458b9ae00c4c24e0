/* Rows taken from and put into tables, and a sum.  */

#include <config.h>

#include <string.h>

#include "cpu/cpu_internal.h"
#include "cpu/math_internal.h"

/* y[r] = x[index[r]].  Embedding is the same with other names.  */
static df_status
gather_task(void *arg, size_t task)
{
    const struct df_gather_rows_args *a = arg;
    size_t step = df_task_rows(a->C), end = df_task_end(task, a->R, step);
    size_t ldy = df_ld(a->ldy, a->C);

    for (size_t r = task * step; r < end; r++)
        memcpy((float *) a->y + r * ldy,
               (const float *) a->x + (size_t) a->index[r] * a->C,
               a->C * sizeof(float));
    return DF_OK;
}

df_status
cpu_gather_rows(const struct df_gather_rows_args *a)
{
    return df_pool_run(gather_task, (void *) a,
                       df_tasks(a->R, df_task_rows(a->C)));
}

static df_status
put_task(void *arg, size_t task)
{
    const struct df_put_rows_args *a = arg;
    size_t step = df_task_rows(a->C), end = df_task_end(task, a->R, step);
    size_t ldy = df_ld(a->ldy, a->C), ldx = df_ld(a->ldx, a->C);

    for (size_t r = task * step; r < end; r++)
        if (a->index[r] >= 0)
            memcpy((float *) a->y + (size_t) a->index[r] * ldy,
                   (const float *) a->x + r * ldx, a->C * sizeof(float));
    return DF_OK;
}

df_status
cpu_put_rows(const struct df_put_rows_args *a)
{
    return df_pool_run(put_task, (void *) a,
                       df_tasks(a->R, df_task_rows(a->C)));
}

df_status
cpu_embed(const struct df_embed_args *a)
{
    struct df_gather_rows_args rows = {.y = a->x,
                                       .x = a->table,
                                       .index = a->ids,
                                       .R = a->T,
                                       .C = a->H,
                                       .T = a->V};

    return cpu_gather_rows(&rows);
}

/* The first r with index[r] >= T.  */
static size_t
first_at_least(const int32_t *index, size_t R, size_t T)
{
    size_t lo = 0, hi = R;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if ((size_t) index[mid] < T)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

DF_CLONES static void
scale_row(float *y, const float *x, float scale, size_t C)
{
    for (size_t c = 0; c < C; c++)
        y[c] = x[c] * scale;
}

static df_status
scatter_task(void *arg, size_t task)
{
    const struct df_scatter_rows_args *a = arg;
    size_t step = df_task_rows(a->C), end = df_task_end(task, a->T, step);
    size_t r = first_at_least(a->index, a->R, task * step);

    for (size_t t = task * step; t < end; t++) {
        float *y = (float *) a->y + t * a->C;

        if (r < a->R && (size_t) a->index[r] == t) {
            scale_row(y, (const float *) a->x + r * a->C, a->scale[r], a->C);
            r++;
        } else
            memset(y, 0, a->C * sizeof *y);
    }
    return DF_OK;
}

df_status
cpu_scatter_rows(const struct df_scatter_rows_args *a)
{
    return df_pool_run(scatter_task, (void *) a,
                       df_tasks(a->T, df_task_rows(a->C)));
}

DF_CLONES static void
add(float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        a[i] += b[i];
}

static df_status
add_task(void *arg, size_t task)
{
    const struct df_add_args *a = arg;
    size_t begin = task * DF_TASK_ELEMENTS;

    add(a->a + begin, a->b + begin,
        df_task_end(task, a->N, DF_TASK_ELEMENTS) - begin);
    return DF_OK;
}

df_status
cpu_add(const struct df_add_args *a)
{
    return df_pool_run(add_task, (void *) a, df_tasks(a->N, DF_TASK_ELEMENTS));
}

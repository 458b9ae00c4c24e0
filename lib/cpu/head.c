#include <config.h>

#include <math.h>

#include "cpu/cpu_internal.h"
#include "cpu/simd_internal.h"

/* A task is ROWS rows.  It goes once over the vocabulary in tiles of COLUMNS:

       z = h u^T,  m' = max(m, max z),  e = e^(z - m'),
       sum = sum * e^(m - m') + sum e,  dh = dh * e^(m - m') + e u

   and divides last.  So no logit is computed twice, and the scratch is ROWS
   times COLUMNS however large the vocabulary.  Sums are float over STEP
   columns and double beyond.  */
enum {
    ROWS = 128,
    COLUMNS = 2048,
    PITCH = COLUMNS + 16, /* rows don't all fall on one set of the cache */
    STEP = 256
};

/* What has been seen of a row's logits.  */
struct row {
    double sum; /* of e^(z - max) */
    float max, label;
    int32_t best;
};

/* Put the greatest of Z[0..N), the logits from V0 on, into R.  */
static void
find_greatest(struct row *r, const float *z, size_t n, size_t v0)
{
    size_t found = n;

    for (size_t i = 0; i < n; i += STEP) {
        float max = cpu_max_row(z + i, n - i < STEP ? n - i : STEP);

        if (max > r->max) {
            r->max = max;
            found = i;
        }
    }
    if (found == n)
        return;
    while (z[found] != r->max)
        found++;
    r->best = (int32_t) (v0 + found);
}

/* Z[0..N) = e^(Z - MAX); return the sum.  */
static double
exponents(float *z, size_t n, float max)
{
    double sum = 0;

    for (size_t i = 0; i < n; i += STEP)
        sum += (double) cpu_exp_row(z + i, n - i < STEP ? n - i : STEP, max);
    return sum;
}

/* Logits Z[0..N) of row number I become exponents, and R and what dh holds
   of earlier tiles are brought to the new maximum.  */
static void
add_tile(const struct df_head_loss_args *a, struct row *r, size_t i, float *z,
         size_t n, size_t v0)
{
    float before = r->max, factor;

    if (a->labels && (size_t) a->labels[i] - v0 < n)
        r->label = z[(size_t) a->labels[i] - v0];
    find_greatest(r, z, n, v0);
    if (!a->nll && !a->dh)
        return;
    factor = r->max > before ? df_expf(before - r->max) : 1.0f;
    r->sum = r->sum * (double) factor + exponents(z, n, r->max);
    if (a->dh && v0 > 0 && factor < 1.0f) {
        float *dh = (float *) a->dh + i * a->H;

        cpu_scale_row(dh, dh, factor, a->H);
    }
}

static void
finish_row(const struct df_head_loss_args *a, const struct row *r, size_t i)
{
    const float minus_one = -1.0f;
    float *dh;

    a->pred[i] = r->best;
    if (a->nll)
        a->nll[i] =
            (float) (log(r->sum) + (double) r->max - (double) r->label);
    if (!a->dh)
        return;
    dh = (float *) a->dh + i * a->H;
    cpu_scale_row(dh, dh, (float) (1 / r->sum), a->H);
    cpu_weigh_rows(dh, &minus_one,
                   (const float *) a->u + (size_t) a->labels[i] * a->H, a->H,
                   1, a->H);
}

static df_status
lose_rows(void *arg, size_t task)
{
    const struct df_head_loss_args *a = arg;
    size_t first = task * ROWS, H = a->H;
    size_t n = a->R - first < ROWS ? a->R - first : ROWS;
    const float *h = (const float *) a->h + first * H;
    struct row row[ROWS];
    void *mem;

    DF_TRY(df_scratch(ROWS * PITCH * sizeof(float), &mem));
    for (size_t i = 0; i < n; i++)
        row[i] = (struct row){.max = -INFINITY};
    for (size_t v0 = 0; v0 < a->V; v0 += COLUMNS) {
        size_t cols = a->V - v0 < COLUMNS ? a->V - v0 : COLUMNS;
        const float *u = (const float *) a->u + v0 * H;
        float *z = mem;

        df_gemm_nt(n, cols, H, h, H, u, H, z, PITCH);
        for (size_t i = 0; i < n; i++)
            add_tile(a, &row[i], first + i, z + i * PITCH, cols, v0);
        if (a->dh)
            df_gemm_nn(n, H, cols, z, PITCH, u, H, v0 > 0,
                       (float *) a->dh + first * H, H);
    }
    for (size_t i = 0; i < n; i++)
        finish_row(a, &row[i], first + i);
    return DF_OK;
}

df_status
cpu_head_loss(const struct df_head_loss_args *args)
{
    struct df_head_loss_args copy = *args;

    return df_pool_run(lose_rows, &copy, (args->R + ROWS - 1) / ROWS);
}

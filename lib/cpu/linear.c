/* Products with weights, by CBLAS in tiles.

   A library picks its inner loops by the size of a product, and they may
   round differently.  So LINEAR, whose rows must not depend on the batch,
   only ever asks for tiles of ROWS rows and a width that N alone decides:
   what is left over is padded.  The other products just need a split that
   doesn't depend on the number of threads; none splits its sum.  */

#include <config.h>

#include <string.h>

#include "cpu/blas_internal.h"
#include "cpu/cpu_internal.h"

enum {
    ROWS = 128,    /* of a tile of LINEAR */
    COLUMNS = 512, /* of a tile, at least */
    DX_ROWS = 256, /* of a tile of LINEAR_DX */
    DW_ROWS = 128  /* of a tile of LINEAR_DW */
};

/* The width of the tiles of N columns: wide matrices have enough of the
   wider tiles, which are a little faster.  */
static size_t
tile_width(size_t n)
{
    return n <= 2 * COLUMNS ? COLUMNS : 2 * COLUMNS;
}

static size_t
smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

struct linear_tile {
    const float *x, *w;
    float *y;
    size_t n, K, ldx, ldy;
    float beta;
};

static void
multiply(const struct linear_tile *t)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, ROWS, (int) t->n,
                (int) t->K, 1, t->x, (int) t->ldx, t->w, (int) t->K, t->beta,
                t->y, (int) t->ldy);
}

/* The last tile, of fewer ROWS_LEFT rows, by way of scratch.  */
static df_status
multiply_padded(const struct linear_tile *t, size_t rows_left)
{
    struct linear_tile padded = *t;
    float *x, *y;
    void *scratch;

    DF_TRY(df_scratch(ROWS * (t->K + t->n) * sizeof(float), &scratch));
    padded.x = x = scratch;
    padded.y = y = x + ROWS * t->K;
    padded.ldx = t->K;
    padded.ldy = t->n;
    memset(scratch, 0, ROWS * (t->K + t->n) * sizeof(float));
    for (size_t r = 0; r < rows_left; r++) {
        memcpy(x + r * t->K, t->x + r * t->ldx, t->K * sizeof *x);
        if (t->beta != 0)
            memcpy(y + r * t->n, t->y + r * t->ldy, t->n * sizeof *y);
    }
    multiply(&padded);
    for (size_t r = 0; r < rows_left; r++)
        memcpy(t->y + r * t->ldy, y + r * t->n, t->n * sizeof *y);
    return DF_OK;
}

static void
add_bias(const struct linear_tile *t, const float *bias, size_t rows)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < t->n; i++)
            t->y[r * t->ldy + i] += bias[i];
}

static df_status
linear_task(void *arg, size_t task)
{
    const struct df_linear_args *a = arg;
    size_t width = tile_width(a->N), across = df_tasks(a->N, width);
    size_t row = task / across * ROWS, column = task % across * width;
    size_t rows = smaller(ROWS, a->T - row);
    struct linear_tile t = {.n = smaller(width, a->N - column),
                            .K = a->K,
                            .ldx = df_ld(a->ldx, a->K),
                            .ldy = df_ld(a->ldy, a->N),
                            .beta = a->accumulate ? 1 : 0};

    t.x = (const float *) a->x + row * t.ldx;
    t.w = (const float *) a->w + column * a->K;
    t.y = (float *) a->y + row * t.ldy + column;
    if (rows < ROWS)
        DF_TRY(multiply_padded(&t, rows));
    else
        multiply(&t);
    if (a->bias)
        add_bias(&t, (const float *) a->bias + column, rows);
    return DF_OK;
}

df_status
cpu_linear(const struct df_linear_args *a)
{
    return df_pool_run(linear_task, (void *) a,
                       df_tasks(a->T, ROWS)
                           * df_tasks(a->N, tile_width(a->N)));
}

static df_status
dx_task(void *arg, size_t task)
{
    const struct df_linear_dx_args *a = arg;
    size_t across = df_tasks(a->K, COLUMNS);
    size_t row = task / across * DX_ROWS, column = task % across * COLUMNS;
    size_t lddx = df_ld(a->lddx, a->K), lddy = df_ld(a->lddy, a->N);

    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans,
                (int) smaller(DX_ROWS, a->T - row),
                (int) smaller(COLUMNS, a->K - column), (int) a->N, 1,
                (const float *) a->dy + row * lddy, (int) lddy,
                (const float *) a->w + column, (int) a->K,
                a->accumulate ? 1 : 0, (float *) a->dx + row * lddx + column,
                (int) lddx);
    return DF_OK;
}

df_status
cpu_linear_dx(const struct df_linear_dx_args *a)
{
    return df_pool_run(dx_task, (void *) a,
                       df_tasks(a->T, DX_ROWS) * df_tasks(a->K, COLUMNS));
}

static df_status
dw_task(void *arg, size_t task)
{
    const struct df_linear_dw_args *a = arg;
    size_t across = df_tasks(a->K, COLUMNS);
    size_t row = task / across * DW_ROWS, column = task % across * COLUMNS;
    size_t lddy = df_ld(a->lddy, a->N), ldx = df_ld(a->ldx, a->K);

    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans,
                (int) smaller(DW_ROWS, a->N - row),
                (int) smaller(COLUMNS, a->K - column), (int) a->T, 1,
                (const float *) a->dy + row, (int) lddy,
                (const float *) a->x + column, (int) ldx, 1,
                a->dw + row * a->K + column, (int) a->K);
    return DF_OK;
}

df_status
cpu_linear_dw(const struct df_linear_dw_args *a)
{
    return df_pool_run(dw_task, (void *) a,
                       df_tasks(a->N, DW_ROWS) * df_tasks(a->K, COLUMNS));
}

/* Products with weights, by CBLAS in tiles.

   A library picks its inner loops by the size of a product and by the place
   in it, and they round differently.  LINEAR, whose rows must not depend on
   the batch, therefore asks for products of one size only, so that a row's
   place in its tile is all that can make a difference, and keeps clear of
   where it does: the number of rows is a multiple of all usual widths of
   inner loops (4, 12, 16, 24, 48), and the features have zeros before and
   behind them, since AVX2 loops of OpenBLAS treat the first and the last 8
   in one way for some rows and in another for the next ones.

   The other products just need a split that doesn't depend on the number of
   threads; none splits its sum.  */

#include <config.h>

#include <string.h>

#include "cpu/blas_internal.h"
#include "cpu/cpu_internal.h"

enum {
    ROWS = 192,         /* of a tile of LINEAR */
    COLUMNS = 256,      /* of one, at most: libraries cut up much wider ones */
    ROUND = 16,         /* of which its width is a multiple */
    MARGIN = 8,         /* zeros before and behind a tile of weights */
    GRAD_COLUMNS = 512, /* of a tile of the other two */
    DX_ROWS = 256,
    DW_ROWS = 128
};

static size_t
smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

struct linear {
    const struct df_linear_args *a;
    size_t ldx, ldy;
    size_t width; /* columns of a tile, a multiple of ROUND */
    size_t tiles; /* across N */
    float *w;     /* [tiles,MARGIN+width+MARGIN,K], zeros outside of w */
};

/* Copy tile TILE of the weights.  */
static df_status
weights_task(void *arg, size_t tile)
{
    const struct linear *l = arg;
    size_t K = l->a->K, first = tile * l->width;
    size_t n = smaller(l->width, l->a->N - first);
    float *to = l->w + tile * (l->width + 2 * MARGIN) * K;

    memset(to, 0, MARGIN * K * sizeof *to);
    to += MARGIN * K;
    memcpy(to, (const float *) l->a->w + first * K, n * K * sizeof *to);
    memset(to + n * K, 0, (l->width - n + MARGIN) * K * sizeof *to);
    return DF_OK;
}

/* ROWS of y from the tile's FROM, with what is to be added.  */
static void
put_row(float *restrict y, const float *restrict from,
        const float *restrict bias, size_t n, bool accumulate)
{
    if (accumulate && bias)
        for (size_t i = 0; i < n; i++)
            y[i] += from[i] + bias[i];
    else if (accumulate)
        for (size_t i = 0; i < n; i++)
            y[i] += from[i];
    else if (bias)
        for (size_t i = 0; i < n; i++)
            y[i] = from[i] + bias[i];
    else
        memcpy(y, from, n * sizeof *y);
}

static df_status
linear_task(void *arg, size_t task)
{
    const struct linear *l = arg;
    const struct df_linear_args *a = l->a;
    size_t row = task / l->tiles * ROWS, tile = task % l->tiles;
    size_t rows = smaller(ROWS, a->T - row), K = a->K;
    size_t column = tile * l->width, wide = l->width + 2 * MARGIN;
    const float *x = (const float *) a->x + row * l->ldx;
    const float *bias = a->bias;
    float *y = (float *) a->y + row * l->ldy + column, *out, *padded;
    size_t ldx = l->ldx;
    void *scratch;

    DF_TRY(df_scratch(ROWS * (wide + K) * sizeof(float), &scratch));
    out = scratch;
    padded = out + ROWS * wide;
    if (rows < ROWS) {
        for (size_t r = 0; r < rows; r++)
            memcpy(padded + r * K, x + r * ldx, K * sizeof *x);
        memset(padded + rows * K, 0, (ROWS - rows) * K * sizeof *x);
        x = padded;
        ldx = K;
    }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, ROWS, (int) wide,
                (int) K, 1, x, (int) ldx, l->w + tile * wide * K, (int) K, 0,
                out, (int) wide);
    for (size_t r = 0; r < rows; r++)
        put_row(y + r * l->ldy, out + r * wide + MARGIN,
                bias ? bias + column : NULL, smaller(l->width, a->N - column),
                a->accumulate);
    return DF_OK;
}

df_status
cpu_linear(const struct df_linear_args *a)
{
    struct linear l = {
        .a = a, .ldx = df_ld(a->ldx, a->K), .ldy = df_ld(a->ldy, a->N)};
    size_t most = df_tasks(a->N, COLUMNS);
    void *w;

    l.width = df_tasks(df_tasks(a->N, most), ROUND) * ROUND;
    l.tiles = df_tasks(a->N, l.width);
    DF_TRY(df_op_scratch(
        l.tiles * (l.width + 2 * MARGIN) * a->K * sizeof(float), &w));
    l.w = w;
    DF_TRY(df_pool_run(weights_task, &l, l.tiles));
    return df_pool_run(linear_task, &l, df_tasks(a->T, ROWS) * l.tiles);
}

static df_status
dx_task(void *arg, size_t task)
{
    const struct df_linear_dx_args *a = arg;
    size_t across = df_tasks(a->K, GRAD_COLUMNS);
    size_t row = task / across * DX_ROWS,
           column = task % across * GRAD_COLUMNS;
    size_t lddx = df_ld(a->lddx, a->K), lddy = df_ld(a->lddy, a->N);

    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans,
                (int) smaller(DX_ROWS, a->T - row),
                (int) smaller(GRAD_COLUMNS, a->K - column), (int) a->N, 1,
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
                       df_tasks(a->T, DX_ROWS) * df_tasks(a->K, GRAD_COLUMNS));
}

static df_status
dw_task(void *arg, size_t task)
{
    const struct df_linear_dw_args *a = arg;
    size_t across = df_tasks(a->K, GRAD_COLUMNS);
    size_t row = task / across * DW_ROWS,
           column = task % across * GRAD_COLUMNS;
    size_t lddy = df_ld(a->lddy, a->N), ldx = df_ld(a->ldx, a->K);

    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans,
                (int) smaller(DW_ROWS, a->N - row),
                (int) smaller(GRAD_COLUMNS, a->K - column), (int) a->T, 1,
                (const float *) a->dy + row, (int) lddy,
                (const float *) a->x + column, (int) ldx, 1,
                a->dw + row * a->K + column, (int) a->K);
    return DF_OK;
}

df_status
cpu_linear_dw(const struct df_linear_dw_args *a)
{
    return df_pool_run(dw_task, (void *) a,
                       df_tasks(a->N, DW_ROWS) * df_tasks(a->K, GRAD_COLUMNS));
}

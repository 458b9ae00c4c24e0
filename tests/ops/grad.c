/* Backward operations against finite differences of the forward ones in
   double precision: with L = sum(dy * y), dL/dx = (L(x+h) - L(x-h)) / 2h.  */

#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "opcases/opcases.h"
#include "tap/tap.h"

/* L from the buffers B of the backward case R.  Y is room for the output.  */
typedef double loss_fn(const struct oprun *r, double **b, double *y);

static double
dot_rows(const double *dy, size_t lddy, const double *y, size_t T, size_t C)
{
    double sum = 0;

    for (size_t i = 0; i < T * C; i++)
        sum += dy[i / C * (lddy ? lddy : C) + i % C] * y[i];
    return sum;
}

static double
norm_loss(const struct oprun *r, double **b, double *y)
{
    static const struct opcase forward = {.op = DF_OP_rmsnorm};
    const struct df_rmsnorm_bwd_args *a = &r->args.rmsnorm_bwd;
    struct oprun f = {.c = &forward};
    double *bufs[] = {y, b[3], b[4]};

    f.args.rmsnorm =
        (struct df_rmsnorm_args){.T = a->T, .C = a->C, .eps = 1e-6f};
    op_reference(&f, bufs);
    return dot_rows(b[2], 0, y, a->T, a->C);
}

static double
rope_loss(const struct oprun *r, double **b, double *y)
{
    static const struct opcase forward = {.op = DF_OP_head_norm_rope};
    const struct df_head_norm_rope_bwd_args *a = &r->args.head_norm_rope_bwd;
    struct oprun f = {.c = &forward};
    double *bufs[] = {y, b[6], b[2], b[3], b[4], b[7]};

    f.args.head_norm_rope = (struct df_head_norm_rope_args){
        .w = a->w,
        .T = a->T,
        .N = a->N,
        .D = a->D,
        .ldx = a->ldx,
        .eps = 1e-6f,
    };
    op_reference(&f, bufs);
    return dot_rows(b[1], a->lddy, y, a->T, a->N * a->D);
}

static double
swiglu_loss(const struct oprun *r, double **b, double *y)
{
    static const struct opcase forward = {.op = DF_OP_swiglu};
    const struct df_swiglu_bwd_args *a = &r->args.swiglu_bwd;
    struct oprun f = {.c = &forward};
    double *bufs[] = {y, b[2]};

    f.args.swiglu = (struct df_swiglu_args){.T = a->T, .I = a->I};
    op_reference(&f, bufs);
    return dot_rows(b[1], 0, y, a->T, a->I);
}

/* Buffer GRADIENT of the backward case is that of buffer INPUT, and may lie
   in rows of another distance.  */
struct wrt {
    int input, gradient;
};

/* clang-format off */
static const struct row {
    struct opcase c;
    loss_fn *loss;
    struct wrt of[2];
    size_t width; /* of rows, if input and gradient have distances */
} rows[] = {
    {{DF_OP_rmsnorm_bwd, {1, 3}, 0, 0}, norm_loss, {{3, 0}, {4, 1}}, 0},
    {{DF_OP_rmsnorm_bwd, {5, 33}, 0, 0}, norm_loss, {{3, 0}, {4, 1}}, 0},
    {{DF_OP_rmsnorm_bwd, {130, 17}, OPCASE_ACCUMULATE, 0},
     norm_loss, {{3, 0}, {4, 1}}, 0},
    {{DF_OP_head_norm_rope_bwd, {1, 1, 2}, 0, 0},
     rope_loss, {{6, 0}, {7, 5}}, 2},
    {{DF_OP_head_norm_rope_bwd, {9, 3, 10}, OPCASE_WIDE_ROWS, 0},
     rope_loss, {{6, 0}, {7, 5}}, 30},
    {{DF_OP_swiglu_bwd, {3, 33}, 0, 0}, swiglu_loss, {{2, 0}, {-1, -1}}, 0},
};
/* clang-format on */

/* Where element I of rows of WIDTH is in buffer B, if it has T rows.  */
static size_t
place(const struct opbuf *b, size_t i, size_t width, size_t T)
{
    if (width == 0 || b->n == width * T || T < 2)
        return i;
    return i / width * ((b->n - width) / (T - 1)) + i % width;
}

/* More than any output has.  */
static size_t
count_all(const struct oprun *r)
{
    size_t n = 0;

    for (size_t b = 0; b < r->n_bufs; b++)
        n += r->bufs[b].n;
    return n;
}

static int
check(const struct row *row, const struct oprun *r, double **b, struct wrt of)
{
    const struct opbuf *in = &r->bufs[of.input];
    const struct opbuf *out = &r->bufs[of.gradient];
    bool whole = in->n < row->width * row->c.d[0]; /* no rows: a weight */
    size_t T = row->c.d[0], width = whole ? 0 : row->width;
    size_t n = width ? width * T : in->n;
    double *seen = oprun_after(r, (size_t) of.gradient);
    double *before = oprun_before(r, (size_t) of.gradient);
    double *y = calloc(1 + count_all(r), sizeof *y), worst = 0;

    for (size_t i = 0; i < n; i++) {
        const double h = 1e-4;
        size_t at = place(in, i, width, T), to = place(out, i, width, T);
        double x = b[of.input][at], start = before[to];

        b[of.input][at] = x + h;
        double up = row->loss(r, b, y);

        b[of.input][at] = x - h;
        double wanted = (up - row->loss(r, b, y)) / (2 * h);

        b[of.input][at] = x;
        if (isnan(start)) /* set, not added to */
            start = 0;
        worst =
            fmax(worst, fabs(seen[to] - start - wanted) / (1 + fabs(wanted)));
    }
    if (!(worst < 2e-5))
        diag("%s: off by %g", out->name, worst);
    free(y);
    free(before);
    free(seen);
    return worst < 2e-5;
}

static void
test_row(const struct row *row, struct df_device *dev)
{
    double *b[OPRUN_MAX_BUFFERS] = {NULL};
    struct oprun *r = NULL;
    char label[80];
    int good = oprun_new(&r, &row->c, dev) == DF_OK && oprun_call(r) == DF_OK
               && oprun_finish(r) == DF_OK;

    opcase_label(&row->c, label, sizeof label);
    for (size_t i = 0; good && i < r->n_bufs; i++)
        b[i] = oprun_before(r, i);
    for (size_t i = 0; good && i < 2 && row->of[i].input >= 0; i++)
        good &= check(row, r, b, row->of[i]);
    ok(good, "%s", label);
    for (size_t i = 0; i < OPRUN_MAX_BUFFERS; i++)
        free(b[i]);
    oprun_free(r);
}

int
main(void)
{
    struct df_device *dev;
    size_t n = sizeof rows / sizeof *rows;

    plan((int) n);
    if (df_device_open(&dev, "cpu") != DF_OK)
        return 1;
    for (size_t i = 0; i < n; i++)
        test_row(&rows[i], dev);
    df_device_close(dev);
    return 0;
}

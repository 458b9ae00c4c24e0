/* The buffers and arguments of each operation's cases.  The first line of a
   builder names its sizes.  Outputs come first.  */

#include <config.h>

#include <math.h>

#include "opcases/opbuild.h"

void
op_build_embed(struct oprun *r)
{
    size_t T = r->c->d[0], H = r->c->d[1], V = r->c->d[2];

    struct df_embed_args *a = &r->args.embed;

    *a = (struct df_embed_args){.T = T, .H = H, .V = V};
    a->x = op_output(r, "x", OPBUF_ACT, T * H);
    a->table = op_input(r, "table", OPBUF_ACT, V * H, -1, 1);
    op_moves(r, T * H);
    a->ids = op_input(r, "ids", OPBUF_I32, T, 0, (double) V);
}

void
op_build_rmsnorm(struct oprun *r)
{
    size_t T = r->c->d[0], C = r->c->d[1];

    struct df_rmsnorm_args *a = &r->args.rmsnorm;

    *a = (struct df_rmsnorm_args){.T = T, .C = C, .eps = 1e-6f};
    a->y = op_output(r, "y", OPBUF_ACT, T * C);
    a->x = op_input(r, "x", OPBUF_ACT, T * C, -2, 2);
    a->w = op_input(r, "w", OPBUF_ACT, C, 0.5, 1.5);
    if (!(r->c->flags & OPCASE_PLAIN))
        a->rstd = op_output(r, "rstd", OPBUF_F32, T);
}

/* What the forward pass would have kept for row I of buffer X.  */
static double
rstd_of(const struct oprun *r, size_t i, size_t x, size_t width, size_t ld)
{
    size_t heads = r->c->op == DF_OP_rmsnorm_bwd ? 1 : r->c->d[1];
    size_t at = i / heads * ld + i % heads * width;
    double sum = 0;

    for (size_t c = 0; c < width; c++) {
        double value = op_value(r, x, at + c);

        sum += value * value;
    }
    return 1 / sqrt(sum / (double) width + 1e-6);
}

static double
norm_rstd(const struct oprun *r, size_t i)
{
    return rstd_of(r, i, 3, r->c->d[1], r->c->d[1]);
}

void
op_build_rmsnorm_bwd(struct oprun *r)
{
    size_t T = r->c->d[0], C = r->c->d[1];
    bool sum = r->c->flags & OPCASE_ACCUMULATE;

    struct df_rmsnorm_bwd_args *a = &r->args.rmsnorm_bwd;

    *a = (struct df_rmsnorm_bwd_args){.T = T, .C = C, .accumulate = sum};
    a->dx = sum ? op_added_to(r, "dx", OPBUF_ACT, T * C)
                : op_output(r, "dx", OPBUF_ACT, T * C);
    a->dw = op_added_to(r, "dw", OPBUF_F32, C);
    a->dy = op_input(r, "dy", OPBUF_ACT, T * C, -1, 1);
    a->x = op_input(r, "x", OPBUF_ACT, T * C, -2, 2);
    a->w = op_input(r, "w", OPBUF_ACT, C, 0.5, 1.5);
    a->rstd = op_filled(r, "rstd", OPBUF_F32, T, norm_rstd);
}

enum {
    POSITIONS = 97 /* rows of the tables of angles */
};

static double
angle(const struct oprun *r, size_t i)
{
    size_t half = r->c->d[2] / 2;

    return (double) (i / half)
           * pow(10000, -(double) (i % half) / (double) half);
}

static double
cosine(const struct oprun *r, size_t i)
{
    return cos(angle(r, i));
}

static double
sine(const struct oprun *r, size_t i)
{
    return sin(angle(r, i));
}

void
op_build_head_norm_rope(struct oprun *r)
{
    size_t T = r->c->d[0], N = r->c->d[1], D = r->c->d[2];
    bool plain = r->c->flags & OPCASE_PLAIN;
    struct df_head_norm_rope_args *a = &r->args.head_norm_rope;

    *a = (struct df_head_norm_rope_args){.T = T,
                                         .N = N,
                                         .D = D,
                                         .P = POSITIONS,
                                         .eps = 1e-6f,
                                         .ldy = op_ld(r, N * D),
                                         .ldx = op_ld(r, N * D + 3)};
    a->y = op_output(r, "y", OPBUF_ACT, op_spread(T, N * D, a->ldy));
    a->x = op_input(r, "x", OPBUF_ACT, op_spread(T, N * D, a->ldx), -2, 2);
    a->cos = op_filled(r, "cos", OPBUF_F32, POSITIONS * D / 2, cosine);
    a->sin = op_filled(r, "sin", OPBUF_F32, POSITIONS * D / 2, sine);
    a->pos = op_input(r, "pos", OPBUF_I32, T, 0, POSITIONS);
    if (plain)
        return;
    a->w = op_input(r, "w", OPBUF_ACT, D, 0.5, 1.5);
    a->rstd = op_output(r, "rstd", OPBUF_F32, T * N);
}

static double
head_rstd(const struct oprun *r, size_t i)
{
    size_t ld = r->args.head_norm_rope_bwd.ldx;

    return rstd_of(r, i, 6, r->c->d[2], ld ? ld : r->c->d[1] * r->c->d[2]);
}

void
op_build_head_norm_rope_bwd(struct oprun *r)
{
    size_t T = r->c->d[0], N = r->c->d[1], D = r->c->d[2];
    struct df_head_norm_rope_bwd_args *a = &r->args.head_norm_rope_bwd;

    *a = (struct df_head_norm_rope_bwd_args){.T = T,
                                             .N = N,
                                             .D = D,
                                             .P = POSITIONS,
                                             .lddx = op_ld(r, N * D),
                                             .lddy = op_ld(r, N * D + 1),
                                             .ldx = op_ld(r, N * D + 2)};
    a->dx = op_output(r, "dx", OPBUF_ACT, op_spread(T, N * D, a->lddx));
    a->dy = op_input(r, "dy", OPBUF_ACT, op_spread(T, N * D, a->lddy), -1, 1);
    a->cos = op_filled(r, "cos", OPBUF_F32, POSITIONS * D / 2, cosine);
    a->sin = op_filled(r, "sin", OPBUF_F32, POSITIONS * D / 2, sine);
    a->pos = op_input(r, "pos", OPBUF_I32, T, 0, POSITIONS);
    if (r->c->flags & OPCASE_PLAIN)
        return;
    a->dw = op_added_to(r, "dw", OPBUF_F32, D);
    a->x = op_input(r, "x", OPBUF_ACT, op_spread(T, N * D, a->ldx), -2, 2);
    a->w = op_input(r, "w", OPBUF_ACT, D, 0.5, 1.5);
    a->rstd = op_filled(r, "rstd", OPBUF_F32, T * N, head_rstd);
}

/* Sizes: T, N, K, whether the output is float32.  */
void
op_build_linear(struct oprun *r)
{
    size_t T = r->c->d[0], N = r->c->d[1], K = r->c->d[2];
    bool wide = r->c->d[3] > 0;
    enum opbuf_type type = wide ? OPBUF_F32 : OPBUF_ACT;
    struct df_linear_args *a = &r->args.linear;

    *a = (struct df_linear_args){.T = T,
                                 .N = N,
                                 .K = K,
                                 .ldy = op_ld(r, N),
                                 .ldx = op_ld(r, K + 1),
                                 .accumulate = r->c->flags & OPCASE_ACCUMULATE,
                                 .wide = wide};
    a->y = a->accumulate ? op_added_to(r, "y", type, op_spread(T, N, a->ldy))
                         : op_output(r, "y", type, op_spread(T, N, a->ldy));
    a->x = op_input(r, "x", OPBUF_ACT, op_spread(T, K, a->ldx), -1, 1);
    a->w = op_input(r, "w", OPBUF_ACT, N * K, -1, 1);
    if (!(r->c->flags & OPCASE_PLAIN))
        a->bias = op_input(r, "bias", OPBUF_ACT, N, -4, 4);
}

void
op_build_linear_dx(struct oprun *r)
{
    size_t T = r->c->d[0], N = r->c->d[1], K = r->c->d[2];
    struct df_linear_dx_args *a = &r->args.linear_dx;

    *a = (struct df_linear_dx_args){.T = T,
                                    .N = N,
                                    .K = K,
                                    .lddx = op_ld(r, K),
                                    .lddy = op_ld(r, N + 1),
                                    .accumulate =
                                        r->c->flags & OPCASE_ACCUMULATE};
    a->dx = a->accumulate
                ? op_added_to(r, "dx", OPBUF_ACT, op_spread(T, K, a->lddx))
                : op_output(r, "dx", OPBUF_ACT, op_spread(T, K, a->lddx));
    a->dy = op_input(r, "dy", OPBUF_ACT, op_spread(T, N, a->lddy), -1, 1);
    a->w = op_input(r, "w", OPBUF_ACT, N * K, -1, 1);
}

void
op_build_linear_dw(struct oprun *r)
{
    size_t T = r->c->d[0], N = r->c->d[1], K = r->c->d[2];
    struct df_linear_dw_args *a = &r->args.linear_dw;

    *a = (struct df_linear_dw_args){
        .T = T, .N = N, .K = K, .lddy = op_ld(r, N), .ldx = op_ld(r, K + 1)};
    a->dw = op_added_to(r, "dw", OPBUF_F32, N * K);
    a->dy = op_input(r, "dy", OPBUF_ACT, op_spread(T, N, a->lddy), -1, 1);
    a->x = op_input(r, "x", OPBUF_ACT, op_spread(T, K, a->ldx), -1, 1);
}

void
op_build_swiglu(struct oprun *r)
{
    size_t T = r->c->d[0], I = r->c->d[1];

    r->args.swiglu = (struct df_swiglu_args){.T = T, .I = I};
    r->args.swiglu.h = op_output(r, "h", OPBUF_ACT, T * I);
    r->args.swiglu.gu = op_input(r, "gu", OPBUF_ACT, T * 2 * I, -8, 8);
}

void
op_build_swiglu_bwd(struct oprun *r)
{
    size_t T = r->c->d[0], I = r->c->d[1];
    struct df_swiglu_bwd_args *a = &r->args.swiglu_bwd;

    *a = (struct df_swiglu_bwd_args){.T = T, .I = I};
    a->dgu = op_output(r, "dgu", OPBUF_ACT, T * 2 * I);
    a->dh = op_input(r, "dh", OPBUF_ACT, T * I, -1, 1);
    a->gu = op_input(r, "gu", OPBUF_ACT, T * 2 * I, -8, 8);
}

/* Operations in double precision, in the obvious order.  */

#include <config.h>

#include <math.h>
#include <string.h>

#include "dflash/check.h"
#include "dflash/philox.h"
#include "opcases/opcases.h"

static size_t
distance(size_t ld, size_t width)
{
    return ld ? ld : width;
}

static void
embed(const struct df_embed_args *a, double **b)
{
    for (size_t i = 0; i < a->T * a->H; i++)
        b[0][i] = b[1][(size_t) b[2][i / a->H] * a->H + i % a->H];
}

/* y[i] = x[i] / rms, or 1 / rms alone.  */
static double
rstd_of(const double *x, size_t n, double eps)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return 1 / sqrt(sum / (double) n + eps);
}

static void
rmsnorm(const struct df_rmsnorm_args *a, double **b)
{
    for (size_t t = 0; t < a->T; t++) {
        double r = rstd_of(b[1] + t * a->C, a->C, (double) a->eps);

        for (size_t c = 0; c < a->C; c++)
            b[0][t * a->C + c] = b[1][t * a->C + c] * r * b[2][c];
        if (a->rstd)
            b[3][t] = r;
    }
}

static void
head_norm_rope(const struct df_head_norm_rope_args *a, double **b)
{
    size_t N = a->N, D = a->D, half = D / 2;

    for (size_t i = 0; i < a->T * N; i++) {
        const double *x = b[1] + i / N * distance(a->ldx, N * D) + i % N * D;
        double *y = b[0] + i / N * distance(a->ldy, N * D) + i % N * D;
        const double *cos = b[2] + (size_t) b[4][i / N] * half;
        const double *sin = b[3] + (size_t) b[4][i / N] * half;
        double r = a->w ? rstd_of(x, D, (double) a->eps) : 1;

        for (size_t d = 0; d < half; d++) {
            double lo = x[d] * r * (a->w ? b[5][d] : 1);
            double hi = x[d + half] * r * (a->w ? b[5][d + half] : 1);

            y[d] = lo * cos[d] - hi * sin[d];
            y[d + half] = hi * cos[d] + lo * sin[d];
        }
        if (a->rstd)
            b[6][i] = r;
    }
}

static void
linear(const struct df_linear_args *a, double **b)
{
    size_t ldx = distance(a->ldx, a->K), ldy = distance(a->ldy, a->N);

    for (size_t t = 0; t < a->T; t++)
        for (size_t n = 0; n < a->N; n++) {
            double sum = a->bias ? b[3][n] : 0;

            for (size_t k = 0; k < a->K; k++)
                sum += b[1][t * ldx + k] * b[2][n * a->K + k];
            b[0][t * ldy + n] = sum + (a->accumulate ? b[0][t * ldy + n] : 0);
        }
}

static void
linear_dx(const struct df_linear_dx_args *a, double **b)
{
    size_t lddx = distance(a->lddx, a->K), lddy = distance(a->lddy, a->N);

    for (size_t t = 0; t < a->T; t++)
        for (size_t k = 0; k < a->K; k++) {
            double sum = a->accumulate ? b[0][t * lddx + k] : 0;

            for (size_t n = 0; n < a->N; n++)
                sum += b[1][t * lddy + n] * b[2][n * a->K + k];
            b[0][t * lddx + k] = sum;
        }
}

static void
linear_dw(const struct df_linear_dw_args *a, double **b)
{
    size_t lddy = distance(a->lddy, a->N), ldx = distance(a->ldx, a->K);

    for (size_t n = 0; n < a->N; n++)
        for (size_t k = 0; k < a->K; k++)
            for (size_t t = 0; t < a->T; t++)
                b[0][n * a->K + k] += b[1][t * lddy + n] * b[2][t * ldx + k];
}

static void
swiglu(const struct df_swiglu_args *a, double **b)
{
    for (size_t t = 0; t < a->T; t++)
        for (size_t i = 0; i < a->I; i++) {
            double g = b[1][t * 2 * a->I + i];

            b[0][t * a->I + i] =
                g / (1 + exp(-g)) * b[1][t * 2 * a->I + a->I + i];
        }
}

/* The check of the H values, exact in bf16, at X.  */
static double
check_of(const double *x, size_t H)
{
    uint64_t sum = 0;

    for (size_t p = 0; p * 8 < H; p++) {
        uint64_t half[2] = {0, 0};

        for (size_t i = 0; i < 8 && p * 8 + i < H; i++)
            half[i / 4] |= (uint64_t) df_bf16_from_f32((float) x[p * 8 + i])
                           << i % 4 * 16;
        sum += df_check_word(half[0], half[1], p);
    }
    return (double) (int64_t) sum;
}

/* bf16(x), then noise for feature F of row T if AMPLITUDE isn't 0.  */
static double
noised(double x, const struct df_noise *noise, double sample, double token,
       size_t f)
{
    float v = df_f32_from_bf16(df_bf16_from_f32((float) x));

    if (noise->amplitude == 0)
        return (double) v;
    uint64_t s = (uint64_t) sample;
    struct df_philox p =
        df_philox(noise->key, (uint32_t) (f / 4), (uint32_t) token,
                  (uint32_t) s, (uint32_t) (s >> 32));
    volatile float add = noise->amplitude * (2 * df_uniform(p.v[f % 4]) - 1);
    volatile float sum = v + add;

    return (double) df_f32_from_bf16(df_bf16_from_f32(sum));
}

static void
pack_hidden(const struct df_pack_hidden_args *a, double **b)
{
    size_t ldo = distance(a->ldo, a->H), ldx = distance(a->ldx, a->H);
    bool noise = a->noise.amplitude > 0;

    for (size_t t = 0; t < a->T; t++)
        for (size_t c = 0; c < a->H; c++)
            b[0][t * ldo + c] =
                noised(b[1][t * ldx + c], &a->noise, noise ? b[2][t] : 0,
                       noise ? b[3][t] : 0, a->feature + c);
    for (size_t t = 0; a->check && t < a->T; t++)
        b[noise ? 4 : 2][t * distance(a->ldcheck, 1)] =
            check_of(b[0] + t * ldo, a->H);
}

static void
unpack_hidden(const struct df_unpack_hidden_args *a, double **b)
{
    size_t H = a->H, K = a->K;
    bool noise = a->noise.amplitude > 0;

    for (size_t t = 0; t < a->T; t++)
        for (size_t f = 0; f < K * H; f++)
            b[0][t * K * H + f] =
                noised(b[1 + f / H][t * H + f % H], &a->noise,
                       noise ? b[1 + K][t] : 0, noise ? b[2 + K][t] : 0, f);
}

static void
gather_rows(const struct df_gather_rows_args *a, double **b)
{
    for (size_t i = 0; i < a->R * a->C; i++)
        b[0][i / a->C * distance(a->ldy, a->C) + i % a->C] =
            b[1][(size_t) b[2][i / a->C] * a->C + i % a->C];
}

static void
put_rows(const struct df_put_rows_args *a, double **b)
{
    for (size_t i = 0; i < a->R * a->C; i++)
        if (b[2][i / a->C] >= 0)
            b[0][(size_t) b[2][i / a->C] * distance(a->ldy, a->C) + i % a->C] =
                b[1][i / a->C * distance(a->ldx, a->C) + i % a->C];
}

static void
scatter_rows(const struct df_scatter_rows_args *a, double **b)
{
    for (size_t i = 0; i < a->T * a->C; i++)
        b[0][i] = 0;
    for (size_t i = 0; i < a->R * a->C; i++)
        b[0][(size_t) b[2][i / a->C] * a->C + i % a->C] =
            b[3][i / a->C] * b[1][i];
}

static void
add(const struct df_add_args *a, double **b)
{
    for (size_t i = 0; i < a->N; i++)
        b[0][i] = (double) ((float) b[0][i] + (float) b[1][i]);
}

static void
sum_squares(const struct df_sum_squares_args *a, double **b)
{
    b[0][0] = 0;
    for (size_t i = 0; i < a->N; i++)
        b[0][0] += b[1][i] * b[1][i];
}

static void
clip(const struct df_clip_args *a, double **b)
{
    double norm = a->scale * sqrt(b[1][0]);

    b[0][0] = norm;
    b[0][1] = norm + 1e-6 > a->max_norm
                  ? a->scale * a->max_norm / (norm + 1e-6)
                  : a->scale;
    b[0][2] += 1;
    b[0][4] = 0;
}

static void
adamw(const struct df_adamw_args *a, double **b)
{
    double lr = (double) a->lr, b1 = (double) a->beta1, t = b[4][2];
    double b2 = (double) a->beta2, factor = b[4][1];

    for (size_t i = 0; i < a->N && factor != 0; i++) {
        double g = factor * b[3][i], *w = b[0], *m = b[1], *v = b[2];

        w[i] -= lr * (double) a->weight_decay * w[i];
        m[i] = b1 * m[i] + (1 - b1) * g;
        v[i] = b2 * v[i] + (1 - b2) * g * g;
        w[i] -= lr / (1 - pow(b1, t)) * m[i]
                / (sqrt(v[i]) / sqrt(1 - pow(b2, t)) + (double) a->eps);
        if (a->w_act)
            b[5][i] = w[i];
    }
}

bool
op_reference(const struct oprun *r, double **bufs)
{
    switch (r->c->op) {
#define CASE(op)               \
    case DF_OP_##op:           \
        op(&r->args.op, bufs); \
        return true
        CASE(embed);
        CASE(rmsnorm);
        CASE(head_norm_rope);
        CASE(linear);
        CASE(linear_dx);
        CASE(linear_dw);
        CASE(swiglu);
        CASE(pack_hidden);
        CASE(unpack_hidden);
        CASE(gather_rows);
        CASE(put_rows);
        CASE(scatter_rows);
        CASE(add);
        CASE(sum_squares);
        CASE(clip);
        CASE(adamw);
#undef CASE
    default:
        return false;
    }
}

/* Tokens drawn from logits, and drafted ones verified.  */

#include <config.h>

#include <math.h>

#include "base/draw_internal.h"
#include "cpu/cpu_internal.h"
#include "cpu/simd_internal.h"

/* The greatest of Z[0..V), the least on ties.  */
static int32_t
greatest(const float *z, size_t V)
{
    size_t best = 0;

    for (size_t v = 1; v < V; v++)
        if (z[v] > z[best])
            best = v;
    return (int32_t) best;
}

/* log sum_v e^(z[v] * SCALE).  */
static float
log_sum(const float *z, size_t V, float scale)
{
    float max = cpu_max_row(z, V) * scale;
    double sum = 0;

    for (size_t v = 0; v < V; v++)
        sum += (double) df_expf(z[v] * scale - max);
    return max + (float) log(sum);
}

/* Drawn from the softmax of Z; of max(p - q, 0), Q being the logits that q
   is the softmax of, unless that is NULL.  Where p and q differ by rounding
   alone, p itself is drawn from.  */
static int32_t
draw_token(const struct df_draw *draw, uint32_t purpose, const float *z,
           const float *q, size_t V, uint64_t request, int32_t place)
{
    float scale = 1 / draw->temperature, g[4];
    float sum_p = q ? log_sum(z, V, scale) : 0;
    float sum_q = q ? log_sum(q, V, scale) : 0;
    float most = -INFINITY, most_left = -INFINITY;
    size_t best = 0, best_left = V;

    for (size_t v = 0; v < V; v++) {
        if (v % 4 == 0)
            df_draw_noise(g, draw, purpose, v, request, place);
        float score = z[v] * scale + g[v % 4];

        if (score > most) {
            most = score;
            best = v;
        }
        if (!q)
            continue;
        float left =
            df_expf(z[v] * scale - sum_p) - df_expf(q[v] * scale - sum_q);

        if (left > 0 && logf(left) + g[v % 4] > most_left) {
            most_left = logf(left) + g[v % 4];
            best_left = v;
        }
    }
    return (int32_t) (best_left < V ? best_left : best);
}

static df_status
pick_task(void *arg, size_t r)
{
    const struct df_pick_args *a = arg;
    const float *z = a->z + r * df_ld(a->ldz, a->V);

    if (a->keep > 0 && r % a->keep == 0)
        return DF_OK;
    if (a->draw.temperature == 0)
        a->token[r] = greatest(z, a->V);
    else if (a->drafter)
        a->token[r] = draw_token(&a->draw, DF_DRAW_DRAFT, z, NULL, a->V,
                                 a->draw.request[r], a->draw.place[r]);
    else
        a->token[r] = draw_token(&a->draw, DF_DRAW_TARGET, z, NULL, a->V,
                                 a->draw.request[r], a->draw.place[r] + 1);
    return DF_OK;
}

df_status
cpu_pick(const struct df_pick_args *a)
{
    return df_pool_run(pick_task, (void *) a, a->R);
}

/* Whether the token of row R, at least the second of its block, stays.  */
static bool
stays(const struct df_verify_args *a, size_t r)
{
    const struct df_draw *draw = &a->draw;
    size_t ld = df_ld(a->ldz, a->V);
    const float *z = a->z + (r - 1) * ld;
    size_t token = (size_t) a->ids[r];
    struct df_philox p;
    float scale, ratio;

    if (draw->temperature == 0)
        return (size_t) greatest(z, a->V) == token;
    const float *q = a->draft + r * ld;

    p = df_draw_numbers(draw, DF_DRAW_ACCEPT, 0, draw->request[r],
                        draw->place[r]);
    scale = 1 / draw->temperature;
    ratio = z[token] * scale - log_sum(z, a->V, scale)
            - (q[token] * scale - log_sum(q, a->V, scale));
    return df_uniform(p.v[0]) < df_expf(ratio);
}

static df_status
verify_task(void *arg, size_t n)
{
    const struct df_verify_args *a = arg;
    size_t b = a->b, first = n * b, row, kept = 0;
    size_t ld = df_ld(a->ldz, a->V);
    int32_t *result = a->result + n * (b + 1);

    if (a->forced > 0)
        kept = a->forced - 1;
    else
        while (kept + 1 < b && stays(a, first + kept + 1))
            kept++;
    for (size_t j = 1; j <= kept; j++)
        result[j] = a->ids[first + j];
    row = first + kept;
    result[0] = (int32_t) kept + 1;
    if (a->draw.temperature == 0)
        result[kept + 1] = greatest(a->z + row * ld, a->V);
    else
        result[kept + 1] = draw_token(
            &a->draw, DF_DRAW_TARGET, a->z + row * ld,
            kept + 1 < b && a->forced == 0 ? a->draft + (row + 1) * ld : NULL,
            a->V, a->draw.request[row], a->draw.place[row] + 1);
    return DF_OK;
}

df_status
cpu_verify(const struct df_verify_args *a)
{
    return df_pool_run(verify_task, (void *) a, a->B);
}

#include <config.h>

#include <sched.h>

#include "cpu/simd_internal.h"
#include "tap/tap.h"
#include "unit/cpu/draft.h"

static const struct draft_case tests[] = {
    {"one token",       {1},               1,  2, 1, 1, 32, 0,         0},
    {"odd lengths",     {1, 2, 63, 64, 9}, 3,  2, 1, 1, 16, 0,         0},
    {"two heads a key", {65, 33},          7,  4, 4, 2, 16, 0,         3},
    {"four heads",      {65, 20, 1},       5,  8, 4, 1, 80, 0,         0},
    {"chunks",          {65, 3},           24, 8, 2, 1, 16, 0,         0},
    {"window 1",        {65, 20, 5},       7,  4, 4, 2, 16, 1,         0},
    {"window 3, b 8",   {65, 2, 63},       5,  8, 2, 1, 16, 3,         5},
    {"window 16",       {65, 20, 1},       20, 4, 2, 1, 16, 16,        0},
    {"window 50",       {65, 60, 1},       20, 8, 2, 1, 16, 50,        0},
    {"huge window",     {65, 60, 1},       5,  8, 4, 2, 16, INT32_MAX, 0},
};
enum {
    N_TESTS = sizeof tests / sizeof *tests
};

/* Outputs of both passes.  */
struct grads {
    float *out, *lse, *delta, *dq, *dk, *dv, *dk_ctx, *dv_ctx;
};

static struct grads
new_grads(const struct draft *x)
{
    return (struct grads){guarded(x->n_q),   guarded(x->n_lse),
                          guarded(x->n_lse), guarded(x->n_q),
                          guarded(x->n_k),   guarded(x->n_k),
                          guarded(x->n_ctx), guarded(x->n_ctx)};
}

static bool
free_grads(const struct draft *x, struct grads *g)
{
    int whole = unguard(g->out, x->n_q) + unguard(g->lse, x->n_lse)
                + unguard(g->delta, x->n_lse) + unguard(g->dq, x->n_q)
                + unguard(g->dk, x->n_k) + unguard(g->dv, x->n_k)
                + unguard(g->dk_ctx, x->n_ctx) + unguard(g->dv_ctx, x->n_ctx);

    return whole == 8;
}

static bool
forward(const struct draft *x, struct grads *g)
{
    struct df_draft_attention_args a = draft_args(x, g->out, g->lse);

    return cpu_draft_attention(&a) == DF_OK;
}

static bool
backward(const struct draft *x, struct grads *g)
{
    struct df_draft_attention_bwd_args a = {.dq = g->dq,
                                            .dk_ctx = g->dk_ctx,
                                            .dv_ctx = g->dv_ctx,
                                            .dk = g->dk,
                                            .dv = g->dv,
                                            .delta = g->delta,
                                            .dout = x->dout,
                                            .out = g->out,
                                            .lse = g->lse,
                                            .q = x->q,
                                            .k_ctx = x->k_ctx,
                                            .v_ctx = x->v_ctx,
                                            .k = x->k,
                                            .v = x->v,
                                            .map = x->map,
                                            .A = x->A,
                                            .G = x->G,
                                            .D = x->D,
                                            .lddq = x->ldq,
                                            .lddk_ctx = x->ldk,
                                            .lddv_ctx = x->ldk,
                                            .lddk = x->ldk,
                                            .lddv = x->ldk,
                                            .lddo = x->ldq,
                                            .ldo = x->ldq,
                                            .ldq = x->ldq,
                                            .ldk_ctx = x->ldk,
                                            .ldv_ctx = x->ldk,
                                            .ldk = x->ldk,
                                            .ldv = x->ldk,
                                            .window = x->window,
                                            .scale = x->scale};

    return cpu_draft_attention_bwd(&a) == DF_OK;
}

/* What the gradients are of: the sum of dout * out, in double.  */
static double
loss(const struct draft *x, const struct draft_double *y)
{
    double sum = 0, out[128];

    for (size_t r = 0; r < x->rows; r++)
        for (size_t h = 0; h < x->A; h++) {
            draft_reference(x, y, r, h, out);
            for (size_t d = 0; d < x->D; d++)
                sum += out[d] * (double) x->dout[r * x->ldq + h * x->D + d];
        }
    return sum;
}

/* One tensor: how far GRAD is from finite differences at some SAMPLES of its
   ROWS of WIDTH in LD, over the greatest of them.  */
static double
grad_error(const struct draft *x, const struct draft_double *y, double *at,
           const float *grad, size_t rows, size_t width, size_t ld)
{
    enum {
        SAMPLES = 24
    };
    const double h = 1e-4;
    double want[SAMPLES];
    float seen[SAMPLES];

    for (size_t i = 0; i < SAMPLES; i++) {
        size_t e = (i * 7919 + 3) % (rows * width);
        size_t n = e / width * ld + e % width;
        double keep = at[n], up;

        at[n] = keep + h;
        up = loss(x, y);
        at[n] = keep - h;
        want[i] = (up - loss(x, y)) / (2 * h);
        at[n] = keep;
        seen[i] = grad[n];
    }
    return error_of(seen, want, SAMPLES);
}

static void
test_gradients(const struct draft_case *t)
{
    struct draft x;

    draft_set_up(&x, t);
    struct grads g = new_grads(&x);
    struct draft_double y = draft_widen(&x);
    size_t wide = x.A * x.D, narrow = x.G * x.D, T = x.map.T;
    double e;

    ok(forward(&x, &g) && backward(&x, &g), "%s: runs", t->label);
    e = grad_error(&x, &y, y.q, g.dq, x.rows, wide, x.ldq);
    ok(e < 2e-5, "%s: dq (%.1e)", t->label, e);
    e = grad_error(&x, &y, y.k, g.dk, x.rows, narrow, x.ldk);
    ok(e < 2e-5, "%s: dk (%.1e)", t->label, e);
    e = grad_error(&x, &y, y.v, g.dv, x.rows, narrow, x.ldk);
    ok(e < 2e-5, "%s: dv (%.1e)", t->label, e);
    e = grad_error(&x, &y, y.k_ctx, g.dk_ctx, T, narrow, x.ldk);
    ok(e < 2e-5, "%s: dk of the context (%.1e)", t->label, e);
    e = grad_error(&x, &y, y.v_ctx, g.dv_ctx, T, narrow, x.ldk);
    ok(e < 2e-5, "%s: dv of the context (%.1e)", t->label, e);
    ok(free_grads(&x, &g), "%s: nothing outside", t->label);
    draft_free_double(&y);
    draft_tear_down(&x);
}

static bool
row_is_zero(const struct draft *x, const float *grad, size_t s)
{
    for (size_t i = 0; i < x->G * x->D; i++)
        if (grad[s * x->ldk + i] != 0)
            return false;
    return true;
}

/* Whether any slot sees context row S.  */
static bool
anybody_sees(const struct draft *x, size_t s)
{
    for (size_t r = 0; r < x->rows; r++)
        if (draft_sees(x, r / x->map.b, r % x->map.b, s))
            return true;
    return false;
}

static void
test_unseen(const struct draft_case *t)
{
    struct draft x;
    bool right;

    draft_set_up(&x, t);
    struct grads g = new_grads(&x);

    right = forward(&x, &g) && backward(&x, &g);
    for (size_t s = 0; s < x.map.T; s++)
        if (anybody_sees(&x, s))
            right = right && !row_is_zero(&x, g.dv_ctx, s);
        else
            right = right && row_is_zero(&x, g.dk_ctx, s)
                    && row_is_zero(&x, g.dv_ctx, s);
    ok(right, "%s: exactly the rows that nobody sees get 0", t->label);
    free_grads(&x, &g);
    draft_tear_down(&x);
}

/* Of all that isn't slot ROW's, make NaN what it doesn't see; of the rest,
   other queries and their gradients too.  */
static void
poison(struct draft *x, size_t row)
{
    size_t T = x->map.T, b = x->map.b;

    for (size_t i = 0; i < T + x->rows; i++)
        if (!draft_sees(x, row / b, row % b, i)) {
            float *k = i < T ? x->k_ctx : x->k, *v = i < T ? x->v_ctx : x->v;
            size_t at = (i < T ? i : i - T) * x->ldk;

            fill(k + at, x->ldk, NAN);
            fill(v + at, x->ldk, NAN);
        }
    for (size_t r = 0; r < x->rows; r++)
        if (r != row) {
            fill(x->q + r * x->ldq, x->ldq, NAN);
            fill(x->dout + r * x->ldq, x->ldq, NAN);
        }
}

static void
test_leaks(const struct draft_case *t)
{
    struct draft x;
    bool same;

    draft_set_up(&x, t);
    struct grads g = new_grads(&x), g2 = new_grads(&x);

    same = forward(&x, &g) && backward(&x, &g);
    for (size_t row = 0; row < x.rows; row += 1 + x.rows / 20) {
        struct draft y = x;

        y.q = copy_floats(x.q, x.n_q);
        y.dout = copy_floats(x.dout, x.n_q);
        y.k = copy_floats(x.k, x.n_k);
        y.v = copy_floats(x.v, x.n_k);
        y.k_ctx = copy_floats(x.k_ctx, x.n_ctx);
        y.v_ctx = copy_floats(x.v_ctx, x.n_ctx);
        poison(&y, row);
        same =
            same && forward(&y, &g2) && backward(&y, &g2)
            && same_bits(g.dq + row * x.ldq, g2.dq + row * x.ldq, x.A * x.D);
        for (size_t s = 0; s < x.map.T; s++)
            if (!draft_sees(&x, row / t->b, row % t->b, s)
                && !anybody_sees(&x, s))
                same = same && row_is_zero(&x, g2.dk_ctx, s);
        draft_tear_down(&y);
    }
    ok(same, "%s: no NaN that a slot doesn't see reaches its dq", t->label);
    free_grads(&x, &g);
    free_grads(&x, &g2);
    draft_tear_down(&x);
}

/* NaN in what only the later slots see, and in their queries, stays out of
   the gradients of rows that they don't see.  */
static void
test_causal(void)
{
    const struct draft_case t = {"", {40}, 3, 8, 2, 1, 16, 12, 0};
    struct draft x;
    bool clean;

    draft_set_up(&x, &t);
    struct grads g = new_grads(&x);

    for (size_t n = 0; n < 3; n++)
        x.anchor[n] = 10 + 10 * (int32_t) n;
    fill(x.q + 23 * x.ldq, x.ldq, NAN); /* slot 7 of the last block */
    clean = forward(&x, &g) && backward(&x, &g);
    for (size_t s = 0; s < 40; s++)
        for (size_t i = 0; i < 16; i++)
            clean = clean
                    && isnan(g.dv_ctx[s * 16 + i]) == draft_sees(&x, 2, 7, s);
    ok(clean, "a NaN query spoils the rows that it sees, no others");
    free_grads(&x, &g);
    draft_tear_down(&x);
}

static void
test_cores(void)
{
    struct draft x;
    cpu_set_t all, one;
    bool same;

    draft_set_up(&x, &tests[4]);
    struct grads g = new_grads(&x), g2 = new_grads(&x);

    same = forward(&x, &g) && backward(&x, &g);
    df_pool_release();
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (int i = 0; CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    sched_setaffinity(0, sizeof one, &one);
    same = df_pool_acquire() == DF_OK && forward(&x, &g2) && backward(&x, &g2)
           && same && same_bits(g.out, g2.out, x.n_q)
           && same_bits(g.dq, g2.dq, x.n_q) && same_bits(g.dk, g2.dk, x.n_k)
           && same_bits(g.dk_ctx, g2.dk_ctx, x.n_ctx)
           && same_bits(g.dv_ctx, g2.dv_ctx, x.n_ctx);
    df_pool_release();
    sched_setaffinity(0, sizeof all, &all);
    ok(same && df_pool_acquire() == DF_OK,
       "one core gives the bits of all cores");
    free_grads(&x, &g);
    free_grads(&x, &g2);
    draft_tear_down(&x);
}

/* A sequence without blocks still gets its zeros.  */
static void
test_none(void)
{
    const struct draft_case t = {
        "", {5, 1},
         0, 4, 2, 1, 16, 0, 0
    };
    struct draft x;
    bool zero;

    draft_set_up(&x, &t);
    struct grads g = new_grads(&x);

    zero = backward(&x, &g);
    for (size_t s = 0; s < x.map.T; s++)
        zero = zero && row_is_zero(&x, g.dk_ctx, s)
               && row_is_zero(&x, g.dv_ctx, s);
    ok(zero, "no blocks: the context's gradients are 0");
    free_grads(&x, &g);
    draft_tear_down(&x);
}

int
main(void)
{
    plan(9 * N_TESTS + 3);
    openblas_set_num_threads(1);
    if (df_pool_acquire() != DF_OK)
        return 1;
    for (int i = 0; i < N_TESTS; i++)
        test_gradients(&tests[i]);
    for (int i = 0; i < N_TESTS; i++) {
        test_unseen(&tests[i]);
        test_leaks(&tests[i]);
    }
    test_causal();
    test_cores();
    test_none();
    df_pool_release();
    return 0;
}

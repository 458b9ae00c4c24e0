#include <config.h>

#include <sched.h>

#include "cpu/simd_internal.h"
#include "tap/tap.h"
#include "unit/cpu/draft.h"

static const struct draft_case tests[] = {
    {"one token",       {1},                   1,  2,  1, 1, 32, 0,         0},
    {"odd lengths",     {1, 2, 63, 64, 65, 9}, 3,  2,  1, 1, 32, 0,         0},
    {"two heads a key", {130, 65},             11, 4,  4, 2, 64, 0,         3},
    {"four heads",      {65, 130, 1},          9,  8,  4, 1, 80, 0,         0},
    {"chunks",          {130, 3},              40, 8,  2, 1, 32, 0,         0},
    {"wide blocks",     {64, 130, 5},          6,  16, 2, 2, 64, 0,         0},
    {"window 1",        {65, 130, 5},          7,  4,  4, 2, 32, 1,         0},
    {"window 3, b 8",   {130, 2, 63},          9,  8,  2, 1, 32, 3,         5},
    {"window 16",       {130, 65, 1},          20, 4,  2, 1, 64, 16,        0},
    {"window 100",      {130, 65, 1},          20, 8,  4, 2, 32, 100,       0},
    {"huge window",     {130, 65, 1},          7,  8,  4, 2, 32, INT32_MAX, 0},
};
enum {
    N_TESTS = sizeof tests / sizeof *tests
};

static void
test_values(const struct draft_case *t)
{
    struct draft x;
    double worst = 0, worst_lse = 0, want[128], e;

    draft_set_up(&x, t);
    float *out = guarded(x.n_q), *lse = guarded(x.n_lse);
    struct df_draft_attention_args a = draft_args(&x, out, lse);
    struct draft_double y = draft_widen(&x);
    bool padding = true;

    ok(cpu_draft_attention(&a) == DF_OK, "%s: runs", t->label);
    for (size_t r = 0; r < x.rows; r++) {
        for (size_t h = 0; h < x.A; h++) {
            double l = draft_reference(&x, &y, r, h, want);

            e = error_of(out + r * x.ldq + h * x.D, want, x.D);
            worst = e > worst ? e : worst;
            e = fabs(l - (double) lse[r * x.A + h]) / (1 + fabs(l));
            worst_lse = e < worst_lse ? worst_lse : e;
        }
        for (size_t i = x.A * x.D; i < x.ldq; i++)
            padding = padding && isnan(out[r * x.ldq + i]);
    }
    ok(worst < 1e-5, "%s: out within 1e-5 (%.1e)", t->label, worst);
    ok(worst_lse < 1e-6, "%s: lse within 1e-6 (%.1e)", t->label, worst_lse);
    ok(padding, "%s: nothing between the rows", t->label);
    e = unguard(out, x.n_q);
    ok(unguard(lse, x.n_lse) && e > 0, "%s: nothing outside", t->label);
    draft_free_double(&y);
    draft_tear_down(&x);
}

/* NaN for all that block N doesn't see; in its own block, what slot J does
   not see.  */
static void
poison(struct draft *x, size_t n, size_t j)
{
    size_t T = x->map.T, b = x->map.b;

    for (size_t i = 0; i < T + x->rows; i++) {
        float *k = i < T ? x->k_ctx + i * x->ldk : x->k + (i - T) * x->ldk;
        float *v = i < T ? x->v_ctx + i * x->ldk : x->v + (i - T) * x->ldk;

        if (draft_sees(x, n, j, i))
            continue;
        fill(k, x->ldk, NAN);
        fill(v, x->ldk, NAN);
    }
    for (size_t r = 0; r < x->rows; r++)
        if (r != n * b + j)
            fill(x->q + r * x->ldq, x->ldq, NAN);
}

static void
test_leaks(const struct draft_case *t)
{
    struct draft x;
    bool same = true;

    draft_set_up(&x, t);
    float *out = guarded(x.n_q), *lse = guarded(x.n_lse);
    float *out2 = guarded(x.n_q), *lse2 = guarded(x.n_lse);
    struct df_draft_attention_args a = draft_args(&x, out, lse);

    same = cpu_draft_attention(&a) == DF_OK;
    for (size_t row = 0; row < x.rows; row += 1 + x.rows / 40) {
        struct draft y = x;

        y.q = copy_floats(x.q, x.n_q);
        y.dout = copy_floats(x.dout, x.n_q);
        y.k = copy_floats(x.k, x.n_k);
        y.v = copy_floats(x.v, x.n_k);
        y.k_ctx = copy_floats(x.k_ctx, x.n_ctx);
        y.v_ctx = copy_floats(x.v_ctx, x.n_ctx);
        poison(&y, row / t->b, row % t->b);
        a = draft_args(&y, out2, lse2);
        same = same && cpu_draft_attention(&a) == DF_OK
               && same_bits(out + row * x.ldq, out2 + row * x.ldq, x.A * x.D)
               && same_bits(lse + row * x.A, lse2 + row * x.A, x.A);
        draft_tear_down(&y);
    }
    ok(same, "%s: no NaN that a slot doesn't see changes it", t->label);
    unguard(out, x.n_q);
    unguard(out2, x.n_q);
    unguard(lse, x.n_lse);
    unguard(lse2, x.n_lse);
    draft_tear_down(&x);
}

/* T = 12, b = 4, p = 6, W = 4: values are unit vectors, so that the output
   shows what was seen.  */
static void
test_example(void)
{
    static const char *const seen[4] = {"...###......#...", "....##......##..",
                                        ".....#......###.",
                                        "............####"};
    const struct draft_case t = {"example", {12}, 1, 4, 1, 1, 16, 4, 0};
    struct draft x;
    bool right = true;

    draft_set_up(&x, &t);
    x.anchor[0] = 6;
    float *out = guarded(x.n_q);
    struct df_draft_attention_args a = draft_args(&x, out, NULL);

    for (size_t i = 0; i < 16; i++) {
        float *v = i < 12 ? x.v_ctx + i * 16 : x.v + (i - 12) * 16;

        fill(v, 16, 0);
        v[i] = 1;
    }
    right = cpu_draft_attention(&a) == DF_OK;
    for (size_t j = 0; j < 4; j++)
        for (size_t i = 0; i < 16; i++)
            right = right && (out[j * 16 + i] > 0) == (seen[j][i] == '#');
    ok(right, "the example's masks");
    ok(unguard(out, x.n_q), "lse may be NULL");
    draft_tear_down(&x);
}

int
main(void)
{
    struct draft_case nothing = {
        "none", {5, 1},
         0, 4, 2, 1, 32, 0, 0
    };
    struct draft x;

    plan(6 * N_TESTS + 3);
    openblas_set_num_threads(1);
    if (df_pool_acquire() != DF_OK)
        return 1;
    for (int i = 0; i < N_TESTS; i++)
        test_values(&tests[i]);
    for (int i = 0; i < N_TESTS; i++)
        test_leaks(&tests[i]);
    test_example();
    draft_set_up(&x, &nothing);
    struct df_draft_attention_args a = draft_args(&x, NULL, NULL);
    ok(cpu_draft_attention(&a) == DF_OK, "no blocks: nothing to do");
    draft_tear_down(&x);
    df_pool_release();
    return 0;
}

#include <config.h>

#include <sched.h>

#include "cpu/cpu_internal.h"
#include "cpu/simd_internal.h"
#include "tap/tap.h"
#include "unit/cpu/buffers.h"

enum {
    MAX_SEQS = 11
};

struct test {
    const char *label;
    int32_t len[MAX_SEQS + 1]; /* up to the first 0 */
    size_t A, G, D;
    int32_t window;
    size_t pad; /* of the rows of all four matrices */
};

static const struct test tests[] = {
    {"one token",        {1},                     1, 1, 32, 0,         0},
    {"two tokens",       {2},                     2, 1, 64, 0,         3},
    {"odd lengths",      {1, 2, 63, 64, 65, 130}, 4, 2, 64, 0,         0},
    {"D = 80, strides",  {130, 1, 65},            4, 1, 80, 0,         5},
    {"window 1",         {130, 3},                2, 2, 32, 1,         0},
    {"window 3",         {65, 2, 130},            2, 1, 64, 3,         7},
    {"window 16",        {200, 63},               4, 2, 32, 16,        0},
    {"window 64",        {64, 200},               2, 1, 32, 64,        0},
    {"window 65",        {200, 65},               2, 1, 32, 65,        0},
    {"window 130",       {300, 65},               2, 1, 32, 130,       0},
    {"huge window",      {130, 64},               2, 1, 32, INT32_MAX, 0},
    {"eleven sequences",
     {9, 64, 5, 1, 70, 2, 33, 130, 8, 65, 17},
     2,                                              1,
     64,                                                    0,
     0                                                                  },
};
enum {
    N_TESTS = sizeof tests / sizeof *tests
};

struct batch {
    struct df_attention_args args;
    int32_t cu[MAX_SEQS + 1];
    float *q, *k, *v, *out;
};

static void
set_up(struct batch *x, const struct test *t)
{
    struct df_attention_args *a = &x->args;

    *x = (struct batch){
        .args = {.A = t->A,
                 .G = t->G,
                 .D = t->D,
                 .window = t->window,
                 .scale = 0.3f}
    };
    for (; t->len[a->B]; a->B++) {
        size_t len = (size_t) t->len[a->B];

        x->cu[a->B + 1] = x->cu[a->B] + t->len[a->B];
        a->max_seqlen = len > a->max_seqlen ? len : a->max_seqlen;
    }
    a->T = (size_t) x->cu[a->B];
    a->cu_seqlens = x->cu;
    a->ldq = t->A * t->D + t->pad;
    a->ldk = a->ldv = t->G * t->D + t->pad;
    a->ldo = t->pad ? a->ldq : 0;
    a->q = x->q = random_floats(a->T * a->ldq);
    a->k = x->k = random_floats(a->T * a->ldk);
    a->v = x->v = random_floats(a->T * a->ldv);
    a->out = x->out = guarded(a->T * a->ldq);
}

static bool
tear_down(struct batch *x)
{
    free(x->q);
    free(x->k);
    free(x->v);
    return unguard(x->out, x->args.T * x->args.ldq);
}

/* Row T of sequence SEQ and head H, plainly, into OUT[D].  */
static void
reference_row(const struct batch *x, int32_t begin, int32_t t, size_t h,
              double *out)
{
    const struct df_attention_args *a = &x->args;
    size_t D = a->D, g = h / (a->A / a->G);
    const float *q = x->q + (size_t) t * a->ldq + h * D;
    double sum = 0;

    memset(out, 0, D * sizeof *out);
    for (int32_t s = begin; s <= t; s++) {
        const float *k = x->k + (size_t) s * a->ldk + g * D;
        const float *v = x->v + (size_t) s * a->ldv + g * D;
        double dot = 0, p;

        if (a->window > 0 && (int64_t) s <= (int64_t) t - a->window)
            continue;
        for (size_t d = 0; d < D; d++)
            dot += (double) q[d] * (double) k[d];
        p = exp(dot * (double) a->scale);
        sum += p;
        for (size_t d = 0; d < D; d++)
            out[d] += p * (double) v[d];
    }
    for (size_t d = 0; d < D; d++)
        out[d] /= sum;
}

static double
worst_error(const struct batch *x)
{
    const struct df_attention_args *a = &x->args;
    double worst = 0, want[128], e;

    for (size_t seq = 0; seq < a->B; seq++)
        for (int32_t t = x->cu[seq]; t < x->cu[seq + 1]; t++)
            for (size_t h = 0; h < a->A; h++) {
                reference_row(x, x->cu[seq], t, h, want);
                e = error_of(x->out + (size_t) t * a->ldq + h * a->D, want,
                             a->D);
                worst = e > worst ? e : worst;
            }
    return worst;
}

static bool
padding_untouched(const struct batch *x)
{
    const struct df_attention_args *a = &x->args;

    for (size_t t = 0; t < a->T; t++)
        for (size_t i = a->A * a->D; i < a->ldq; i++)
            if (!isnan(x->out[t * a->ldq + i]))
                return false;
    return true;
}

static void
test_values(const struct test *t)
{
    struct batch x;
    double e;

    set_up(&x, t);
    ok(cpu_attention(&x.args) == DF_OK, "%s: runs", t->label);
    e = worst_error(&x);
    ok(e < 1e-5, "%s: within 1e-5 of the reference (%.1e)", t->label, e);
    ok(padding_untouched(&x), "%s: nothing between the rows", t->label);
    ok(tear_down(&x), "%s: nothing outside", t->label);
}

/* The first LEN rows of sequence SEQ of X alone have X's bits.  */
static bool
alone_same(const struct batch *x, size_t seq, int32_t len)
{
    struct df_attention_args a = x->args;
    int32_t cu[2] = {0, len};
    size_t row = (size_t) x->cu[seq], n = (size_t) len * a.ldq;
    float *out = guarded(n);
    bool same;

    a.q = x->q + row * a.ldq;
    a.k = x->k + row * a.ldk;
    a.v = x->v + row * a.ldv;
    a.out = out;
    a.cu_seqlens = cu;
    a.B = 1;
    a.T = a.max_seqlen = (size_t) len;
    same =
        cpu_attention(&a) == DF_OK && same_bits(out, x->out + row * a.ldq, n);
    return unguard(out, n) && same;
}

static void
test_batching(const struct test *t)
{
    struct batch x;
    bool alone = true, prefix = true;

    set_up(&x, t);
    alone = cpu_attention(&x.args) == DF_OK;
    for (size_t s = 0; s < x.args.B; s++) {
        alone = alone && alone_same(&x, s, t->len[s]);
        for (int32_t n = 1; n < t->len[s]; n += 1 + n / 3)
            prefix = prefix && alone_same(&x, s, n);
    }
    ok(alone, "%s: a sequence alone has the bits it has in the batch",
       t->label);
    ok(prefix, "%s: so has every prefix", t->label);
    tear_down(&x);
}

/* What row T can't see is NaN; its bits stay.  */
static void
test_leaks(const struct test *t)
{
    struct batch x;
    struct df_attention_args *a = &x.args;
    bool same;

    set_up(&x, t);
    same = cpu_attention(a) == DF_OK;
    for (size_t s = 0; s < a->B; s++) {
        int32_t row = x.cu[s] + t->len[s] / 2, begin = x.cu[s];
        float *before = copy_floats(x.out, a->T * a->ldq);
        float *k = copy_floats(x.k, a->T * a->ldk);
        float *v = copy_floats(x.v, a->T * a->ldv);

        if (a->window > 0 && a->window < row - begin + 1)
            begin = row - a->window + 1;
        for (int32_t i = 0; i < x.cu[a->B]; i++)
            if (i < begin || i > row) {
                fill(x.k + (size_t) i * a->ldk, a->ldk, NAN);
                fill(x.v + (size_t) i * a->ldv, a->ldv, NAN);
            }
        same = same && cpu_attention(a) == DF_OK
               && same_bits(x.out + (size_t) row * a->ldq,
                            before + (size_t) row * a->ldq, a->A * a->D);
        memcpy(x.k, k, a->T * a->ldk * sizeof *k);
        memcpy(x.v, v, a->T * a->ldv * sizeof *v);
        memcpy(x.out, before, a->T * a->ldq * sizeof *before);
        free(before);
        free(k);
        free(v);
    }
    ok(same, "%s: no NaN that a row doesn't see changes it", t->label);
    tear_down(&x);
}

/* One core and all cores, the same bits.  */
static void
test_cores(const struct test *t)
{
    cpu_set_t all, one;
    struct batch x;
    size_t n;
    float *many;
    bool same;

    set_up(&x, t);
    n = x.args.T * x.args.ldq;
    same = cpu_attention(&x.args) == DF_OK;
    many = copy_floats(x.out, n);
    df_pool_release();
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (int i = 0; CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    sched_setaffinity(0, sizeof one, &one);
    same = df_pool_acquire() == DF_OK && cpu_attention(&x.args) == DF_OK
           && same && same_bits(many, x.out, n);
    df_pool_release();
    sched_setaffinity(0, sizeof all, &all);
    ok(same && df_pool_acquire() == DF_OK,
       "one core gives the bits of all cores");
    free(many);
    tear_down(&x);
}

int
main(void)
{
    struct df_attention_args none = {.A = 2, .G = 1, .D = 32, .scale = 1};

    plan(7 * N_TESTS + 2);
    openblas_set_num_threads(1);
    if (df_pool_acquire() != DF_OK)
        return 1;
    for (int i = 0; i < N_TESTS; i++)
        test_values(&tests[i]);
    for (int i = 0; i < N_TESTS; i++) {
        test_batching(&tests[i]);
        test_leaks(&tests[i]);
    }
    test_cores(&tests[N_TESTS - 1]);
    ok(cpu_attention(&none) == DF_OK, "no sequences: nothing to do");
    df_pool_release();
    return 0;
}

/* What a new drafter begins with.  On the CPU.  */
#include <config.h>

#include <string.h>

#include "base/normal_internal.h"
#include "dflash/philox.h"
#include "tap/tap.h"
#include "tiny/tiny.h"

static const struct df_param *params;
static size_t n_params;

/* Weights drawn by their place, norms of 1.  */
static bool
is_param(const float *w, const struct df_param *p, uint64_t seed)
{
    for (size_t i = p->offset; i < p->offset + p->count; i++) {
        float pair[2];

        df_normal_pair(df_key(seed, DF_KEY_WEIGHTS), i / 2, pair);
        if (w[i] != (p->spec.is_norm ? 1 : pair[i % 2])) {
            diag("%s: number %zu is %g", p->spec.name, i - p->offset,
                 (double) w[i]);
            return false;
        }
    }
    return true;
}

static bool
all_params(const float *w, uint64_t seed)
{
    bool all = true;

    for (size_t i = 0; i < n_params; i++)
        all = is_param(w, &params[i], seed) && all;
    return all;
}

/* Number I of the flat arrays, if no parameter has it, else 0.  */
static float
outside(const float *w, size_t i)
{
    for (size_t k = 0; k < n_params; k++)
        if (i >= params[k].offset && i - params[k].offset < params[k].count)
            return 0;
    return w[i];
}

static bool
is_zero(const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (x[i] != 0)
            return false;
    return true;
}

int
main(void)
{
    struct tiny_drafter d = {0};
    struct df_flat f;
    bool gaps = true;

    plan(6);
    tiny_drafter_make(&d);
    f = df_drafter_flat(d.drafter);
    params = df_drafter_params(d.drafter, &n_params);
    ok(all_params(f.w, 1), "weights are drawn by their place, norms 1");
    for (size_t i = 0; i < f.count; i++)
        gaps = gaps && outside(f.w, i) == 0;
    ok(gaps, "what lies between them is 0");
    for (size_t i = 0; i < f.count; i++)
        f.g[i] = f.m[i] = f.v[i] = 1;
    *f.state = (struct df_step_state){.applied = 3, .skipped = 2};
    CHECKED(df_drafter_init(d.drafter, 2));
    ok(all_params(f.w, 2), "another seed, other weights");
    ok(is_zero(f.g, f.count), "no gradient is left");
    ok(is_zero(f.m, f.count) && is_zero(f.v, f.count), "no moment is left");
    ok(f.state->applied == 0 && f.state->skipped == 0, "no step was taken");
    tiny_drafter_clear(&d);
    return 0;
}

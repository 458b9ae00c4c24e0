/* Hidden states to bf16 and back, with noise.  */

#include <config.h>

#include "cpu/cpu_internal.h"
#include "cpu/math_internal.h"
#include "dflash/check.h"
#include "dflash/philox.h"

/* How often rows are narrowed and checked: more than once is a mistake that
   tests must notice.  */
enum {
#ifdef DF_TEST_SLOWER
    NARROWED = 32,
    CHECKED = 2048
#else
    NARROWED = 1,
    CHECKED = 1
#endif
};

/* A run of one row's features.  */
struct features {
    size_t first, n;
};

/* Numbers of one counter at a time are made 4 together.  */
static struct df_philox
noise_of(const struct df_noise *noise, size_t row, size_t feature)
{
    uint64_t sample = noise->sample[row];

    return df_philox(noise->key, (uint32_t) (feature / 4),
                     (uint32_t) noise->token[row], (uint32_t) sample,
                     (uint32_t) (sample >> 32));
}

/* BF16 with noise: product and sum are each rounded to float, here and on
   every device, so that all make the same bits.  */
static uint16_t
add_noise(uint16_t value, float amplitude, uint32_t random)
{
    float noise = amplitude * (2.0f * df_uniform(random) - 1.0f);

    return df_bf16_from_f32(df_f32_from_bf16(value) + noise);
}

/* Add noise to the features F of row ROW, in place.  */
static void
noise_row(uint16_t *out, const struct df_noise *noise, size_t row,
          struct features f)
{
    for (size_t i = 0; i < f.n;) {
        struct df_philox random = noise_of(noise, row, f.first + i);

        for (size_t lane = (f.first + i) % 4; lane < 4 && i < f.n; lane++, i++)
            out[i] = add_noise(out[i], noise->amplitude, random.v[lane]);
    }
}

DF_CLONES static void
narrow_row(uint16_t *out, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = df_bf16_from_f32(x[i]);
}

DF_CLONES static void
widen_row(float *f, const uint16_t *src, size_t n)
{
    for (size_t i = 0; i < n; i++)
        f[i] = df_f32_from_bf16(src[i]);
}

static df_status
pack_task(void *arg, size_t task)
{
    const struct df_pack_hidden_args *a = arg;
    size_t ldo = df_ld(a->ldo, a->H), ldx = df_ld(a->ldx, a->H);
    size_t step = df_task_rows(a->H), end = df_task_end(task, a->T, step);
    struct features all = {a->feature, a->H};

    for (size_t t = task * step; t < end; t++) {
        for (int i = 0; i < NARROWED; i++)
            narrow_row(a->out + t * ldo, (const float *) a->x + t * ldx, a->H);
        if (a->noise.amplitude > 0)
            noise_row(a->out + t * ldo, &a->noise, t, all);
        for (int i = 0; a->check && i < CHECKED; i++)
            a->check[t * df_ld(a->ldcheck, 1)] =
                df_check_row(a->out + t * ldo, a->H);
    }
    return DF_OK;
}

df_status
cpu_pack_hidden(const struct df_pack_hidden_args *a)
{
    return df_pool_run(pack_task, (void *) a,
                       df_tasks(a->T, df_task_rows(a->H)));
}

/* Layer I of row T, through a few values at a time where there is noise.  */
static void
unpack_noisy(const struct df_unpack_hidden_args *a, size_t t, size_t i)
{
    enum {
        STEP = 256
    };
    const uint16_t *src = a->src[i] + t * a->H;
    float *f = (float *) a->f + (t * a->K + i) * a->H;
    uint16_t buf[STEP];

    for (size_t c = 0; c < a->H; c += STEP) {
        struct features part = {i * a->H + c,
                                a->H - c < STEP ? a->H - c : STEP};

        memcpy(buf, src + c, part.n * sizeof *buf);
        noise_row(buf, &a->noise, t, part);
        widen_row(f + c, buf, part.n);
    }
}

static df_status
unpack_task(void *arg, size_t task)
{
    const struct df_unpack_hidden_args *a = arg;
    size_t step = df_task_rows(a->K * a->H);
    size_t end = df_task_end(task, a->T, step);

    for (size_t t = task * step; t < end; t++)
        for (size_t i = 0; i < a->K; i++)
            if (a->noise.amplitude > 0)
                unpack_noisy(a, t, i);
            else
                widen_row((float *) a->f + (t * a->K + i) * a->H,
                          a->src[i] + t * a->H, a->H);
    return DF_OK;
}

df_status
cpu_unpack_hidden(const struct df_unpack_hidden_args *a)
{
    return df_pool_run(unpack_task, (void *) a,
                       df_tasks(a->T, df_task_rows(a->K * a->H)));
}

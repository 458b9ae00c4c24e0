/* Rotary frequencies and tables.

   Each helper below is one float32 operation of the reference, rounded
   once: computed in double and rounded to float, which gives the correctly
   rounded result and leaves the compiler nothing to contract.  A number
   divided by a tensor is a multiplication by its reciprocal there, which
   rounds twice, so it does here.  */

#include <config.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "dflash/rope.h"

static const double pi = 3.14159265358979323846;

static float
mul(float a, float b)
{
    return (float) ((double) a * (double) b);
}

static float
quotient(float a, float b)
{
    return (float) ((double) a / (double) b);
}

static float
add(float a, float b)
{
    return (float) ((double) a + (double) b);
}

/* SCALAR / X as the reference computes it.  */
static float
over(double scalar, float x)
{
    return mul(quotient(1.0f, x), (float) scalar);
}

const char *
df_rope_type_name(enum df_rope_type type)
{
    static const char *const names[] = {
#define X(name, text) [DF_ROPE_##name] = #text,
        DF_ROPE_TYPES(X)
#undef X
    };
    return names[type];
}

/* theta ^ (2i / head_dim) */
static float
wave(const struct df_rope *r, int head_dim, int i)
{
    float exponent = quotient((float) (2 * i), (float) head_dim);

    return (float) pow((double) (float) r->theta, (double) exponent);
}

/* Long waves are stretched by FACTOR, short ones stay, and those between
   are blended.  */
static float
llama3(const struct df_rope *r, float inv_freq)
{
    double longest = r->original_max_position / r->low_freq_factor;
    double shortest = r->original_max_position / r->high_freq_factor;
    float length = over(2 * pi, inv_freq);
    float stretched = quotient(inv_freq, (float) r->factor);

    if (length > (float) longest)
        return stretched;
    if (length < (float) shortest)
        return inv_freq;
    float periods = over(r->original_max_position, length);
    float smooth =
        quotient(add(periods, -(float) r->low_freq_factor),
                 (float) (r->high_freq_factor - r->low_freq_factor));
    float rest = mul(add(1.0f, -smooth), inv_freq);
    return add(quotient(rest, (float) r->factor), mul(smooth, inv_freq));
}

/* The feature that turns ROTATIONS times over the original length.  */
static double
correction(const struct df_rope *r, int head_dim, double rotations)
{
    double length = r->original_max_position / (rotations * 2 * pi);

    return head_dim * log(length) / (2 * log(r->theta));
}

/* Between features LOW and HIGH, go from the unscaled frequencies to the
   scaled ones.  */
static void
yarn(const struct df_rope *r, int head_dim, float *inv_freq)
{
    double low = correction(r, head_dim, r->beta_fast);
    double high = correction(r, head_dim, r->beta_slow);

    if (r->truncate) {
        low = floor(low);
        high = ceil(high);
    }
    low = fmax(low, 0);
    high = fmin(high, head_dim - 1);
    if (low == high)
        high += 0.001; /* as the reference does, against 0/0 */
    for (int i = 0; i < head_dim / 2; i++) {
        float w = wave(r, head_dim, i);
        float plain = quotient(1.0f, w);
        float scaled = quotient(1.0f, mul((float) r->factor, w));
        float ramp =
            quotient(add((float) i, -(float) low), (float) (high - low));
        float keep = add(1.0f, -fminf(fmaxf(ramp, 0), 1));

        inv_freq[i] = add(mul(scaled, add(1.0f, -keep)), mul(plain, keep));
    }
}

/* How much attention is sharpened for a context FACTOR times as long.  */
static double
yarn_scale(double factor, double mscale)
{
    return factor <= 1 ? 1 : 0.1 * mscale * log(factor) + 1;
}

static double
attention_factor(const struct df_rope *r)
{
    if (r->type != DF_ROPE_YARN)
        return 1;
    if (r->attention_factor != 0)
        return r->attention_factor;
    if (r->mscale != 0 && r->mscale_all_dim != 0)
        return yarn_scale(r->factor, r->mscale)
               / yarn_scale(r->factor, r->mscale_all_dim);
    return yarn_scale(r->factor, 1);
}

float
df_rope_frequencies(const struct df_rope *r, int head_dim, float *inv_freq)
{
    assert(head_dim > 0 && head_dim % 2 == 0);
    if (r->type == DF_ROPE_YARN)
        yarn(r, head_dim, inv_freq);
    for (int i = 0; i < head_dim / 2 && r->type != DF_ROPE_YARN; i++) {
        float f = quotient(1.0f, wave(r, head_dim, i));

        if (r->type == DF_ROPE_LINEAR)
            f = quotient(f, (float) r->factor);
        else if (r->type == DF_ROPE_LLAMA3)
            f = llama3(r, f);
        inv_freq[i] = f;
    }
    return (float) attention_factor(r);
}

df_status
df_rope_table(const struct df_rope *r, int head_dim, int positions,
              float *cos_out, float *sin_out)
{
    int half = head_dim / 2;
    float *inv_freq = malloc((size_t) half * sizeof *inv_freq);

    if (!inv_freq)
        return DF_FAIL(DF_NO_MEMORY, "rope: %d frequencies", half);
    float scale = df_rope_frequencies(r, head_dim, inv_freq);
    for (int p = 0; p < positions; p++)
        for (int i = 0; i < half; i++) {
            double angle = mul((float) p, inv_freq[i]);
            size_t at = (size_t) p * (size_t) half + (size_t) i;

            cos_out[at] = mul((float) cos(angle), scale);
            sin_out[at] = mul((float) sin(angle), scale);
        }
    free(inv_freq);
    return DF_OK;
}

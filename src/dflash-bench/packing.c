#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "dflash-bench/load.h"
#include "dflash-bench/packing.h"
#include "dflash/check.h"
#include "dflash/philox.h"

enum {
    ROWS_CHECKED = 16
};
static const float amplitude = 0.1f;
static const uint64_t key = 0x0123456789abcdefu;

static size_t
act_bytes(const struct packing *p)
{
    return df_device_act(p->dev) == DF_F32 ? 4 : 2;
}

size_t
packing_states(const struct packing *p)
{
    return p->T * p->K * p->H * sizeof(uint16_t);
}

size_t
packing_bytes(const struct packing *p)
{
    return packing_states(p)
           + (p->checks ? p->T * p->K * sizeof(uint64_t) : 0);
}

double
packing_moved(const struct packing *p)
{
    size_t noise =
        p->noise ? p->T * (sizeof *p->sample + sizeof *p->token) : 0;

    return (double) (p->T * p->K * p->H * act_bytes(p) + packing_bytes(p)
                     + noise);
}

/* Row T is token T of sample T / 64, a number beyond 32 bits.  */
static uint64_t
sample_of(size_t t)
{
    return (uint64_t) (t / 64) << 30 | 5;
}

static df_status
send_rows(struct packing *p)
{
    uint64_t *sample = malloc(p->T * sizeof *sample);
    int32_t *token = malloc(p->T * sizeof *token);
    struct df_stream *stream = NULL;
    df_status status = DF_OK;

    if (!sample || !token)
        status = DF_FAIL(DF_NO_MEMORY, "rows");
    for (size_t t = 0; status == DF_OK && t < p->T; t++) {
        sample[t] = sample_of(t);
        token[t] = (int32_t) t;
    }
    if (status == DF_OK)
        status = df_stream_new(&stream, p->dev, "rows");
    if (status == DF_OK)
        status = df_copy(stream, p->sample, sample, p->T * sizeof *sample);
    if (status == DF_OK)
        status = df_copy(stream, p->token, token, p->T * sizeof *token);
    if (status == DF_OK)
        status = df_stream_sync(stream);
    df_stream_free(stream);
    free(sample);
    free(token);
    return status;
}

static df_status
device_alloc(struct packing *p, size_t bytes, void *out)
{
    void *memory;
    df_status status = df_device_alloc(p->dev, DF_MEM_DEVICE, bytes, &memory);

    memcpy(out, &memory, sizeof memory);
    return status;
}

df_status
packing_open(struct packing *p)
{
    size_t n = p->T * p->K * p->H;

    DF_TRY(device_alloc(p, n * act_bytes(p), &p->layers));
    DF_TRY(device_alloc(p, p->T * sizeof *p->sample, &p->sample));
    DF_TRY(device_alloc(p, p->T * sizeof *p->token, &p->token));
    for (size_t i = 0; i < p->n_buffers; i++) {
        DF_TRY(device_alloc(p, packing_bytes(p), &p->out[i]));
        if (p->checks)
            p->check[i] = (uint64_t *) (void *) (p->out[i] + n);
    }
    DF_TRY(send_rows(p));
    return fill_random(p->dev, p->layers, df_device_act(p->dev), n);
}

void
packing_close(struct packing *p)
{
    df_device_free(p->dev, DF_MEM_DEVICE, p->layers);
    df_device_free(p->dev, DF_MEM_DEVICE, p->sample);
    df_device_free(p->dev, DF_MEM_DEVICE, p->token);
    for (size_t i = 0; i < p->n_buffers; i++) {
        df_device_free(p->dev, DF_MEM_DEVICE, p->out[i]);
        p->out[i] = NULL;
    }
    p->layers = p->sample = NULL;
    p->token = NULL;
}

df_status
packing_queue(struct packing *p, size_t i, struct df_stream *stream)
{
    size_t layer = p->T * p->H;

    for (size_t k = 0; k < p->K; k++) {
        struct df_pack_hidden_args args = {
            .out = p->out[i] + (p->split ? k * layer : k * p->H),
            .x = (char *) p->layers + k * layer * act_bytes(p),
            .T = p->T,
            .H = p->H,
            .ldo = p->split ? p->H : p->K * p->H,
            .feature = k * p->H,
            .check = p->checks ? p->check[i] + k : NULL,
            .ldcheck = p->K,
        };

        if (p->noise)
            args.noise =
                (struct df_noise){amplitude, key, p->sample, p->token};
        DF_TRY(df_pack_hidden(stream, &args));
    }
    return DF_OK;
}

/* What feature F of layer K in row T has to be, X being the target's.  */
static uint16_t
wanted(const struct packing *p, size_t t, size_t k, size_t f, uint16_t x)
{
    size_t feature = k * p->H + f;
    uint64_t sample = sample_of(t);
    struct df_philox r;
    float noise;

    if (!p->noise)
        return x;
    r = df_philox(key, (uint32_t) (feature / 4), (uint32_t) t,
                  (uint32_t) sample, (uint32_t) (sample >> 32));
    noise = amplitude * (2.0f * df_uniform(r.v[feature % 4]) - 1.0f);
    return df_bf16_from_f32(df_f32_from_bf16(x) + noise);
}

/* ROW is layer K of row T; X the target's, as it lies on the device.  */
static df_status
check_row(const struct packing *p, const uint16_t *row, const void *x,
          size_t t, size_t k)
{
    for (size_t f = 0; f < p->H; f++) {
        uint16_t bits = df_device_act(p->dev) == DF_F32
                            ? df_bf16_from_f32(((const float *) x)[f])
                            : ((const uint16_t *) x)[f];
        uint16_t want = wanted(p, t, k, f, bits);

        if (row[f] != want)
            return DF_FAIL(DF_DEVICE,
                           "row %zu, layer %zu, feature %zu is %04x instead "
                           "of %04x",
                           t, k, f, row[f], want);
    }
    return DF_OK;
}

static df_status
check_place(const struct packing *p, const void *image, struct df_stream *s,
            void *x, size_t t, size_t k)
{
    const uint16_t *states = image;
    size_t at = p->split ? (k * p->T + t) * p->H : (t * p->K + k) * p->H;
    size_t bytes = p->H * act_bytes(p);
    uint64_t check;

    DF_TRY(df_copy(s, x, (char *) p->layers + (k * p->T + t) * bytes, bytes));
    DF_TRY(df_stream_sync(s));
    DF_TRY(check_row(p, states + at, x, t, k));
    if (!p->checks)
        return DF_OK;
    memcpy(&check,
           (const char *) image + packing_states(p)
               + (t * p->K + k) * sizeof check,
           sizeof check);
    if (check == df_check_row(states + at, p->H))
        return DF_OK;
    return DF_FAIL(DF_DEVICE, "the check of row %zu, layer %zu is wrong", t,
                   k);
}

df_status
packing_check(const struct packing *p, const void *image)
{
    size_t step = p->T > ROWS_CHECKED ? p->T / ROWS_CHECKED : 1;
    void *x = malloc(p->H * act_bytes(p));
    struct df_stream *stream = NULL;
    df_status status = x ? df_stream_new(&stream, p->dev, "look")
                         : DF_FAIL(DF_NO_MEMORY, "a row");

    for (size_t t = step - 1; status == DF_OK && t < p->T; t += step)
        for (size_t k = 0; status == DF_OK && k < p->K; k++)
            status = check_place(p, image, stream, x, t, k);
    df_stream_free(stream);
    free(x);
    return status;
}

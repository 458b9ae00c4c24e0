/* What must not depend on how rows are put together: LINEAR's rows, and the
   noise of packed and of split hidden states.  */

#include <config.h>

#include "dflash/philox.h"
#include "ops/handy.h"
#include "tap/tap.h"

static float *
random_floats(size_t n, uint64_t key)
{
    float *x = malloc(n * sizeof *x);

    for (size_t i = 0; x && i < n; i++)
        x[i] = df_uniform(df_philox(key, (uint32_t) i, 0, 0, 0).v[0]) - 0.5f;
    if (!x)
        exit(1);
    return x;
}

struct weights {
    float *w, *bias; /* device */
    size_t N, K;
    bool accumulate;
};

/* Y of T rows of X, which begin at row FIRST, and whose order is turned
   around if BACKWARDS.  */
static float *
product(const struct weights *m, const float *x, size_t first, size_t T,
        bool backwards)
{
    float *in = malloc(T * m->K * sizeof *in);
    float *y = random_floats(T * m->N, 9), *old = random_floats(m->N, 3);

    for (size_t t = 0; in && t < T; t++) {
        size_t from = first + (backwards ? T - 1 - t : t);

        memcpy(in + t * m->K, x + from * m->K, m->K * sizeof *in);
        memcpy(y + t * m->N, old, m->N * sizeof *y);
    }
    void *dev_x = on_device(in, T * m->K * sizeof *in);
    void *dev_y = on_device(y, T * m->N * sizeof *y);

    NEED(df_linear(stream, &(struct df_linear_args){
                               .y = dev_y,
                               .x = dev_x,
                               .w = m->w,
                               .bias = m->bias,
                               .T = T,
                               .N = m->N,
                               .K = m->K,
                               .accumulate = m->accumulate,
                           }));
    take_back(y, dev_y, T * m->N * sizeof *y);
    df_device_free(dev, DF_MEM_DEVICE, dev_x);
    free(old);
    free(in);
    return y;
}

/* Parts of the batch, each forwards and backwards, against the whole.  */
static int
rows_stand_alone(const struct weights *m)
{
    enum {
        T = 300
    };
    static const struct {
        size_t first, rows;
    } parts[] = {
        {0,   1  },
        {299, 1  },
        {131, 2  },
        {7,   127},
        {1,   128},
        {5,   129},
        {100, 200},
        {3,   257}
    };
    float *x = random_floats(T * m->K, 4), *whole = product(m, x, 0, T, false);
    size_t row = m->N * sizeof *whole;
    int good = 1;

    for (size_t i = 0; i < 2 * sizeof parts / sizeof *parts; i++) {
        size_t first = parts[i / 2].first, n = parts[i / 2].rows;
        float *y = product(m, x, first, n, i % 2);

        for (size_t t = 0; t < n; t++)
            good &= memcmp(y + (i % 2 ? n - 1 - t : t) * m->N,
                           whole + (first + t) * m->N, row)
                    == 0;
        free(y);
    }
    free(whole);
    free(x);
    return good;
}

static void
test_linear(void)
{
    static const size_t sizes[][2] = {
        {1,    1   },
        {16,   7   },
        {65,   64  },
        {512,  256 },
        {33,   1000},
        {520,  383 },
        {1030, 129 }
    };

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t N = sizes[i][0], K = sizes[i][1];
        float *w = random_floats(N * K, 1), *bias = random_floats(N, 2);
        struct weights m = {on_device(w, N * K * sizeof *w),
                            on_device(bias, N * sizeof *bias), N, K, i % 2};

        ok(rows_stand_alone(&m), "rows of linear stand alone, N %zu K %zu", N,
           K);
        df_device_free(dev, DF_MEM_DEVICE, m.w);
        df_device_free(dev, DF_MEM_DEVICE, m.bias);
        free(bias);
        free(w);
    }
}

enum {
    TOKENS = 9,
    H = 37,
    LAYERS = 3
};

/* Layers packed with noise into one row of K*H, and unpacked plainly.  */
static void
packed_way(float *out, void *const layers[], struct df_noise noise)
{
    void *rows = on_device(NULL, TOKENS * LAYERS * H * 2);
    void *f = on_device(NULL, TOKENS * LAYERS * H * 4);

    for (size_t i = 0; i < LAYERS; i++)
        NEED(df_pack_hidden(stream, &(struct df_pack_hidden_args){
                                        .out = (uint16_t *) rows + i * H,
                                        .x = layers[i],
                                        .T = TOKENS,
                                        .H = H,
                                        .ldo = LAYERS * H,
                                        .feature = i * H,
                                        .noise = noise,
                                    }));
    NEED(df_unpack_hidden(stream, &(struct df_unpack_hidden_args){
                                      .f = f,
                                      .src = {rows},
                                      .T = TOKENS,
                                      .H = LAYERS * H,
                                      .K = 1,
                                  }));
    take_back(out, f, TOKENS * LAYERS * H * 4);
    df_device_free(dev, DF_MEM_DEVICE, rows);
}

/* Layers packed plainly each, and noise put in when they are unpacked.  */
static void
split_way(float *out, void *const layers[], struct df_noise noise)
{
    struct df_unpack_hidden_args a = {
        .T = TOKENS, .H = H, .K = LAYERS, .noise = noise};

    a.f = on_device(NULL, TOKENS * LAYERS * H * 4);
    for (size_t i = 0; i < LAYERS; i++) {
        void *rows = on_device(NULL, TOKENS * H * 2);

        NEED(df_pack_hidden(stream, &(struct df_pack_hidden_args){
                                        .out = rows,
                                        .x = layers[i],
                                        .T = TOKENS,
                                        .H = H,
                                    }));
        a.src[i] = rows;
    }
    NEED(df_unpack_hidden(stream, &a));
    take_back(out, a.f, TOKENS * LAYERS * H * 4);
    for (size_t i = 0; i < LAYERS; i++)
        df_device_free(dev, DF_MEM_DEVICE, (void *) a.src[i]);
}

static void
test_noise(void)
{
    static float packed[TOKENS * LAYERS * H], split[TOKENS * LAYERS * H];
    static float plain[TOKENS * LAYERS * H];
    uint64_t sample[TOKENS];
    int32_t token[TOKENS];
    void *layers[LAYERS];
    struct df_noise noise = {.amplitude = 0.5f,
                             .key = df_key(1, DF_KEY_NOISE)};
    float most = 0;

    for (int t = 0; t < TOKENS; t++) {
        sample[t] = t < 4 ? 5 : UINT64_C(1) << 40;
        token[t] = t < 4 ? t : t - 4;
    }
    noise.sample = ON_DEVICE(sample);
    noise.token = ON_DEVICE(token);
    for (size_t i = 0; i < LAYERS; i++) {
        float *x = random_floats(TOKENS * H, i);

        layers[i] = on_device(x, TOKENS * H * sizeof *x);
        free(x);
    }
    packed_way(packed, layers, noise);
    split_way(split, layers, noise);
    ok(memcmp(packed, split, sizeof split) == 0,
       "noise is the same packed and split");
    split_way(plain, layers, (struct df_noise){0});
    for (size_t i = 0; i < TOKENS * LAYERS * H; i++) {
        float d =
            packed[i] < plain[i] ? plain[i] - packed[i] : packed[i] - plain[i];

        most = d > most ? d : most;
    }
    ok(most > 0.4f && most < 0.503f, "and about as large as asked for");
    for (size_t i = 0; i < LAYERS; i++)
        df_device_free(dev, DF_MEM_DEVICE, layers[i]);
    df_device_free(dev, DF_MEM_DEVICE, (void *) noise.sample);
    df_device_free(dev, DF_MEM_DEVICE, (void *) noise.token);
}

int
main(void)
{
    plan(9);
    open_cpu();
    test_linear();
    test_noise();
    close_cpu();
    return 0;
}

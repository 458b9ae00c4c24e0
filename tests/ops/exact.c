/* Small cases with results worked out by hand; those of small integers have
   to come out exactly, whatever the order of the sums.  */

#include <config.h>

#include <math.h>

#include "dflash/philox.h"
#include "ops/handy.h"
#include "tap/tap.h"

/* Whether N floats are the wanted ones, to TOLERANCE.  */
static int
same(const float *wanted, const float *seen, size_t n, double tolerance)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double) wanted[i] - (double) seen[i]) <= tolerance)) {
            diag("[%zu] wanted %.9g, seen %.9g", i, (double) wanted[i],
                 (double) seen[i]);
            return 0;
        }
    return 1;
}

static void
test_rows(void)
{
    const float table[] = {1, 2, 3, 4, 5, 6}, scale[] = {10, -1};
    const int32_t ids[] = {2, 0, 2}, index[] = {1, 3};
    const float embedded[] = {5, 6, 1, 2, 5, 6};
    const float scattered[] = {0, 0, 10, 20, 0, 0, -3, -4};
    float out[8];
    void *t = ON_DEVICE(table), *i = ON_DEVICE(ids), *s = ON_DEVICE(scale);
    void *x = on_device(NULL, sizeof embedded);
    void *j = ON_DEVICE(index), *y = on_device(NULL, sizeof scattered);

    NEED(df_embed(stream,
                  &(struct df_embed_args){
                      .x = x, .table = t, .ids = i, .T = 3, .H = 2, .V = 3}));
    take_back(out, x, sizeof embedded);
    ok(same(embedded, out, 6, 0), "embed");
    NEED(df_scatter_rows(
        stream,
        &(struct df_scatter_rows_args){
            .y = y, .x = t, .index = j, .scale = s, .R = 2, .C = 2, .T = 4}));
    take_back(out, y, sizeof scattered);
    ok(same(scattered, out, 8, 0), "scatter_rows");
    x = on_device(NULL, sizeof embedded);
    NEED(df_gather_rows(
        stream, &(struct df_gather_rows_args){
                    .y = x, .x = t, .index = i, .R = 3, .C = 2, .T = 3}));
    take_back(out, x, sizeof embedded);
    ok(same(embedded, out, 6, 0), "gather_rows");
    df_device_free(dev, DF_MEM_DEVICE, t);
    df_device_free(dev, DF_MEM_DEVICE, i);
    df_device_free(dev, DF_MEM_DEVICE, s);
    df_device_free(dev, DF_MEM_DEVICE, j);
}

/* x [2,3], w [2,3].  */
static void
test_products(void)
{
    const float x[] = {1, 2, 3, 4, 5, 6}, w[] = {1, 0, -1, 2, 1, 0};
    const float bias[] = {100, 200}, ones[] = {1, 1, 1, 1};
    const float y[] = {98, 204, 98, 213}, dx[] = {3, 1, -1, 3, 1, -1};
    const float dw[] = {6, 7, 8, 7, 8, 9}; /* the old dw + 5 7 9 each */
    float out[6];
    void *dev_x = ON_DEVICE(x), *dev_w = ON_DEVICE(w);
    void *dev_bias = ON_DEVICE(bias), *dev_dy = ON_DEVICE(ones);
    void *dev_y = on_device(NULL, sizeof y);
    void *dev_dx = on_device(NULL, sizeof dx);
    const float dw_old[] = {1, 0, -1, 2, 1, 0};
    void *dev_dw = ON_DEVICE(dw_old);

    NEED(df_linear(stream, &(struct df_linear_args){.y = dev_y,
                                                    .x = dev_x,
                                                    .w = dev_w,
                                                    .bias = dev_bias,
                                                    .T = 2,
                                                    .N = 2,
                                                    .K = 3}));
    NEED(df_linear_dx(
        stream,
        &(struct df_linear_dx_args){
            .dx = dev_dx, .dy = dev_dy, .w = dev_w, .T = 2, .N = 2, .K = 3}));
    NEED(df_linear_dw(
        stream,
        &(struct df_linear_dw_args){
            .dw = dev_dw, .dy = dev_dy, .x = dev_x, .T = 2, .N = 2, .K = 3}));
    take_back(out, dev_y, sizeof y);
    ok(same(y, out, 4, 0), "linear");
    take_back(out, dev_dx, sizeof dx);
    ok(same(dx, out, 6, 0), "linear_dx");
    take_back(out, dev_dw, sizeof dw);
    ok(same(dw, out, 6, 0), "linear_dw adds");
    df_device_free(dev, DF_MEM_DEVICE, dev_x);
    df_device_free(dev, DF_MEM_DEVICE, dev_w);
    df_device_free(dev, DF_MEM_DEVICE, dev_bias);
    df_device_free(dev, DF_MEM_DEVICE, dev_dy);
}

static void
test_norms(void)
{
    const float x[] = {3, 4}, w[] = {2, 1}; /* mean square 12.5 */
    const float y[] = {1.69705627f, 1.13137085f};
    /* Head norm of (3, 4) with w = 1 is (0.848528, 1.131371); a quarter turn
       makes it (-1.131371, 0.848528).  */
    const float cos[] = {0}, sin[] = {1}, ones[] = {1, 1};
    const float turned[] = {-1.13137085f, 0.84852814f}, plain[] = {-4, 3};
    const int32_t pos[] = {0};
    float out[2], rstd;
    void *dev_x = ON_DEVICE(x), *dev_w = ON_DEVICE(w);
    void *dev_y = on_device(NULL, sizeof y), *r = on_device(NULL, 4);
    struct df_head_norm_rope_args a = {.x = dev_x,
                                       .w = ON_DEVICE(ones),
                                       .cos = ON_DEVICE(cos),
                                       .sin = ON_DEVICE(sin),
                                       .pos = ON_DEVICE(pos),
                                       .T = 1,
                                       .N = 1,
                                       .D = 2,
                                       .P = 1};

    NEED(df_rmsnorm(
        stream,
        &(struct df_rmsnorm_args){
            .y = dev_y, .rstd = r, .x = dev_x, .w = dev_w, .T = 1, .C = 2}));
    take_back(out, dev_y, sizeof y);
    take_back(&rstd, r, sizeof rstd);
    ok(same(y, out, 2, 2e-7), "rmsnorm");
    ok(fabsf(rstd - 0.28284271f) < 1e-7f, "rmsnorm keeps rstd");
    a.y = on_device(NULL, sizeof y);
    NEED(df_head_norm_rope(stream, &a));
    take_back(out, a.y, sizeof y);
    ok(same(turned, out, 2, 2e-7), "head_norm_rope");
    df_device_free(dev, DF_MEM_DEVICE, (void *) a.w);
    a.w = NULL;
    a.y = dev_x; /* in place */
    NEED(df_head_norm_rope(stream, &a));
    take_back(out, dev_x, sizeof y);
    ok(same(plain, out, 2, 0), "head_norm_rope without norm, in place");
    df_device_free(dev, DF_MEM_DEVICE, dev_w);
    df_device_free(dev, DF_MEM_DEVICE, (void *) a.cos);
    df_device_free(dev, DF_MEM_DEVICE, (void *) a.sin);
    df_device_free(dev, DF_MEM_DEVICE, (void *) a.pos);
}

static void
test_swiglu(void)
{
    const float gu[] = {0, 1, -200, 200, NAN, 3, 2, 4, -0.5f, 1};
    const float h[] = {0, 1.46211716f, -0.0f, -100};
    float out[5];
    void *in = ON_DEVICE(gu), *y = on_device(NULL, sizeof out);

    NEED(df_swiglu(
        stream, &(struct df_swiglu_args){.h = y, .gu = in, .T = 1, .I = 5}));
    take_back(out, y, sizeof out);
    ok(same(h, out, 4, 2e-7), "swiglu, large values too");
    ok(isnan(out[4]), "a NaN stays one");
    df_device_free(dev, DF_MEM_DEVICE, in);
}

/* What is special in a value must come through pack and unpack.  */
static void
test_hidden(void)
{
    const float x[] = {1.00390625f, 3.4e38f, NAN, -INFINITY, 0x1p-133f, -0.0f};
    const uint16_t bits[] = {0x3f80, 0x7f80, 0x7fc0, 0xff80, 0x0001, 0x8000};
    uint16_t out[6];
    float wide[6];
    void *in = ON_DEVICE(x), *packed = on_device(NULL, sizeof bits);
    void *f = on_device(NULL, sizeof wide);
    struct df_unpack_hidden_args a = {
        .f = f, .src = {packed}, .T = 2, .H = 3, .K = 1};

    NEED(df_pack_hidden(stream, &(struct df_pack_hidden_args){
                                    .out = packed, .x = in, .T = 2, .H = 3}));
    NEED(df_unpack_hidden(stream, &a));
    take_back(wide, f, sizeof wide);
    take_back(out, packed, sizeof out);
    ok(memcmp(out, bits, sizeof bits) == 0, "pack_hidden of odd values");
    ok(wide[0] == 1 && isinf(wide[1]) && isnan(wide[2]) && wide[3] < 0
           && wide[4] == 0x1p-133f && signbit(wide[5]),
       "unpack_hidden of them");
    df_device_free(dev, DF_MEM_DEVICE, in);
}

static void
test_sums(void)
{
    const float a[] = {1, 2, 3}, b[] = {10, 20, 30}, both[] = {11, 22, 33};
    float out[3];
    double sum;
    void *dev_a = ON_DEVICE(a), *dev_b = ON_DEVICE(b);
    void *s = on_device(NULL, sizeof sum);

    NEED(
        df_add(stream, &(struct df_add_args){.a = dev_a, .b = dev_b, .N = 3}));
    take_back(out, dev_a, sizeof out);
    ok(same(both, out, 3, 0), "add");
    NEED(df_sum_squares(
        stream, &(struct df_sum_squares_args){.sum = s, .x = dev_b, .N = 3}));
    NEED(df_copy(stream, &sum, s, sizeof sum));
    NEED(df_stream_sync(stream));
    ok(sum == 1400, "sum_squares");
    NEED(df_sum_squares(stream, &(struct df_sum_squares_args){.sum = s}));
    take_back(&sum, s, sizeof sum);
    ok(sum == 0, "sum_squares of nothing is set");
    df_device_free(dev, DF_MEM_DEVICE, dev_b);
}

int
main(void)
{
    plan(17);
    open_cpu();
    test_rows();
    test_products();
    test_norms();
    test_swiglu();
    test_hidden();
    test_sums();
    close_cpu();
    return 0;
}

/* The list of operations and the checks before them.  */

#include <config.h>

#include <math.h>
#include <string.h>

#include "dflash/ops.h"
#include "tap/tap.h"

static struct df_stream *stream;

/* Whether SEEN is WANTED, with a message that has all of PART.  */
static void
refused(df_status wanted, df_status seen, const char *part)
{
    const char *message = df_error_last()->message;

    ok(seen == wanted && strstr(message, part), "refused: %s", part);
    if (seen != wanted || !strstr(message, part))
        diag("status %d, message: %s", seen, message);
}

#define REFUSED(status, part, op, ...)                                      \
    refused(status, df_##op(stream, &(struct df_##op##_args){__VA_ARGS__}), \
            part)
#define NOTHING(op, ...)                                                   \
    is_long(DF_OK, df_##op(stream, &(struct df_##op##_args){__VA_ARGS__}), \
            "%s of nothing", #op)

static void
test_refusals(void)
{
    float x[8] = {0};
    int32_t i[8] = {0};
    uint16_t h[8] = {0};
    struct df_block_map map = {.B = 1, .N = 1, .b = 65};

    REFUSED(DF_SHAPE, "linear: N is 0, not in 1 to", linear, .T = 1, .K = 1);
    REFUSED(DF_SHAPE, "linear: ldx is 2, less than a row of 3", linear, .T = 1,
            .N = 1, .K = 3, .ldx = 2);
    REFUSED(DF_SHAPE, "linear: T is 2147483648", linear, .T = (size_t) 1 << 31,
            .N = 1, .K = 1);
    REFUSED(DF_UNSUPPORTED, "linear: a bias and a float32 result", linear,
            .T = 1, .N = 1, .K = 1, .bias = h, .wide = true);
    REFUSED(DF_SHAPE, "linear_dx: K is 0", linear_dx, .T = 1, .N = 1);
    REFUSED(DF_SHAPE, "linear_dw: lddy is 1", linear_dw, .T = 1, .N = 2,
            .K = 1, .lddy = 1);
    REFUSED(DF_SHAPE, "embed: V is 0", embed, .T = 1, .H = 1);
    REFUSED(DF_SHAPE, "rmsnorm: C is 0", rmsnorm, .T = 1);
    REFUSED(DF_SHAPE, "head_norm_rope: D is 3, not even", head_norm_rope,
            .T = 1, .N = 1, .D = 3, .P = 1);
    REFUSED(DF_SHAPE, "head_norm_rope_bwd: P is 0", head_norm_rope_bwd, .T = 1,
            .N = 1, .D = 2);
    REFUSED(DF_SHAPE, "attention: A = 3 is no multiple of G = 2", attention,
            .T = 1, .A = 3, .G = 2, .D = 2);
    REFUSED(DF_SHAPE, "attention: G is 4, not in 1 to 3", attention, .T = 1,
            .A = 3, .G = 4, .D = 2);
    REFUSED(DF_INVALID, "attention: window is -1", attention, .T = 1, .A = 1,
            .G = 1, .D = 2, .window = -1);
    REFUSED(DF_SHAPE, "draft_attention: b is 65", draft_attention, .A = 1,
            .G = 1, .D = 2, .map = map);
    map.b = 0;
    REFUSED(DF_SHAPE, "draft_attention_bwd: b is 0", draft_attention_bwd,
            .A = 1, .G = 1, .D = 2, .map = map);
    REFUSED(DF_SHAPE, "unpack_hidden: K is 33", unpack_hidden, .T = 1, .H = 1,
            .K = 33);
    REFUSED(DF_INVALID, "pack_hidden: noise amplitude is nan", pack_hidden,
            .out = h, .x = x, .T = 1, .H = 1, .noise = {.amplitude = NAN});
    REFUSED(DF_INVALID, "pack_hidden: noise amplitude is -1", pack_hidden,
            .out = h, .x = x, .T = 1, .H = 1, .noise = {.amplitude = -1});
    REFUSED(DF_SHAPE, "gather_rows: T is 0", gather_rows, .y = x, .x = x,
            .index = i, .R = 1, .C = 1);
    REFUSED(DF_SHAPE, "scatter_rows: R is 2, not in 0 to 1", scatter_rows,
            .T = 1, .C = 1, .R = 2);
    REFUSED(DF_SHAPE, "head_loss: V is 0", head_loss, .R = 1, .H = 1);
    REFUSED(DF_SHAPE, "objective: R is 4, not in 0 to 3", objective, .R = 4,
            .N = 1, .b = 4);
    REFUSED(DF_INVALID, "objective: alpha is 2", objective, .N = 1, .b = 4,
            .dpace = true, .alpha = 2);
    REFUSED(DF_INVALID, "clip: max_norm is nan", clip,
            .state = (struct df_step_state *) x, .sum = (double *) x,
            .max_norm = (double) NAN);
}

static void
test_nothing(void)
{
    NOTHING(linear, .N = 1, .K = 1);
    NOTHING(linear_dw, .N = 1, .K = 1);
    NOTHING(embed, .H = 1, .V = 1);
    NOTHING(rmsnorm_bwd, .C = 1);
    NOTHING(attention, .A = 1, .G = 1, .D = 2);
    NOTHING(draft_attention, .A = 1, .G = 1, .D = 2, .map = {.b = 8});
    NOTHING(draft_attention_bwd, .A = 1, .G = 1, .D = 2, .map = {.b = 8});
    NOTHING(gather_rows, .C = 1);
    NOTHING(scatter_rows, .C = 1);
    NOTHING(head_loss, .H = 1, .V = 1);
    NOTHING(objective, .b = 8);
    NOTHING(adamw, .N = 0);
}

static void
test_flops(struct df_device *dev)
{
    static float y[6], x[8], w[12];
    struct df_device_stats s;
    struct df_linear_args a = {.y = y, .x = x, .w = w, .T = 2, .N = 3, .K = 4};

    is_long(DF_OK, df_linear(stream, &a), "a product is queued");
    is_long(DF_OK, df_stream_sync(stream), "and done");
    df_device_get_stats(dev, &s);
    is_long(48, (long) s.flops, "of 48 operations");
}

int
main(void)
{
    struct df_device *dev;
    int has = 1;

    plan(3 + 24 + 12 + 3);
    if (df_device_open(&dev, "cpu") != DF_OK
        || df_stream_new(&stream, dev, "test") != DF_OK)
        return 1;
    ok(strcmp(df_op_name(DF_OP_linear_dw), "linear_dw") == 0, "a name");
    ok(strcmp(df_op_flow(DF_OP_clip), "state <- sum") == 0, "a flow");
    for (int op = 0; op < DF_N_OPS; op++)
        has &= df_device_has(dev, (enum df_op) op);
    ok(has, "the CPU has every operation");
    test_refusals();
    test_nothing();
    test_flops(dev);
    df_stream_free(stream);
    df_device_close(dev);
    return 0;
}

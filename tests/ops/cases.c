/* What tests and dflash-bench see of an operation's buffers: the same inputs
   as ever, rows from everywhere, and no error that gets lost.  */

#include <config.h>

#include <math.h>
#include <string.h>

#include "dflash/philox.h"
#include "opcases/opcases.h"
#include "ops/handy.h"
#include "tap/tap.h"

static struct oprun *
run_case(const struct opcase *c)
{
    struct oprun *r;

    NEED(oprun_new(&r, c, dev));
    NEED(oprun_call(r));
    NEED(oprun_finish(r));
    return r;
}

/* Number I of buffer B, of [-1, 1).  */
static double
input(const struct opcase *c, size_t b, size_t i)
{
    struct df_philox p =
        df_philox(77, (uint32_t) i, (uint32_t) b, c->op, c->flags);
    float v = (float) (2 * (double) df_uniform(p.v[0]) - 1);

    return (double) df_f32_from_bf16(df_bf16_from_f32(v));
}

static void
test_inputs(void)
{
    static const struct opcase c = {
        DF_OP_linear, {700, 3, 501},
         OPCASE_PLAIN, 0
    };
    struct oprun *r = run_case(&c);
    double *x = oprun_before(r, 1), *y = oprun_before(r, 0);
    size_t n = r->bufs[1].n, good = 0;

    for (size_t i = 0; i < n; i++)
        good += x[i] == input(&c, 1, i);
    ok(good == n, "all inputs are what the case says");
    ok(isnan(y[0]) && isnan(y[r->bufs[0].n - 1]), "outputs are NaN before");
    free(x);
    free(y);
    oprun_free(r);
}

/* The part's outputs, done by themselves.  */
static void
take(struct oprun *part, double **wanted)
{
    NEED(oprun_call(part));
    NEED(oprun_finish(part));
    for (size_t b = 0; b < part->n_bufs; b++)
        wanted[b] = oprun_after(part, b);
}

static void
drop(struct oprun *part, double **wanted)
{
    for (size_t b = 0; b < part->n_bufs; b++)
        free(wanted[b]);
    oprun_free(part);
}

/* Spoil element I of R's first output.  */
static bool
is_seen(const struct oprun *r, const struct oprun *part, double **wanted,
        size_t i)
{
    float *y = r->bufs[0].after, was = y[i];
    double error;

    y[i] += 1;
    error = oprun_worst(part, wanted);
    y[i] = was;
    return error > 1e-6;
}

/* clang-format off */
static const struct {
    struct opcase whole, part;
    bool rows;
    size_t first, between, last; /* elements that are looked at */
    size_t other;                /* and one that isn't */
} parts[] = {
    {{DF_OP_linear, {700, 33, 65}, OPCASE_PLAIN, 0},
     {DF_OP_linear, {64, 33, 65}, OPCASE_PLAIN, 0},
     true, 0, (16 + 212 + 3) * 33, 700 * 33 - 1, 16 * 33},
    {{DF_OP_unpack_hidden, {100, 9, 3}, OPCASE_NOISE, 0},
     {DF_OP_unpack_hidden, {8, 9, 3}, OPCASE_NOISE, 0},
     true, 0, (2 + 30) * 27, 100 * 27 - 1, 2 * 27},
    {{DF_OP_rmsnorm, {10, 17}, 0, 0}, {DF_OP_rmsnorm, {4, 17}, 0, 0},
     true, 0, 3 * 17, 10 * 17 - 1, 17},
    {{DF_OP_adamw, {1001}, 0, 0}, {DF_OP_adamw, {100}, 0, 0},
     true, 0, 25 + 300, 1000, 25},
    {{DF_OP_attention, {3, 20, 2, 1, 16}, 0, 0},
     {DF_OP_attention, {1, 20, 2, 1, 16}, 0, 0},
     false, 0, 10 * 32, 20 * 32 - 1, 20 * 32},
};
/* clang-format on */

static void
test_parts(void)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        double *wanted[OPRUN_MAX_BUFFERS] = {NULL};
        struct oprun *r = run_case(&parts[i].whole), *part;
        char label[80];

        opcase_label(&parts[i].part, label, sizeof label);
        NEED(oprun_new_part(&part, &parts[i].part, dev, r, parts[i].rows));
        take(part, wanted);
        ok(oprun_worst(part, wanted) == 0, "%s: the whole has that", label);
        ok(is_seen(r, part, wanted, parts[i].first)
               && is_seen(r, part, wanted, parts[i].between)
               && is_seen(r, part, wanted, parts[i].last),
           "mistakes at both ends and between are seen");
        ok(!is_seen(r, part, wanted, parts[i].other), "others aren't");
        drop(part, wanted);
        oprun_free(r);
    }
}

static void
test_errors(void)
{
    static const struct opcase c = {
        DF_OP_rmsnorm, {4, 5},
         0, 0
    };
    double *wanted[OPRUN_MAX_BUFFERS] = {NULL}, old;
    struct oprun *r = run_case(&c), *part;

    NEED(oprun_new_part(&part, &c, dev, r, true));
    take(part, wanted);
    old = wanted[0][3];
    wanted[0][3] = NAN;
    ok(isnan(oprun_worst(part, wanted)),
       "an output that isn't set stays an error, whatever others are");
    wanted[0][3] = INFINITY;
    ok(!(oprun_worst(part, wanted) <= 1), "so does an infinite one");
    wanted[0][3] = old;
    free(wanted[0]);
    wanted[0] = NULL;
    ok(isnan(oprun_worst(part, wanted)), "and one without values");
    drop(part, wanted);
    oprun_free(r);
}

static df_status
spoil(struct oprun *r, size_t b, size_t at)
{
    NEED(df_fill(r->stream, (char *) r->bufs[b].data + at, 1, 1));
    return oprun_finish(r);
}

static bool
said(df_status status, const char *text)
{
    return status == DF_DEVICE
           && strstr(df_error_last()->message, text) != NULL;
}

/* The input has more than one piece.  */
static void
test_finish(void)
{
    static const struct opcase c = {
        DF_OP_swiglu, {3, 400000},
         0, 0
    };
    struct oprun *r = run_case(&c);
    size_t last = r->bufs[1].bytes - 1;
    char old = ((char *) r->bufs[1].before)[last];

    ok(said(spoil(r, 1, last), "gu: an input was changed"),
       "an input's last byte");
    NEED(df_fill(r->stream, (char *) r->bufs[1].data + last,
                 (unsigned char) old, 1));
    NEED(oprun_finish(r));
    ok(said(spoil(r, 0, r->bufs[0].bytes), "h: written beyond its end"),
       "the first byte behind an output");
    NEED(df_fill(r->stream, (char *) r->bufs[0].data + r->bufs[0].bytes, 0xa5,
                 1));
    NEED(df_fill(r->stream, (char *) r->bufs[0].data + 4 * 1199998, 0xff, 8));
    ok(said(oprun_finish(r), "h[1199998] is NaN"), "the first of two NaN");
    oprun_free(r);
}

/* clang-format off */
static const struct {
    struct opcase c;
    double bytes;
} moved[] = {
    {{DF_OP_embed, {2, 8, 100}, 0, 0}, 2 * (2 * 8 * 4) + 2 * 4},
    {{DF_OP_gather_rows, {2, 8, 100}, 0, 0}, 2 * (2 * 8 * 4) + 2 * 4},
    {{DF_OP_put_rows, {3, 8, 100}, 0, 0}, 2 * (2 * 8 * 4) + 3 * 4},
    {{DF_OP_verify, {1, 2, 10}, OPCASE_PLAIN, 0}, 20 * 4 + 2 * 4 + 2 * 3 * 4},
    {{DF_OP_verify, {1, 2, 10}, 0, 0},
     2 * 20 * 4 + 2 * 4 + 2 * 3 * 4 + 2 * (8 + 4)},
    {{DF_OP_adamw, {10}, OPCASE_PLAIN, 0}, 10 * 4 * 7 + 40},
    {{DF_OP_attention, {2, 4, 2, 1, 16, 0, 12}, 0, 0},
     7 * 32 * 4 * 2 + (8 + 4 + 4 + 3) * 16 * 4 * 2 + 3 * 4 + 2 * 2 * 4},
    {{DF_OP_attention, {1, 4, 2, 1, 16, 3, 12}, 0, 0},
     4 * 32 * 4 * 2 + (2 + 4) * 16 * 4 * 2 + 2 * 4 + 2 * 4},
};
/* clang-format on */

static void
test_bytes(void)
{
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
        struct oprun *r;
        char label[80];

        opcase_label(&moved[i].c, label, sizeof label);
        NEED(oprun_new(&r, &moved[i].c, dev));
        ok(oprun_bytes(r) == moved[i].bytes, "%s moves %.0f bytes: %.0f",
           label, moved[i].bytes, oprun_bytes(r));
        oprun_free(r);
    }
}

int
main(void)
{
    plan(2 + 15 + 3 + 3 + 8);
    open_cpu();
    test_inputs();
    test_parts();
    test_errors();
    test_finish();
    test_bytes();
    close_cpu();
    return 0;
}

/* Every operation: the larger ones of the tests' cases, and on a GPU those of
   a target of 8 billion parameters, on 8,192 tokens, and decoding a block of
   16 or a token.  */

#include <config.h>

#include <stdlib.h>

#include "dflash-bench/bench.h"
#include "opcases/opcases.h"

enum {
    FEW_ROWS = 64,      /* that are compared */
    FEW_VALUES = 65536, /* the same where they are rows */
    FEW_FLOPS = 32 /* of a product for each byte: memory is what bounds it */
};

#define BF16 2e-5

/* clang-format off */
static const struct opcase large[] = {
    {DF_OP_rmsnorm, {8192, 4096}, 0, BF16},
    {DF_OP_rmsnorm_bwd, {8192, 4096}, 0, BF16},
    {DF_OP_head_norm_rope, {8192, 32, 128}, 0, BF16},
    {DF_OP_linear, {8192, 4096, 4096}, OPCASE_PLAIN, BF16},
    {DF_OP_linear, {8192, 6144, 4096}, OPCASE_PLAIN, BF16},
    {DF_OP_linear, {8192, 24576, 4096}, OPCASE_PLAIN, BF16},
    {DF_OP_linear, {8192, 4096, 12288}, OPCASE_PLAIN, BF16},
    {DF_OP_linear_dx, {8192, 4096, 4096}, 0, BF16},
    {DF_OP_linear_dw, {8192, 4096, 4096}, 0, BF16},
    {DF_OP_swiglu, {8192, 12288}, 0, BF16},
    {DF_OP_swiglu_bwd, {8192, 12288}, 0, BF16},
    {DF_OP_attention, {4, 2048, 32, 8, 128}, 0, BF16},
    {DF_OP_attention, {1, 8192, 32, 8, 128}, 0, BF16},
    {DF_OP_draft_attention, {1, 2048, 512, 16, 32, 8, 128}, 0, BF16},
    {DF_OP_draft_attention_bwd, {1, 2048, 512, 16, 32, 8, 128}, 0, BF16},
    {DF_OP_unpack_hidden, {8192, 4096, 5}, OPCASE_NOISE, 1e-14},
    {DF_OP_head_loss, {2048, 4096, 32768}, 0, BF16},
    {DF_OP_adamw, {1 << 25}, 0, BF16},
    {DF_OP_rmsnorm, {16, 4096}, 0, BF16},
    {DF_OP_head_norm_rope, {16, 32, 128}, 0, BF16},
    {DF_OP_linear, {1, 6144, 4096}, OPCASE_PLAIN, BF16},
    {DF_OP_linear, {1, 4096, 4096}, OPCASE_PLAIN, BF16},
    {DF_OP_linear, {1, 24576, 4096}, OPCASE_PLAIN, BF16},
    {DF_OP_linear, {1, 4096, 12288}, OPCASE_PLAIN, BF16},
    {DF_OP_linear, {1, 32768, 4096, 1}, OPCASE_PLAIN, BF16},
    {DF_OP_linear, {16, 6144, 4096}, OPCASE_PLAIN, BF16},
    {DF_OP_linear, {16, 2048, 4096}, OPCASE_PLAIN, BF16},
    {DF_OP_linear, {16, 4096, 4096}, OPCASE_PLAIN, BF16},
    {DF_OP_linear, {16, 24576, 4096}, OPCASE_PLAIN, BF16},
    {DF_OP_linear, {16, 4096, 12288}, OPCASE_PLAIN, BF16},
    {DF_OP_linear, {16, 4096, 20480}, OPCASE_PLAIN, BF16},
    {DF_OP_linear, {16, 32768, 4096, 1}, OPCASE_PLAIN, BF16},
    {DF_OP_swiglu, {16, 12288}, 0, BF16},
    {DF_OP_attention, {1, 1, 32, 8, 128, 0, 2048}, 0, BF16},
    {DF_OP_attention, {1, 16, 32, 8, 128, 0, 2048}, 0, BF16},
    {DF_OP_draft_attention, {1, 4096, 2, 16, 32, 8, 128}, 0, BF16},
    {DF_OP_put_rows, {16, 2048, 2048}, 0, 1e-14},
    {DF_OP_pick, {16, 151936}, OPCASE_PLAIN, 1e-14},
    {DF_OP_verify, {1, 16, 151936}, OPCASE_PLAIN, 1e-14},
};
/* clang-format on */

struct op_work {
    struct opcase c;
    struct df_device *dev, *cpu;
    struct oprun *run;
    struct bench_case *def; /* gets bytes and operations on the way */
};

/* How many rows a case is compared in whose rows of the outputs depend on
   their own rows of the inputs alone; 0: they don't.  */
static size_t
few_rows(enum df_op op)
{
    switch ((int) op) {
    case DF_OP_embed:
    case DF_OP_rmsnorm:
    case DF_OP_head_norm_rope:
    case DF_OP_linear:
    case DF_OP_linear_dx:
    case DF_OP_swiglu:
    case DF_OP_swiglu_bwd:
    case DF_OP_pack_hidden:
    case DF_OP_unpack_hidden:
    case DF_OP_gather_rows:
    case DF_OP_head_loss:
        return FEW_ROWS;
    case DF_OP_add:
    case DF_OP_adamw:
        return FEW_VALUES;
    default:
        return 0;
    }
}

static void
close_op(void *arg)
{
    struct op_work *w = arg;

    oprun_free(w->run);
    w->run = NULL;
}

static df_status
queue_op(void *arg, struct df_stream *stream)
{
    struct op_work *w = arg;

    return oprun_queue(w->run, stream);
}

/* What FEW's outputs have to be: by the formula if the device is the CPU and
   there is one, else by the CPU.  */
static df_status
reference(const struct op_work *w, struct oprun *few, double **wanted)
{
    bool formula = df_device_is_cpu(w->dev);

    for (size_t b = 0; formula && b < few->n_bufs; b++)
        if (!(wanted[b] = oprun_before(few, b)))
            return DF_FAIL(DF_NO_MEMORY, "values of %s", few->bufs[b].name);
    if (formula && op_reference(few, wanted))
        return DF_OK;
    DF_TRY(oprun_call(few));
    DF_TRY(oprun_finish(few));
    for (size_t b = 0; b < few->n_bufs; b++) {
        free(wanted[b]);
        wanted[b] = few->bufs[b].output ? oprun_after(few, b) : NULL;
    }
    return DF_OK;
}

/* Floating-point operations of a call are what the device counts; of few they
   don't tell how good it is.  */
static df_status
call_and_count(struct op_work *w)
{
    struct df_device_stats before, after;

    df_device_get_stats(w->dev, &before);
    DF_TRY(oprun_call(w->run));
    df_device_get_stats(w->dev, &after);
    w->def->flops = after.flops - before.flops;
    if (w->def->flops < FEW_FLOPS * w->def->bytes)
        w->def->flops = 0;
    w->def->ceiling = w->def->flops > 0 ? CEILING_PRODUCT : CEILING_COPY;
    return DF_OK;
}

/* A CPU without a formula is compared with itself: at least the bits of a
   second run must be the same.  */
static df_status
check_op(void *arg, double *error)
{
    struct op_work *w = arg;
    struct opcase c = w->c;
    double *wanted[OPRUN_MAX_BUFFERS] = {NULL};
    struct oprun *few = NULL;
    size_t rows = few_rows(c.op);
    df_status status;

    if (c.op == DF_OP_attention && c.d[6] == 0)
        c.d[0] = 1; /* sequences, which a cache would hold elsewhere */
    else if (rows > 0 && c.d[0] > rows)
        c.d[0] = rows;
    DF_TRY(call_and_count(w));
    DF_TRY(oprun_finish(w->run));
    DF_TRY(oprun_new_part(&few, &c, w->cpu, w->run, rows > 0));
    status = reference(w, few, wanted);
    if (status == DF_OK)
        *error = oprun_worst(few, wanted);
    if (status == DF_OK && !(*error <= c.limit))
        status =
            DF_FAIL(DF_DEVICE, "error %.1e, %.1e is allowed", *error, c.limit);
    for (size_t b = 0; b < few->n_bufs; b++)
        free(wanted[b]);
    oprun_free(few);
    return status;
}

static df_status
open_op(void *arg)
{
    struct op_work *w = arg;

    DF_TRY(oprun_new(&w->run, &w->c, w->dev));
    w->def->bytes = oprun_bytes(w->run);
    return DF_OK;
}

static df_status
measure_op(struct bench *b, const struct opcase *c, struct df_device *dev,
           struct df_device *cpu)
{
    struct op_work w = {.c = *c, .dev = dev, .cpu = cpu};
    char name[80];
    struct bench_case def = {.name = name,
                             .dev = dev,
                             .arg = &w,
                             .entries = 2,
                             .open = open_op,
                             .close = close_op,
                             .queue = queue_op,
                             .check = check_op};

    w.def = &def;
    opcase_label(c, name, sizeof name);
    for (char *at = name; *at; at++)
        if (*at == ' ')
            *at = '-';
    return bench_case(b, &def);
}

static df_status
measure_all(struct bench *b, struct df_device *dev, struct df_device *cpu)
{
    for (size_t i = 0; i < n_opcases; i++)
        if (opcases[i].flags & OPCASE_BENCH)
            DF_TRY(measure_op(b, &opcases[i], dev, cpu));
    if (df_device_is_cpu(dev))
        return DF_OK;
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        DF_TRY(measure_op(b, &large[i], dev, cpu));
    return DF_OK;
}

df_status
bench_ops(struct bench *b)
{
    struct df_device *cpu;
    df_status status = DF_OK;

    DF_TRY(df_device_open(&cpu, "cpu:63"));
    for (size_t i = 0; status == DF_OK && i < b->devices.n; i++)
        status = measure_all(b, b->devices.devices[i], cpu);
    df_device_close(cpu);
    return status;
}

/* A step of a drafter: by part, then the whole, of which the parts are told,
   and on a GPU the whole with its passes as graphs.  */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dflash-bench/forward.h"
#include "dflash-bench/step.h"

enum {
    STEPS_CHECKED = 3
};

/* clang-format off */
static const struct {
    const char *name, *key;
    enum step_part part;
} parts[] = {
    {"attention", "attention_us", STEP_ATTENTION},
    {"head", "head_us", STEP_HEAD},
    {"optimizer", "optimizer_us", STEP_OPTIMIZER},
    {"sum", NULL, STEP_SUM},
    {"whole", NULL, STEP_WHOLE},
    {"graph", NULL, STEP_GRAPH},
};
/* clang-format on */

struct step_case {
    struct step s;
    struct bench *bench;
    struct bench_case *def;
    double *medians; /* [STEP_PARTS] of the parts so far; 0: not measured */
};

static df_status
open_step(void *arg)
{
    struct step_case *c = arg;

    DF_TRY(step_open(&c->s));
    if (c->def->unit)
        return DF_OK;
    c->def->bytes = c->s.bytes;
    if (c->s.part == STEP_OPTIMIZER)
        c->def->ceiling = CEILING_COPY;
    return DF_OK;
}

static void
close_step(void *arg)
{
    step_close(&((struct step_case *) arg)->s);
}

static df_status
run_step(void *arg, size_t calls, double *seconds)
{
    struct step *s = &((struct step_case *) arg)->s;

    return scene_time(&s->scene, step_queue, s, calls, seconds);
}

static bool
is_finite(const struct step_output *o, const void *data)
{
    for (size_t i = 0; i < o->n; i++) {
        double x =
            o->type == DF_F64 ? ((const double *) data)[i]
            : o->type == DF_F32
                ? (double) ((const float *) data)[i]
                : (double) df_f32_from_bf16(((const uint16_t *) data)[i]);

        if (!isfinite(x))
            return false;
    }
    return true;
}

/* What a few steps from the beginning make.  */
static df_status
compute(struct step *s, void **out)
{
    DF_TRY(step_reset(s));
    for (int i = 0; i < STEPS_CHECKED; i++)
        DF_TRY(step_queue(s, s->scene.stream));
    return scene_fetch(&s->scene, s->output.data,
                       s->output.n * df_dtype_size(s->output.type), out);
}

/* Each step makes both sides their sum: they double, being equal before.  */
static df_status
check_sum(struct step *s, const void *got)
{
    const float *sum = got;
    void *before;
    size_t wrong = 0;

    DF_TRY(step_reset(s));
    DF_TRY(scene_fetch(&s->scene, s->output.data, s->output.n * sizeof *sum,
                       &before));
    for (size_t i = 0; i < s->output.n; i++)
        wrong += sum[i] != ldexpf(((float *) before)[i], STEPS_CHECKED);
    free(before);
    if (wrong > 0)
        return DF_FAIL(DF_DEVICE, "%zu of %zu sums are wrong", wrong,
                       s->output.n);
    return DF_OK;
}

/* Every value is a number, and the same when it's done again.  */
static df_status
compare(struct step *s, const void *first)
{
    size_t bytes = s->output.n * df_dtype_size(s->output.type);
    void *again;
    bool same;

    if (!is_finite(&s->output, first))
        return DF_FAIL(DF_DEVICE, "a result is not finite");
    if (s->part == STEP_SUM)
        return check_sum(s, first);
    DF_TRY(compute(s, &again));
    same = memcmp(first, again, bytes) == 0;
    free(again);
    if (!same)
        return DF_FAIL(DF_DEVICE, "done again, it comes out differently");
    return DF_OK;
}

static df_status
check_step(void *arg, double *error)
{
    struct step_case *c = arg;
    struct step *s = &c->s;
    void *first;
    df_status status;

    DF_TRY(scene_count(&s->scene, step_queue, s, &s->flops));
    DF_TRY(compute(s, &first));
    status = compare(s, first);
    free(first);
    if (status == DF_OK)
        *error = 0;
    if (!c->def->unit && s->bytes <= 0) {
        c->def->flops = s->flops;
        c->def->ceiling = CEILING_PRODUCT;
    }
    return status;
}

/* What of the whole the parts before were.  */
static void
tell_parts(const struct step_case *c, struct result *r)
{
    double rest = r->s.median;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        double median = c->medians[parts[i].part];

        if (!parts[i].key || median <= 0)
            continue;
        result_part(r, parts[i].key, median * 1e6);
        rest -= median;
    }
    if (rest < r->s.median)
        result_part(r, "rest_us", rest * 1e6);
}

static void
finish_step(void *arg, struct result *r)
{
    struct step_case *c = arg;
    const struct step *s = &c->s;

    c->medians[s->part] = r->s.median;
    result_extra(r, "GiB", scene_gibibytes(&s->scene));
    if (!c->def->unit)
        return;
    r->ceiling = product_tokens(c->bench, s->dev, s->flops / r->amount);
    result_extra(r, "TFLOP/s", s->flops / r->s.median * 1e-12);
    tell_parts(c, r);
}

static df_status
measure(struct bench *b, struct df_device *dev, struct df_device *other,
        size_t part, double *medians)
{
    struct shape shape = workload_shape();
    struct step_case sc = {
        .s = {.w = b->workload,
              .dev = dev,
              .other = other,
              .shape = shape,
              .part = parts[part].part},
        .bench = b,
        .medians = medians
    };
    bool whole = sc.s.part == STEP_WHOLE || sc.s.part == STEP_GRAPH;
    char name[80];
    struct bench_case c = {.name = name,
                           .dev = dev,
                           .arg = &sc,
                           .unit = whole ? "tokens/s" : NULL,
                           .amount = (double) (shape.seqs * shape.length),
                           .open = open_step,
                           .close = close_step,
                           .run = run_step,
                           .check = check_step,
                           .finish = finish_step};

    sc.def = &c;
    snprintf(name, sizeof name, "%zux%zu/%s%s%s", shape.seqs, shape.length,
             parts[part].name, other != dev ? "/" : "",
             other != dev ? df_device_name(other) : "");
    return bench_case(b, &c);
}

/* Gradients come from the next device of the list.  */
static df_status
measure_device(struct bench *b, size_t i)
{
    struct df_device *dev = b->devices.devices[i];
    struct df_device *next = b->devices.devices[(i + 1) % b->devices.n];
    double medians[STEP_PARTS] = {0};

    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        if (parts[k].part == STEP_GRAPH && df_device_is_cpu(dev))
            continue;
        DF_TRY(measure(b, dev, parts[k].part == STEP_SUM ? next : dev, k,
                       medians));
    }
    return DF_OK;
}

df_status
bench_step(struct bench *b)
{
    DF_TRY(workload_open(b));
    for (size_t i = 0; i < b->devices.n; i++)
        DF_TRY(measure_device(b, i));
    return DF_OK;
}

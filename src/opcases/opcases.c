#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dflash/philox.h"
#include "opcases/opbuild.h"

enum {
    GUARD = 64, /* bytes after each buffer */
    GUARD_BYTE = 0xA5
};

static const size_t type_bytes[] = {
    [OPBUF_F32] = 4, [OPBUF_F64] = 8,   [OPBUF_BF16] = 2, [OPBUF_I32] = 4,
    [OPBUF_U64] = 8, [OPBUF_STATE] = 8, [OPBUF_SUMS] = 8,
};

/* ACT made plain.  */
static enum opbuf_type
type_on(const struct oprun *r, enum opbuf_type type)
{
    if (type != OPBUF_ACT)
        return type;
    return df_device_act(r->dev) == DF_F32 ? OPBUF_F32 : OPBUF_BF16;
}

/* The structs consist of 8-byte members: doubles first, then integers.  */
static bool
is_double(enum opbuf_type type, size_t i)
{
    return type == OPBUF_F64 || type == OPBUF_SUMS
           || (type == OPBUF_STATE && i < 2);
}

static void
put(void *image, enum opbuf_type type, size_t i, double value)
{
    if (type == OPBUF_F32)
        ((float *) image)[i] = (float) value;
    else if (type == OPBUF_BF16)
        ((uint16_t *) image)[i] = df_bf16_from_f32((float) value);
    else if (type == OPBUF_I32)
        ((int32_t *) image)[i] = (int32_t) value;
    else if (is_double(type, i))
        ((double *) image)[i] = value;
    else
        ((int64_t *) image)[i] = (int64_t) value;
}

static double
get(const void *image, enum opbuf_type type, size_t i)
{
    if (type == OPBUF_F32)
        return (double) ((const float *) image)[i];
    if (type == OPBUF_BF16)
        return (double) df_f32_from_bf16(((const uint16_t *) image)[i]);
    if (type == OPBUF_I32)
        return ((const int32_t *) image)[i];
    if (is_double(type, i))
        return ((const double *) image)[i];
    return (double) ((const int64_t *) image)[i];
}

double
op_value(const struct oprun *r, size_t b, size_t i)
{
    return get(r->bufs[b].before, r->bufs[b].type, i);
}

/* Number I of buffer number B: in [LOW, HIGH), exact in bf16.  */
static double
random_value(const struct oprun *r, size_t b, size_t i, double low,
             double high)
{
    struct df_philox p = df_philox(77, (uint32_t) i, (uint32_t) b,
                                   (uint32_t) r->c->op, r->c->flags);

    float v = (float) (low + (high - low) * (double) df_uniform(p.v[0]));
    return (double) df_f32_from_bf16(df_bf16_from_f32(v));
}

/* A new buffer, its image made but not yet on the device.  */
static struct opbuf *
new_buffer(struct oprun *r, const char *name, enum opbuf_type type, size_t n)
{
    struct opbuf *b = &r->bufs[r->n_bufs];

    if (r->status != DF_OK)
        return NULL;
    b->name = name;
    b->type = type_on(r, type);
    b->n = n;
    b->bytes = n * type_bytes[b->type];
    b->before = malloc(b->bytes + GUARD);
    b->after = malloc(b->bytes + GUARD);
    if (!b->before || !b->after) {
        r->status = DF_FAIL(DF_NO_MEMORY, "buffer %s", name);
        return NULL;
    }
    r->status =
        df_device_alloc(r->dev, DF_MEM_DEVICE, b->bytes + GUARD, &b->data);
    r->n_bufs++;
    memset(b->before, 0xFF, b->bytes); /* NaN in every type that has one */
    memset((char *) b->before + b->bytes, GUARD_BYTE, GUARD);
    return r->status == DF_OK ? b : NULL;
}

static void *
send(struct oprun *r, struct opbuf *b)
{
    if (!b)
        return NULL;
    r->status = df_copy(r->stream, b->data, b->before, b->bytes + GUARD);
    return b->data;
}

void *
op_input(struct oprun *r, const char *name, enum opbuf_type type, size_t n,
         double low, double high)
{
    struct opbuf *b = new_buffer(r, name, type, n);

    for (size_t i = 0; b && i < n; i++)
        put(b->before, b->type, i,
            random_value(r, (size_t) (b - r->bufs), i, low, high));
    if (b && b->type == OPBUF_I32) /* bf16 may have rounded up to HIGH */
        for (size_t i = 0; i < n; i++)
            if (((int32_t *) b->before)[i] >= (int32_t) high)
                ((int32_t *) b->before)[i] = (int32_t) high - 1;
    return send(r, b);
}

void *
op_filled(struct oprun *r, const char *name, enum opbuf_type type, size_t n,
          opfill_fn *f)
{
    struct opbuf *b = new_buffer(r, name, type, n);

    for (size_t i = 0; b && i < n; i++)
        put(b->before, b->type, i, f(r, i));
    return send(r, b);
}

void *
op_output(struct oprun *r, const char *name, enum opbuf_type type, size_t n)
{
    struct opbuf *b = new_buffer(r, name, type, n);

    if (b)
        b->output = true;
    return send(r, b);
}

void *
op_added_to(struct oprun *r, const char *name, enum opbuf_type type, size_t n)
{
    void *data = op_input(r, name, type, n, -1, 1);

    if (data)
        r->bufs[r->n_bufs - 1].output = true;
    return data;
}

df_status
oprun_new(struct oprun **out, const struct opcase *c, struct df_device *dev)
{
    struct oprun *r = calloc(1, sizeof *r);

    *out = NULL;
    if (!r)
        return DF_FAIL(DF_NO_MEMORY, "case");
    r->c = c;
    r->dev = dev;
    r->status = df_stream_new(&r->stream, dev, "case");
    switch (r->status == DF_OK ? c->op : DF_N_OPS) {
#define X(op, flow)       \
    case DF_OP_##op:      \
        op_build_##op(r); \
        break;
        DF_OPS(X)
#undef X
    case DF_N_OPS:
        break;
    }
    if (r->status == DF_OK)
        r->status = df_stream_sync(r->stream);
    df_status status = r->status;

    if (status == DF_OK)
        *out = r;
    else
        oprun_free(r);
    return status;
}

void
oprun_free(struct oprun *r)
{
    if (!r)
        return;
    df_stream_free(r->stream);
    for (size_t b = 0; b < r->n_bufs; b++) {
        df_device_free(r->dev, DF_MEM_DEVICE, r->bufs[b].data);
        free(r->bufs[b].before);
        free(r->bufs[b].after);
    }
    free(r);
}

df_status
oprun_queue(struct oprun *r, struct df_stream *stream)
{
    switch (r->c->op) {
#define X(op, flow)  \
    case DF_OP_##op: \
        return df_##op(stream, &r->args.op);
        DF_OPS(X)
#undef X
    case DF_N_OPS:
        break;
    }
    return DF_FAIL(DF_INVALID, "no such operation");
}

df_status
oprun_call(struct oprun *r)
{
    return oprun_queue(r, r->stream);
}

/* Elements between the rows of an output may stay as they were.  */
static df_status
check_buffer(const struct oprun *r, const struct opbuf *b)
{
    const unsigned char *before = b->before, *after = b->after;

    if (memcmp(before + b->bytes, after + b->bytes, GUARD) != 0)
        return DF_FAIL(DF_DEVICE, "%s: written beyond its end", b->name);
    if (!b->output && memcmp(before, after, b->bytes) != 0)
        return DF_FAIL(DF_DEVICE, "%s: an input was changed", b->name);
    for (size_t i = 0; b->output && i < b->n; i++)
        if (isnan(get(b->after, b->type, i))
            && !(r->c->flags & OPCASE_WIDE_ROWS))
            return DF_FAIL(DF_DEVICE, "%s[%zu] is NaN", b->name, i);
    return DF_OK;
}

df_status
oprun_finish(struct oprun *r)
{
    for (size_t b = 0; b < r->n_bufs; b++)
        DF_TRY(df_copy(r->stream, r->bufs[b].after, r->bufs[b].data,
                       r->bufs[b].bytes + GUARD));
    DF_TRY(df_stream_sync(r->stream));
    for (size_t b = 0; b < r->n_bufs; b++)
        DF_TRY(check_buffer(r, &r->bufs[b]));
    return DF_OK;
}

static double *
read_image(const struct opbuf *b, const void *image)
{
    double *values = malloc((b->n + 1) * sizeof *values);

    for (size_t i = 0; values && i < b->n; i++)
        values[i] = get(image, b->type, i);
    return values;
}

double *
oprun_before(const struct oprun *r, size_t b)
{
    return read_image(&r->bufs[b], r->bufs[b].before);
}

double *
oprun_after(const struct oprun *r, size_t b)
{
    return read_image(&r->bufs[b], r->bufs[b].after);
}

void
opcase_label(const struct opcase *c, char *text, size_t bytes)
{
    static const char *const flags[] = {" accumulate", " wide-rows", " noise",
                                        " plain", " check"};
    size_t n = (size_t) snprintf(text, bytes, "%s", df_op_name(c->op));
    size_t last = OPCASE_MAX_SIZES;

    while (last > 1 && c->d[last - 1] == 0)
        last--;
    for (size_t i = 0; i < last && n < bytes; i++)
        n += (size_t) snprintf(text + n, bytes - n, " %zu", c->d[i]);
    for (size_t i = 0; i < sizeof flags / sizeof *flags && n < bytes; i++)
        if (c->flags & 1u << i)
            n += (size_t) snprintf(text + n, bytes - n, "%s", flags[i]);
}

double
normalised_error(const double *wanted, const double *seen, size_t n)
{
    double error = 0, norm = 0;

    for (size_t i = 0; i < n; i++) {
        double d = wanted[i] - seen[i];

        if (isnan(wanted[i]) && isnan(seen[i]))
            continue; /* between the rows */
        error += d * d;
        norm += wanted[i] * wanted[i];
    }
    return error == 0 ? 0 : error / norm;
}

#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opcases/opbuild.h"

enum {
    GUARD = 64, /* bytes after each buffer */
    GUARD_BYTE = 0xA5,
    PIECE = 4 << 20 /* bytes of an input that are compared at a time */
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

/* A new buffer, not yet filled.  */
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
    b->moved = -1;
    r->status =
        df_device_alloc(r->dev, DF_MEM_DEVICE, b->bytes + GUARD, &b->data);
    r->n_bufs++;
    if (r->status == DF_OK)
        r->status =
            df_fill(r->stream, (char *) b->data + b->bytes, GUARD_BYTE, GUARD);
    return r->status == DF_OK ? b : NULL;
}

/* The same with an image to fill: of a part it has the whole's values.  */
static struct opbuf *
new_image(struct oprun *r, const char *name, enum opbuf_type type, size_t n)
{
    struct opbuf *b = new_buffer(r, name, type, n);

    if (!b)
        return NULL;
    b->before = malloc(b->bytes + 1);
    if (!b->before) {
        r->status = DF_FAIL(DF_NO_MEMORY, "buffer %s", name);
        return NULL;
    }
    if (r->like)
        op_fill_like(r, b);
    return b;
}

/* B may be NULL.  */
static void *
send(struct oprun *r, struct opbuf *b)
{
    if (!b)
        return NULL;
    r->status = df_copy(r->stream, b->data, b->before, b->bytes);
    return b->data;
}

void *
op_input(struct oprun *r, const char *name, enum opbuf_type type, size_t n,
         double low, double high)
{
    struct opbuf *b = new_image(r, name, type, n);

    if (b && !r->like)
        op_fill_random(r, b, low, high);
    return send(r, b);
}

void *
op_filled(struct oprun *r, const char *name, enum opbuf_type type, size_t n,
          opfill_fn *f)
{
    struct opbuf *b = new_image(r, name, type, n);

    if (b && !r->like)
        op_fill_with(r, b, f);
    return send(r, b);
}

/* All ones are NaN in every type that has one.  */
void *
op_output(struct oprun *r, const char *name, enum opbuf_type type, size_t n)
{
    struct opbuf *b = new_buffer(r, name, type, n);

    if (!b)
        return NULL;
    b->output = true;
    r->status = df_fill(r->stream, b->data, 0xFF, b->bytes);
    return b->data;
}

void *
op_added_to(struct oprun *r, const char *name, enum opbuf_type type, size_t n)
{
    void *data = op_input(r, name, type, n, -1, 1);

    if (data)
        r->bufs[r->n_bufs - 1].output = true;
    return data;
}

void
op_moves(struct oprun *r, size_t n)
{
    struct opbuf *b = &r->bufs[r->n_bufs - 1];

    if (r->status == DF_OK)
        b->moved = (double) (n * type_bytes[b->type]);
}

static void
build(struct oprun *r)
{
    switch (r->c->op) {
#define X(op, flow)       \
    case DF_OP_##op:      \
        op_build_##op(r); \
        break;
        DF_OPS(X)
#undef X
    case DF_N_OPS:
        break;
    }
}

df_status
oprun_new_part(struct oprun **out, const struct opcase *c,
               struct df_device *dev, const struct oprun *like, bool rows)
{
    struct oprun *r = calloc(1, sizeof *r);
    df_status status;

    *out = NULL;
    if (!r)
        return DF_FAIL(DF_NO_MEMORY, "case");
    r->c = c;
    r->dev = dev;
    r->like = like;
    r->rows = rows;
    r->status = df_stream_new(&r->stream, dev, "case");
    if (r->status == DF_OK)
        build(r);
    if (r->status == DF_OK)
        r->status = df_stream_sync(r->stream);
    status = r->status;
    if (status == DF_OK)
        *out = r;
    else
        oprun_free(r);
    return status;
}

df_status
oprun_new(struct oprun **out, const struct opcase *c, struct df_device *dev)
{
    return oprun_new_part(out, c, dev, NULL, false);
}

void
oprun_free(struct oprun *r)
{
    if (!r)
        return;
    df_stream_free(r->stream);
    for (size_t b = 0; b < r->n_bufs; b++) {
        df_device_free(r->dev, DF_MEM_DEVICE, r->bufs[b].data);
        if (r->bufs[b].after != r->bufs[b].before)
            free(r->bufs[b].after);
        free(r->bufs[b].before);
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

/* Piece by piece, so that no memory as large is needed.  */
static df_status
check_input(const struct oprun *r, const struct opbuf *b, char *piece)
{
    for (size_t at = 0; at < b->bytes; at += PIECE) {
        size_t n = b->bytes - at < PIECE ? b->bytes - at : (size_t) PIECE;

        DF_TRY(df_copy(r->stream, piece, (char *) b->data + at, n));
        DF_TRY(df_stream_sync(r->stream));
        if (memcmp(piece, (char *) b->before + at, n) != 0)
            return DF_FAIL(DF_DEVICE, "%s: an input was changed", b->name);
    }
    return DF_OK;
}

static df_status
check_guard(const struct oprun *r, const struct opbuf *b)
{
    unsigned char guard[GUARD];

    DF_TRY(df_copy(r->stream, guard, (char *) b->data + b->bytes, GUARD));
    DF_TRY(df_stream_sync(r->stream));
    for (size_t i = 0; i < GUARD; i++)
        if (guard[i] != GUARD_BYTE)
            return DF_FAIL(DF_DEVICE, "%s: written beyond its end", b->name);
    return DF_OK;
}

/* Elements between the rows of an output may stay as they were.  */
static df_status
bring_output(const struct oprun *r, struct opbuf *b)
{
    bool gaps = r->c->flags & (OPCASE_WIDE_ROWS | OPCASE_EVEN_ROWS);
    size_t nan;

    if (!b->after || b->after == b->before)
        b->after = malloc(b->bytes + 1);
    if (!b->after)
        return DF_FAIL(DF_NO_MEMORY, "buffer %s", b->name);
    DF_TRY(df_copy(r->stream, b->after, b->data, b->bytes));
    DF_TRY(df_stream_sync(r->stream));
    nan = gaps ? b->n : op_find_nan(b);
    if (nan < b->n)
        return DF_FAIL(DF_DEVICE, "%s[%zu] is NaN", b->name, nan);
    return DF_OK;
}

static df_status
check_buffer(struct oprun *r, struct opbuf *b, char *piece)
{
    DF_TRY(check_guard(r, b));
    if (b->output)
        return bring_output(r, b);
    b->after = b->before;
    return r->like ? DF_OK : check_input(r, b, piece);
}

df_status
oprun_finish(struct oprun *r)
{
    char *piece = malloc(PIECE);
    df_status status = piece ? df_stream_sync(r->stream)
                             : DF_FAIL(DF_NO_MEMORY, "a piece of an input");

    for (size_t b = 0; status == DF_OK && b < r->n_bufs; b++)
        status = check_buffer(r, &r->bufs[b], piece);
    free(piece);
    return status;
}

double *
oprun_before(const struct oprun *r, size_t b)
{
    return op_read(&r->bufs[b], r->bufs[b].before);
}

double *
oprun_after(const struct oprun *r, size_t b)
{
    return op_read(&r->bufs[b], r->bufs[b].after);
}

double
oprun_worst(const struct oprun *part, double *const *wanted)
{
    double worst = 0;

    for (size_t b = 0; b < part->n_bufs && !isnan(worst); b++) {
        double *seen = part->bufs[b].output ? op_read_whole(part, b) : NULL;
        double e = seen && wanted[b]
                       ? normalised_error(wanted[b], seen, part->bufs[b].n)
                       : (double) NAN;

        if (part->bufs[b].output && !(e <= worst))
            worst = e;
        free(seen);
    }
    return worst;
}

double
oprun_bytes(const struct oprun *r)
{
    double bytes = 0;

    for (size_t b = 0; b < r->n_bufs; b++) {
        const struct opbuf *buf = &r->bufs[b];

        bytes += buf->moved >= 0
                     ? buf->moved
                     : (double) buf->bytes * (buf->output + !!buf->before);
    }
    return bytes;
}

void
opcase_label(const struct opcase *c, char *text, size_t bytes)
{
    static const char *const flags[] = {" accumulate", " wide-rows",
                                        " noise",      " plain",
                                        " check",      " even-rows"};
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

/* Writing safetensors: the header first, then each tensor from where it
   lies, so that no image of the whole is ever built for a file.  */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_internal.h"
#include "base/json_internal.h"
#include "model/safetensors_internal.h"

enum {
    LENGTH_BYTES = 8,
    ALIGNMENT = 8
};

/* A tensor with what its definition implies.  */
struct piece {
    const struct df_tensor_def *def;
    size_t size;
};

struct plan {
    struct piece *pieces; /* in file order */
    size_t n;
    const char *name; /* of what is written, for messages */
    uint8_t *head;    /* length and padded header */
    size_t head_size;
    size_t total; /* bytes of the image */
};

/* Where an image goes.  */
typedef df_status put_fn(void *to, const void *data, size_t size);

/* The order of the reference library, so that the same tensors give the same
   bytes.  */
static int
by_dtype_and_name(const void *a, const void *b)
{
    const struct df_tensor_def *x = ((const struct piece *) a)->def;
    const struct df_tensor_def *y = ((const struct piece *) b)->def;

    if (x->dtype != y->dtype)
        return x->dtype > y->dtype ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Measure and order the tensors.  */
static df_status
plan_pieces(struct plan *plan, const struct df_safetensors_def *def)
{
    plan->pieces = calloc(def->n_tensors + 1, sizeof *plan->pieces);
    if (!plan->pieces)
        return DF_FAIL(DF_NO_MEMORY, "%s: %zu tensors", plan->name,
                       def->n_tensors);
    for (size_t i = 0; i < def->n_tensors; i++) {
        const struct df_tensor_def *t = &def->tensors[i];
        struct piece *piece = &plan->pieces[plan->n++];
        size_t count;

        piece->def = t;
        if (t->rank < 0 || t->rank > DF_TENSOR_MAX_RANK)
            return DF_FAIL(DF_INVALID, "%s: tensor %s: rank %d, at most %d",
                           plan->name, t->name, t->rank, DF_TENSOR_MAX_RANK);
        if (df_dtype_size(t->dtype) == 0)
            return DF_FAIL(DF_INVALID, "%s: tensor %s: no dtype %d",
                           plan->name, t->name, (int) t->dtype);
        if (!df_shape_measure(t->shape, t->rank, t->dtype, &count,
                              &piece->size)
            || __builtin_add_overflow(plan->total, piece->size, &plan->total))
            return DF_FAIL(DF_INVALID,
                           "%s: tensor %s: its shape is negative or overflows",
                           plan->name, t->name);
    }
    qsort(plan->pieces, plan->n, sizeof *plan->pieces, by_dtype_and_name);
    return DF_OK;
}

/* Put VALUE, which is consumed, under KEY, which must be new.  */
static df_status
set_new(const struct plan *plan, json_t *object, const char *key,
        json_t *value)
{
    if (json_object_get(object, key)) {
        json_decref(value);
        return DF_FAIL(DF_INVALID, "%s: %s is given twice", plan->name, key);
    }
    if (!value || json_object_set_new(object, key, value))
        return DF_FAIL(DF_INVALID, "%s: '%s' is not UTF-8, or no memory",
                       plan->name, key);
    return DF_OK;
}

static df_status
add_metadata(json_t *header, const struct plan *plan,
             const struct df_safetensors_def *def)
{
    json_t *metadata;

    if (def->n_metadata == 0)
        return DF_OK;
    metadata = json_object();
    DF_TRY(set_new(plan, header, "__metadata__", metadata));
    for (size_t i = 0; i < def->n_metadata; i++)
        DF_TRY(set_new(plan, metadata, def->metadata[i].key,
                       json_string(def->metadata[i].value)));
    return DF_OK;
}

/* The header's entry for PIECE, whose data begins at byte START of all
   data.  NULL when there is no memory.  */
static json_t *
describe(const struct piece *piece, size_t start)
{
    const struct df_tensor_def *t = piece->def;
    json_t *shape = json_array();

    for (int i = 0; i < t->rank; i++)
        if (json_array_append_new(shape, json_integer(t->shape[i]))) {
            json_decref(shape);
            return NULL;
        }
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", df_dtype_name(t->dtype),
                     "shape", shape, "data_offsets", (json_int_t) start,
                     (json_int_t) (start + piece->size));
}

static df_status
describe_all(json_t *header, const struct plan *plan,
             const struct df_safetensors_def *def)
{
    size_t start = 0;

    DF_TRY(add_metadata(header, plan, def));
    for (size_t i = 0; i < plan->n; i++) {
        const char *name = plan->pieces[i].def->name;

        if (strcmp(name, "__metadata__") == 0)
            return DF_FAIL(DF_INVALID, "%s: a tensor may not be called %s",
                           plan->name, name);
        DF_TRY(set_new(plan, header, name, describe(&plan->pieces[i], start)));
        start += plan->pieces[i].size;
    }
    return DF_OK;
}

/* Lay out the length, TEXT and the spaces that align the data.  */
static df_status
plan_head(struct plan *plan, const char *text)
{
    size_t len = strlen(text);
    size_t padded = (len + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

    if (padded > DF_SAFETENSORS_MAX_HEADER)
        return DF_FAIL(DF_INVALID,
                       "%s: header of %zu bytes, at most %d allowed",
                       plan->name, padded, DF_SAFETENSORS_MAX_HEADER);
    plan->head_size = LENGTH_BYTES + padded;
    plan->head = malloc(plan->head_size);
    if (!plan->head)
        return DF_FAIL(DF_NO_MEMORY, "%s: header of %zu bytes", plan->name,
                       padded);
    for (int i = 0; i < LENGTH_BYTES; i++)
        plan->head[i] = (uint8_t) ((uint64_t) padded >> 8 * i);
    memcpy(plan->head + LENGTH_BYTES, text, len);
    memset(plan->head + LENGTH_BYTES + len, ' ', padded - len);
    plan->total += plan->head_size;
    return DF_OK;
}

static void
plan_clear(struct plan *plan)
{
    free(plan->pieces);
    free(plan->head);
}

/* Decide every byte of the image but the tensors' own.  On failure PLAN is
   cleared already.  */
static df_status
plan_init(struct plan *plan, const char *name,
          const struct df_safetensors_def *def)
{
    json_t *header = json_object();
    char *text = NULL;
    df_status status;

    *plan = (struct plan){.name = name};
    status = plan_pieces(plan, def);
    if (status == DF_OK)
        status = describe_all(header, plan, def);
    if (status == DF_OK) {
        text = json_dumps(header, JSON_COMPACT);
        status = text
                     ? plan_head(plan, text)
                     : DF_FAIL(DF_NO_MEMORY, "header of %zu tensors", plan->n);
    }
    free(text);
    json_decref(header);
    if (status != DF_OK)
        plan_clear(plan);
    return status;
}

/* Hand the image to PUT, in order, without copying tensors.  */
static df_status
emit(const struct plan *plan, put_fn *put, void *to)
{
    DF_TRY(put(to, plan->head, plan->head_size));
    for (size_t i = 0; i < plan->n; i++)
        if (plan->pieces[i].size > 0)
            DF_TRY(put(to, plan->pieces[i].def->data, plan->pieces[i].size));
    return DF_OK;
}

static df_status
put_file(void *to, const void *data, size_t size)
{
    return df_file_writer_put(to, data, size);
}

df_status
df_safetensors_write(const char *path, const struct df_safetensors_def *def)
{
    struct df_file_writer writer;
    struct plan plan;
    df_status status;

    DF_TRY(plan_init(&plan, path, def));
    status = df_file_writer_open(&writer, path);
    if (status == DF_OK) {
        status = emit(&plan, put_file, &writer);
        status = df_file_writer_close(&writer, status);
    }
    plan_clear(&plan);
    return status;
}

struct fd_target {
    int fd;
    const char *name;
};

static df_status
put_fd(void *to, const void *data, size_t size)
{
    const struct fd_target *target = to;

    return df_write_all(target->fd, data, size, target->name);
}

df_status
df_safetensors_write_fd(int fd, const char *name,
                        const struct df_safetensors_def *def)
{
    struct fd_target target = {fd, name};
    struct plan plan;
    df_status status;

    DF_TRY(plan_init(&plan, name, def));
    status = emit(&plan, put_fd, &target);
    plan_clear(&plan);
    return status;
}

df_status
df_safetensors_size(size_t *out, const struct df_safetensors_def *def)
{
    struct plan plan;

    DF_TRY(plan_init(&plan, "safetensors image", def));
    *out = plan.total;
    plan_clear(&plan);
    return DF_OK;
}

static df_status
put_memory(void *to, const void *data, size_t size)
{
    uint8_t **at = to;

    memcpy(*at, data, size);
    *at += size;
    return DF_OK;
}

df_status
df_safetensors_pack(uint8_t **out, size_t *size,
                    const struct df_safetensors_def *def)
{
    struct plan plan;
    uint8_t *at;
    df_status status;

    *out = NULL;
    DF_TRY(plan_init(&plan, "safetensors image", def));
    *size = plan.total;
    at = malloc(plan.total);
    *out = at;
    status =
        at ? emit(&plan, put_memory, &at)
           : DF_FAIL(DF_NO_MEMORY, "%s: %zu bytes", plan.name, plan.total);
    plan_clear(&plan);
    return status;
}

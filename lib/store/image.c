/* Samples as safetensors images: the fields as tensors; index, id and, where
   it is known, batch as decimal numbers in the metadata.  */

#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_internal.h"
#include "store/stream_internal.h"

void
df_image_describe(struct df_image_def *out,
                  const struct df_capture_header *header,
                  const struct df_capture_sample *sample)
{
    static const char *const keys[] = {"index", "id", "batch"};
    const uint64_t values[] = {sample->index, sample->id, sample->batch};
    size_t n_keys = sample->batch == DF_NO_BATCH ? 2 : 3;
    struct df_field *fields = out->fields;
    size_t n = df_capture_fields(header, fields);

    for (size_t i = 0; i < n; i++) {
        out->shapes[i][0] = (int64_t) sample->n;
        out->shapes[i][1] = (int64_t) fields[i].cols;
        out->tensors[i] = (struct df_tensor_def){
            .name = fields[i].name,
            .dtype = fields[i].dtype,
            .rank = fields[i].rank,
            .shape = out->shapes[i],
            .data = df_field_get(&fields[i], sample),
        };
    }
    for (size_t i = 0; i < n_keys; i++) {
        snprintf(out->numbers[i], sizeof out->numbers[i], "%" PRIu64,
                 values[i]);
        out->metadata[i] = (struct df_metadata_def){keys[i], out->numbers[i]};
    }
    out->def =
        (struct df_safetensors_def){out->tensors, n, out->metadata, n_keys};
}

/* TEXT, the metadata KEY, as a number: decimal digits alone.  */
static df_status
read_number(const char *text, const char *key, const char *where,
            uint64_t *out)
{
    uint64_t x = 0;

    if (!text || !*text || strspn(text, "0123456789") != strlen(text))
        return DF_FAIL(DF_FORMAT, "%s: metadata %s is %.40s, not a number",
                       where, key, text ? text : "missing");
    for (; *text; text++)
        if (__builtin_mul_overflow(x, 10u, &x)
            || __builtin_add_overflow(x, (uint64_t) (*text - '0'), &x))
            return DF_FAIL(DF_FORMAT, "%s: metadata %s is above 2^64", where,
                           key);
    *out = x;
    return DF_OK;
}

static df_status
check_tensor(const struct df_tensor *t, const struct df_field *f, size_t n,
             const char *where)
{
    const int64_t wanted[2] = {(int64_t) n, (int64_t) f->cols};
    char a[80], b[80];

    if (t->dtype != f->dtype)
        return DF_FAIL(DF_FORMAT, "%s: %s is %s, not %s", where, f->name,
                       df_dtype_name(t->dtype), df_dtype_name(f->dtype));
    if (t->rank != f->rank || t->shape[0] != wanted[0]
        || (f->rank == 2 && t->shape[1] != wanted[1]))
        return DF_FAIL(DF_SHAPE, "%s: %s is %s, not %s", where, f->name,
                       df_shape_text(a, sizeof a, t->shape, t->rank),
                       df_shape_text(b, sizeof b, wanted, f->rank));
    return DF_OK;
}

/* The tensors must be the fields, and no others.  */
static df_status
check_tensors(const struct df_tensors *ts, const struct df_field *fields,
              size_t n_fields, size_t n, const char *where)
{
    const struct df_tensor *t;

    for (size_t i = 0; i < n_fields; i++) {
        DF_TRY(df_tensors_get(ts, fields[i].name, &t));
        DF_TRY(check_tensor(t, &fields[i], n, where));
    }
    for (size_t i = 0; i < df_tensors_count(ts); i++) {
        size_t k = 0;

        t = df_tensors_at(ts, i);
        while (k < n_fields && strcmp(fields[k].name, t->name) != 0)
            k++;
        if (k == n_fields)
            return DF_FAIL(DF_UNSUPPORTED, "%s: tensor %.60s isn't understood",
                           where, t->name);
    }
    return DF_OK;
}

static bool
must_move(const struct df_capture_scratch *scratch, const struct df_field *f,
          const struct df_tensor *t)
{
    bool in_place = scratch->view.data && df_field_is_states(f);

    return !in_place && t->size > 0
           && (uintptr_t) t->data % df_dtype_size(t->dtype) != 0;
}

/* Point OUT into the image, and copy what is misaligned there.  */
static df_status
place(struct df_capture_scratch *scratch, const struct df_field *fields,
      size_t n_fields, const char *where, struct df_capture_sample *out)
{
    uint64_t used = 0;

    for (int copying = 0; copying < 2; copying++) {
        for (size_t i = 0; i < n_fields; i++) {
            const struct df_tensor *t =
                df_tensors_find(scratch->tensors, fields[i].name);

            if (!must_move(scratch, &fields[i], t)) {
                df_field_set(&fields[i], out, t->data);
                continue;
            }
            if (copying) {
                uint8_t *to = scratch->room.data + used;

                df_tensor_copy(t, to);
                df_field_set(&fields[i], out, to);
            }
            used += (t->size + 63) / 64 * 64;
        }
        if (used == 0)
            return DF_OK;
        if (!copying)
            DF_TRY(df_room_fit(&scratch->room, used, where));
        used = 0;
    }
    return DF_OK;
}

df_status
df_image_parse(struct df_capture_scratch *scratch, const uint8_t *image,
               size_t size, const struct df_capture_header *header,
               const char *where, struct df_capture_sample *out)
{
    struct df_field fields[DF_MAX_FIELDS];
    size_t n_fields = df_capture_fields(header, fields);
    const struct df_tensors *ts;
    const struct df_tensor *t;

    *out = (struct df_capture_sample){0};
    scratch->image = image;
    scratch->image_size = size;
    DF_TRY(df_tensors_view(&scratch->tensors, image, size, where));
    ts = scratch->tensors;
    DF_TRY(read_number(df_tensors_metadata(ts, "index"), "index", where,
                       &out->index));
    DF_TRY(read_number(df_tensors_metadata(ts, "id"), "id", where, &out->id));
    out->batch = DF_NO_BATCH;
    if (df_tensors_metadata(ts, "batch"))
        DF_TRY(read_number(df_tensors_metadata(ts, "batch"), "batch", where,
                           &out->batch));
    DF_TRY(df_tensors_get(ts, "input_ids", &t));
    out->n = t->count;
    if (out->n > UINT32_MAX)
        return DF_FAIL(DF_FORMAT, "%s: a sample of %zu tokens", where, out->n);
    DF_TRY(check_tensors(ts, fields, n_fields, out->n, where));
    return place(scratch, fields, n_fields, where, out);
}

static df_status
peek(struct df_capture_entry *out, const json_t *object, const char *where)
{
    const json_t *metadata = json_object_get(object, "__metadata__");
    const json_t *shape =
        json_object_get(json_object_get(object, "input_ids"), "shape");
    json_int_t n = json_integer_value(json_array_get(shape, 0));

    if (json_array_size(shape) != 1 || n < 0 || n > UINT32_MAX)
        return DF_FAIL(DF_FORMAT, "%s: no input_ids of rank 1", where);
    out->n = (size_t) n;
    DF_TRY(read_number(json_string_value(json_object_get(metadata, "index")),
                       "index", where, &out->index));
    return read_number(json_string_value(json_object_get(metadata, "id")),
                       "id", where, &out->id);
}

df_status
df_image_peek(struct df_capture_entry *out, const char *text, size_t len,
              const char *where)
{
    json_t *object;
    df_status status;

    DF_TRY(df_json_parse(&object, text, len, where));
    status = peek(out, object, where);
    json_decref(object);
    return status;
}

/* The arrays of a sample as one table, which all formats go through.  */

#include <config.h>

#include <stdio.h>

#include "store/header_internal.h"

static void
add(struct df_field *f, const char *name, enum df_field_part part,
    enum df_dtype dtype, int rank, size_t cols)
{
    snprintf(f->name, sizeof f->name, "%s", name);
    f->part = part;
    f->k = 0;
    f->dtype = dtype;
    f->rank = rank;
    f->cols = cols;
    f->row_bytes = cols * df_dtype_size(dtype);
}

size_t
df_capture_fields(const struct df_capture_header *h,
                  struct df_field out[DF_MAX_FIELDS])
{
    bool split = h->layout == DF_CAPTURE_SPLIT;
    size_t H = h->hidden_size, n = 0;

    add(&out[n++], "input_ids", DF_FIELD_IDS, DF_I32, 1, 1);
    add(&out[n++], "loss_mask", DF_FIELD_MASK, DF_U8, 1, 1);
    if (!split)
        add(&out[n++], "hidden_states", DF_FIELD_HIDDEN, DF_BF16, 2, h->K * H);
    for (size_t k = 0; split && k < h->K; k++) {
        char name[32];

        snprintf(name, sizeof name, "hidden_states.%u", (unsigned) k);
        add(&out[n], name, DF_FIELD_HIDDEN, DF_BF16, 2, H);
        out[n++].k = k;
    }
    if (h->has_last_hidden)
        add(&out[n++], "last_hidden_state", DF_FIELD_LAST, DF_BF16, 2, H);
    if (h->has_checks)
        add(&out[n++], "checks", DF_FIELD_CHECKS, DF_U64, 2,
            df_head_checks(h));
    return n;
}

const void *
df_field_get(const struct df_field *field, const struct df_capture_sample *s)
{
    switch (field->part) {
    case DF_FIELD_IDS:
        return s->ids;
    case DF_FIELD_MASK:
        return s->loss_mask;
    case DF_FIELD_HIDDEN:
        return s->hidden[field->k];
    case DF_FIELD_LAST:
        return s->last;
    case DF_FIELD_CHECKS:
        return s->checks;
    }
    return NULL;
}

void
df_field_set(const struct df_field *field, struct df_capture_sample *s,
             const void *data)
{
    switch (field->part) {
    case DF_FIELD_IDS:
        s->ids = data;
        break;
    case DF_FIELD_MASK:
        s->loss_mask = data;
        break;
    case DF_FIELD_HIDDEN:
        s->hidden[field->k] = data;
        break;
    case DF_FIELD_LAST:
        s->last = data;
        break;
    case DF_FIELD_CHECKS:
        s->checks = data;
        break;
    }
}

uint64_t
df_capture_token_bytes(const struct df_capture_header *header)
{
    struct df_field fields[DF_MAX_FIELDS];
    size_t n = df_capture_fields(header, fields);
    uint64_t bytes = 0;

    for (size_t i = 0; i < n; i++)
        bytes += fields[i].row_bytes;
    return bytes;
}

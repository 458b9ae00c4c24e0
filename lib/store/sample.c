#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "store/sample_internal.h"

enum {
    ALIGNMENT = 64,
    PAGE = 2 << 20 /* a large one */
};

/* A large room is of large pages, if the system has them: it is written and
   read from end to end for every sample.  */
static uint8_t *
make_room(uint64_t size)
{
    uint8_t *data =
        aligned_alloc(size < PAGE ? (size_t) ALIGNMENT : PAGE, size);

    if (data && size >= PAGE)
        (void) !madvise(data, size, MADV_HUGEPAGE);
    return data;
}

df_status
df_room_fit(struct df_room *room, uint64_t size, const char *where)
{
    uint64_t unit = size < PAGE ? ALIGNMENT : PAGE;
    uint64_t wanted = (size / unit + 1) * unit;

    if (size <= room->size)
        return DF_OK;
    if (wanted > SIZE_MAX / 2)
        return DF_FAIL(DF_NO_MEMORY, "%s: a sample of %" PRIu64 " bytes",
                       where, size);
    free(room->data);
    room->size = 0;
    room->data = make_room(wanted);
    if (!room->data)
        return DF_FAIL(DF_NO_MEMORY, "%s: a sample of %" PRIu64 " bytes",
                       where, size);
    room->size = wanted;
    return DF_OK;
}

df_status
df_capture_scratch_new(struct df_capture_scratch **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? DF_OK : DF_FAIL(DF_NO_MEMORY, "scratch of a reader");
}

void
df_scratch_clear(struct df_capture_scratch *scratch)
{
    df_tensors_free(scratch->tensors);
    scratch->tensors = NULL;
    df_view_close(&scratch->view);
    scratch->image = NULL;
    scratch->image_size = 0;
    scratch->n_runs = 0;
}

void
df_capture_scratch_free(struct df_capture_scratch *scratch)
{
    if (!scratch)
        return;
    df_scratch_clear(scratch);
    free(scratch->room.data);
    free(scratch->incoming.data);
    free(scratch->rows.data);
    free(scratch->runs);
    free(scratch);
}

const struct df_capture_run *
df_capture_runs(const struct df_capture_scratch *scratch, size_t *n)
{
    *n = scratch->n_runs;
    return scratch->runs;
}

const uint8_t *
df_capture_image(const struct df_capture_scratch *scratch, size_t *size)
{
    *size = scratch->image_size;
    return scratch->image;
}

df_status
df_scratch_lay_out(struct df_capture_scratch *scratch,
                   const struct df_capture_header *h,
                   struct df_capture_sample *out, const char *where)
{
    struct df_field fields[DF_MAX_FIELDS];
    size_t n = df_capture_fields(h, fields);
    uint64_t at[DF_MAX_FIELDS], total = 0;

    if (out->n > UINT32_MAX)
        return DF_FAIL(DF_FORMAT, "%s: a sample of %zu tokens", where, out->n);
    for (size_t i = 0; i < n; i++) {
        at[i] = total;
        total += out->n * fields[i].row_bytes;
        total = (total + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    DF_TRY(df_room_fit(&scratch->room, total + 1, where));
    for (size_t i = 0; i < n; i++)
        df_field_set(&fields[i], out, scratch->room.data + at[i]);
    return DF_OK;
}

df_status
df_sample_check(const char *where, const struct df_capture_header *h,
                const struct df_capture_sample *s)
{
    struct df_field fields[DF_MAX_FIELDS];
    size_t n = df_capture_fields(h, fields);

    if (s->n > UINT32_MAX)
        return DF_FAIL(DF_INVALID, "%s: sample %" PRIu64 " has %zu tokens",
                       where, s->index, s->n);
    for (size_t i = 0; i < n; i++)
        if (s->n > 0 && !df_field_get(&fields[i], s))
            return DF_FAIL(DF_INVALID, "%s: sample %" PRIu64 " has no %s",
                           where, s->index, fields[i].name);
    return df_capture_sample_check(h, s, where);
}

df_status
df_capture_sample_check(const struct df_capture_header *h,
                        const struct df_capture_sample *s, const char *where)
{
    for (size_t t = 0; t < s->n; t++) {
        if (s->ids[t] < 0
            || (h->vocab_size && (size_t) s->ids[t] >= h->vocab_size))
            return DF_FAIL(DF_INVALID,
                           "%s: sample %" PRIu64
                           ": token %zu is %d, outside a vocabulary of %zu",
                           where, s->index, t, s->ids[t], h->vocab_size);
        if (s->loss_mask[t] > 1)
            return DF_FAIL(DF_INVALID,
                           "%s: sample %" PRIu64
                           ": loss mask of token %zu is %d, not 0 or 1",
                           where, s->index, t, s->loss_mask[t]);
    }
    return DF_OK;
}

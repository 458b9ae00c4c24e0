#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "dflash-bench/copy_buffers.h"
#include "dflash-bench/load.h"

static df_status
area_open(struct copy_area *a, size_t bytes)
{
    if (a->kind == MEMORY_PAGEABLE) {
        a->data = malloc(bytes);
        return a->data
                   ? DF_OK
                   : DF_FAIL(DF_NO_MEMORY, "no %zu bytes of memory", bytes);
    }
    return df_device_alloc(
        a->dev, a->kind == MEMORY_DEVICE ? DF_MEM_DEVICE : DF_MEM_HOST, bytes,
        &a->data);
}

static void
area_close(struct copy_area *a)
{
    if (a->kind == MEMORY_PAGEABLE)
        free(a->data);
    else if (a->dev)
        df_device_free(a->dev,
                       a->kind == MEMORY_DEVICE ? DF_MEM_DEVICE : DF_MEM_HOST,
                       a->data);
    a->data = NULL;
}

static bool
alike(const struct copy_area *a, const struct copy_area *b)
{
    return a->dev == b->dev && a->kind == b->kind;
}

void
copy_buffers_close(struct copy_buffers *b)
{
    for (size_t i = 0; i < COPY_MAX_LANES; i++) {
        area_close(&b->src[i]);
        area_close(&b->dst[i]);
    }
    *b = (struct copy_buffers){0};
}

static df_status
make(struct copy_buffers *b)
{
    for (size_t i = 0; i < b->lanes; i++) {
        DF_TRY(area_open(&b->src[i], b->bytes));
        DF_TRY(area_open(&b->dst[i], b->bytes));
        DF_TRY(
            fill_random(b->src[i].dev, b->src[i].data, DF_BF16, b->bytes / 2));
        DF_TRY(
            fill_random(b->dst[i].dev, b->dst[i].data, DF_BF16, b->bytes / 2));
    }
    return DF_OK;
}

df_status
copy_buffers_open(struct copy_buffers *b, const struct copy_area *src,
                  const struct copy_area *dst, size_t lanes, size_t bytes)
{
    bool same = b->lanes == lanes && b->bytes >= bytes;

    for (size_t i = 0; same && i < lanes; i++)
        same = alike(&b->src[i], &src[i]) && alike(&b->dst[i], &dst[i]);
    if (same)
        return DF_OK;
    copy_buffers_close(b);
    memcpy(b->src, src, lanes * sizeof *src);
    memcpy(b->dst, dst, lanes * sizeof *dst);
    b->lanes = lanes;
    b->bytes = bytes;
    df_status status = make(b);

    if (status != DF_OK)
        copy_buffers_close(b);
    return status;
}

df_status
copy_buffers_spoil(const struct copy_buffers *b, size_t at, size_t bytes)
{
    for (size_t i = 0; i < b->lanes; i++) {
        const struct copy_area *a = &b->dst[i];
        struct df_stream *stream;
        df_status status;

        if (a->kind != MEMORY_DEVICE) {
            memset((char *) a->data + at, 0xa5, bytes);
            continue;
        }
        DF_TRY(df_stream_new(&stream, a->dev, "spoil"));
        status = df_fill(stream, (char *) a->data + at, 0xa5, bytes);
        if (status == DF_OK)
            status = df_stream_sync(stream);
        df_stream_free(stream);
        DF_TRY(status);
    }
    return DF_OK;
}

/* BYTES at AT of A, brought to DST.  */
static df_status
bring(const struct copy_area *a, size_t at, void *dst, size_t bytes)
{
    struct df_stream *stream;
    df_status status;

    if (a->kind != MEMORY_DEVICE) {
        memcpy(dst, (char *) a->data + at, bytes);
        return DF_OK;
    }
    DF_TRY(df_stream_new(&stream, a->dev, "look"));
    status = df_copy(stream, dst, (char *) a->data + at, bytes);
    if (status == DF_OK)
        status = df_stream_sync(stream);
    df_stream_free(stream);
    return status;
}

df_status
copy_buffers_compare(const struct copy_buffers *b, size_t lane, size_t at,
                     size_t bytes)
{
    char *wanted = malloc(bytes), *seen = malloc(bytes);
    df_status status = wanted && seen
                           ? bring(&b->src[lane], at, wanted, bytes)
                           : DF_FAIL(DF_NO_MEMORY, "what was copied");

    if (status == DF_OK)
        status = bring(&b->dst[lane], at, seen, bytes);
    if (status == DF_OK && memcmp(wanted, seen, bytes) != 0)
        status = DF_FAIL(DF_DEVICE, "what arrived isn't what was sent");
    free(wanted);
    free(seen);
    return status;
}

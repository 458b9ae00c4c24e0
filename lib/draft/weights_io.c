/* A drafter's weights: at random, from a file, into a file.  */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/file_internal.h"
#include "draft/drafter_internal.h"
#include "base/normal_internal.h"
#include "base/transfer_internal.h"
#include "cpu/pool_internal.h"
#include "model/drafter_files_internal.h"
#include "model/upload_internal.h"

/* Numbers to draw, in tasks of a whole number of pairs.  */
struct drawing {
    float *w; /* [count] */
    size_t count;
    uint64_t key;
};

enum {
    DRAWN = 1 << 14 /* numbers a task draws */
};

/* Of df_pool_run.  */
static df_status
draw(void *arg, size_t task)
{
    const struct drawing *d = arg;
    size_t from = task * DRAWN;
    size_t end = d->count - from < DRAWN ? d->count : from + DRAWN;

    for (size_t i = from; i < end; i += 2) {
        float pair[2];

        df_normal_pair(d->key, i / 2, pair);
        d->w[i] = pair[0];
        if (i + 1 < end)
            d->w[i + 1] = pair[1];
    }
    return DF_OK;
}

/* Norms are 1, and gaps between parameters 0.  */
static void
set_constants(const struct df_drafter *d, float *w)
{
    size_t at = 0;

    for (size_t i = 0; i < d->n_params; i++) {
        const struct df_param *p = &d->params[i];

        while (at < p->offset)
            w[at++] = 0;
        for (size_t k = 0; p->spec.is_norm && k < p->count; k++)
            w[at + k] = 1;
        at += p->count;
    }
    while (at < d->flat.count)
        w[at++] = 0;
}

/* Number I of the flat array is the same one on any machine.  */
static df_status
fill_random(const struct df_drafter *d, float *w, uint64_t seed)
{
    struct drawing all = {w, d->flat.count, df_key(seed, DF_KEY_WEIGHTS)};
    df_status status;

    DF_TRY(df_pool_acquire());
    status = df_pool_run(draw, &all, (all.count + DRAWN - 1) / DRAWN);
    df_pool_release();
    set_constants(d, w);
    return status;
}

/* The copies that the passes compute with become W [count], of the host.  */
static df_status
upload(struct df_drafter *d, const float *w)
{
    struct df_tensor all = {.name = "weights",
                            .path = "drafter",
                            .dtype = DF_F32,
                            .count = d->flat.count,
                            .size = d->flat.count * sizeof *w,
                            .data = (const uint8_t *) (const void *) w};
    struct df_uploader up;
    df_status status = df_uploader_begin(&up, d->dev);

    if (status == DF_OK)
        status = df_upload_tensor(&up, d->act, &all);
    df_uploader_end(&up);
    return status;
}

/* Gradients, moments and counts of a drafter that begins anew.  */
static df_status
clear(struct df_drafter *d, struct df_stream *stream)
{
    size_t bytes = d->flat.count * sizeof *d->flat.g;

    DF_TRY(df_fill(stream, d->flat.g, 0, bytes));
    DF_TRY(df_fill(stream, d->flat.m, 0, bytes));
    DF_TRY(df_fill(stream, d->flat.v, 0, bytes));
    DF_TRY(df_fill(stream, d->flat.state, 0, sizeof *d->flat.state));
    return df_stream_sync(stream);
}

/* W [count] on the host becomes the weights; the rest begins anew.  */
static df_status
begin_with(struct df_drafter *d, const float *w)
{
    struct df_stream *stream;
    df_status status;

    if (d->frozen)
        return upload(d, w);
    DF_TRY(df_copy_now(d->dev, d->flat.w, w, d->flat.count * sizeof *w));
    DF_TRY(df_stream_new(&stream, d->dev, "begin"));
    status = clear(d, stream);
    df_stream_free(stream);
    if (status == DF_OK && d->act != d->flat.w)
        status = upload(d, w);
    return status;
}

df_status
df_drafter_init(struct df_drafter *d, uint64_t seed)
{
    float *w = malloc(d->flat.count * sizeof *w);
    df_status status;

    if (!w)
        return DF_FAIL(DF_NO_MEMORY, "%zu parameters", d->flat.count);
    status = fill_random(d, w, seed);
    if (status == DF_OK)
        status = begin_with(d, w);
    free(w);
    return status;
}

df_status
df_drafter_load(struct df_drafter *d, const struct df_tensors *ts)
{
    float *w = calloc(d->flat.count, sizeof *w);
    const struct df_tensor *t;
    df_status status;

    if (!w)
        return DF_FAIL(DF_NO_MEMORY, "%zu parameters", d->flat.count);
    status = df_drafter_check_tensors(&d->config, ts);
    for (size_t i = 0; i < d->n_params && status == DF_OK; i++) {
        status = df_tensors_get(ts, d->params[i].spec.name, &t);
        if (status == DF_OK)
            status = df_tensor_read_f32(t, w + d->params[i].offset);
    }
    if (status == DF_OK)
        status = begin_with(d, w);
    free(w);
    return status;
}

df_status
df_drafter_refresh(struct df_drafter *d)
{
    float *w;
    df_status status;

    if (d->act == d->flat.w)
        return DF_OK;
    DF_TRY(df_download(d->dev, d->flat.w, d->flat.count, &w));
    status = upload(d, w);
    free(w);
    return status;
}

static df_status
write_tensors(struct df_drafter *d, const float *w, const char *path)
{
    static const struct df_metadata_def format = {"format", "pt"};
    struct df_tensor_def *defs = calloc(d->n_params + 2, sizeof *defs);
    uint16_t *narrow = malloc(d->flat.count * sizeof *narrow);
    size_t n = d->n_params;
    df_status status = DF_OK;

    if (!defs || !narrow)
        status =
            DF_FAIL(DF_NO_MEMORY, "%s: %zu parameters", path, d->flat.count);
    for (size_t i = 0; i < d->n_params && status == DF_OK; i++) {
        const struct df_param *p = &d->params[i];

        df_convert_from_f32(narrow + p->offset, DF_BF16, w + p->offset,
                            p->count);
        defs[i] = (struct df_tensor_def){.name = p->spec.name,
                                         .dtype = DF_BF16,
                                         .rank = p->spec.rank,
                                         .shape = p->spec.shape,
                                         .data = narrow + p->offset};
    }
    if (status == DF_OK)
        status = df_drafter_add_copies(defs, &n, &d->form);
    if (status == DF_OK)
        status = df_safetensors_write(
            path, &(struct df_safetensors_def){defs, n, &format, 1});
    free(narrow);
    free(defs);
    return status;
}

df_status
df_drafter_set_form(struct df_drafter *d, const struct df_drafter_form *form)
{
    DF_TRY(df_drafter_form_check(&d->config, form, "drafter"));
    d->form = *form;
    return DF_OK;
}

df_status
df_drafter_save(struct df_drafter *d, const char *dir)
{
    char *path = df_path_join(dir, "model.safetensors");
    float *w = NULL;
    df_status status;

    if (!path)
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory for its name", dir);
    status = df_download(d->dev, d->flat.w, d->flat.count, &w);
    if (status == DF_OK)
        status = write_tensors(d, w, path);
    if (status == DF_OK)
        status = df_drafter_json_write(&d->config, &d->form, NULL, dir);
    free(w);
    free(path);
    return status;
}

/* A drafter's weights: at random, from a file, into a file.  */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/file_internal.h"
#include "draft/drafter_internal.h"
#include "base/normal_internal.h"
#include "base/transfer_internal.h"
#include "model/drafter_files_internal.h"
#include "model/upload_internal.h"

static void
fill_random(float *w, const struct df_param *p, uint64_t key)
{
    for (size_t i = 0; i < p->count; i++) {
        float pair[2];

        df_normal_pair(key, (p->offset + i) / 2, pair);
        w[i] = p->spec.is_norm ? 1 : pair[(p->offset + i) % 2];
    }
}

/* The copies that the passes compute with become W [count], of the host.  */
static df_status
upload(struct df_drafter *d, const float *w)
{
    struct df_uploader up;
    df_status status = df_uploader_begin(&up, d->dev, d->flat.count);

    if (status == DF_OK)
        status = df_upload_f32(&up, d->act, w, d->flat.count);
    df_uploader_end(&up);
    return status;
}

/* W [count] on the host becomes the weights; the rest begins anew.  */
static df_status
begin_with(struct df_drafter *d, const float *w)
{
    size_t bytes = d->flat.count * sizeof *w;
    void *zeros;
    df_status status;

    if (d->frozen)
        return upload(d, w);
    zeros = calloc(1, bytes);
    if (!zeros)
        return DF_FAIL(DF_NO_MEMORY, "%zu parameters", d->flat.count);
    status = df_copy_now(d->dev, d->flat.w, w, bytes);
    if (status == DF_OK)
        status = df_copy_now(d->dev, d->flat.g, zeros, bytes);
    if (status == DF_OK)
        status = df_copy_now(d->dev, d->flat.m, zeros, bytes);
    if (status == DF_OK)
        status = df_copy_now(d->dev, d->flat.v, zeros, bytes);
    if (status == DF_OK)
        status =
            df_copy_now(d->dev, d->flat.state, zeros, sizeof *d->flat.state);
    free(zeros);
    return status == DF_OK ? df_drafter_refresh(d) : status;
}

df_status
df_drafter_init(struct df_drafter *d, uint64_t seed)
{
    float *w = calloc(d->flat.count, sizeof *w);
    df_status status;

    if (!w)
        return DF_FAIL(DF_NO_MEMORY, "%zu parameters", d->flat.count);
    for (size_t i = 0; i < d->n_params; i++)
        fill_random(w + d->params[i].offset, &d->params[i],
                    df_key(seed, DF_KEY_WEIGHTS));
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

/* A drafter's folder: opened and checked, and written in another layout.  */

#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_internal.h"
#include "dflash/weights.h"
#include "model/drafter_files_internal.h"

enum {
    PIECE = 4096 /* elements looked at at a time */
};

struct df_drafter_files {
    struct df_drafter_config config;
    struct df_drafter_json json;
    struct df_tensors *tensors;
};

static df_status
check_finite(const struct df_tensor *t)
{
    struct df_tensor part = *t;
    size_t size = df_dtype_size(t->dtype);
    float values[PIECE];

    for (size_t at = 0; at < t->count; at += PIECE) {
        part.count = t->count - at < PIECE ? t->count - at : PIECE;
        part.size = part.count * size;
        part.data = t->data + at * size;
        DF_TRY(df_tensor_read_f32(&part, values));
        for (size_t i = 0; i < part.count; i++)
            if (!isfinite(values[i]))
                return DF_FAIL(DF_FORMAT,
                               "%s: element %zu of tensor %s is %g, no finite"
                               " number",
                               t->path, at + i, t->name, (double) values[i]);
    }
    return DF_OK;
}

static df_status
check_values(const struct df_tensors *ts)
{
    for (size_t i = 0; i < df_tensors_count(ts); i++) {
        const struct df_tensor *t = df_tensors_at(ts, i);

        if (df_dtype_is_float(t->dtype))
            DF_TRY(check_finite(t));
    }
    return DF_OK;
}

/* vLLM takes the mask token's row from such a file.  */
static df_status
check_side_files(const char *dir)
{
    static const char name[] = "mask_embedding.pt";
    char *path = df_path_join(dir, name);
    bool there = path && df_file_exists(path);

    free(path);
    return there ? DF_FAIL(DF_UNSUPPORTED,
                           "%s/%s: an embedding of its own for the mask"
                           " token is not supported",
                           dir, name)
                 : DF_OK;
}

static df_status
check_mask(const struct df_drafter_config *c,
           const struct df_model_config *target, const char *path)
{
    if (c->mask_token_id == target->pad_token_id)
        return DF_FAIL(DF_FORMAT,
                       "%s: mask_token_id is %d, and so is the target's"
                       " pad_token_id: a mask token of its own is wanted",
                       path, c->mask_token_id);
    return DF_OK;
}

static df_status
check_equal(const char *path, const char *key, int seen, int wanted)
{
    return seen == wanted
               ? DF_OK
               : DF_FAIL(DF_SHAPE, "%s: %s is %d, but the target's is %d",
                         path, key, seen, wanted);
}

/* That F can draft for TARGET.  */
static df_status
check_target(struct df_drafter_files *f,
             const struct df_drafter_target *target)
{
    struct df_drafter_config *c = &f->config;
    const struct df_model_config *t = target->config;
    const char *path = f->json.path;
    int last = c->target_layer_ids[c->n_target_layer_ids - 1];

    if (!t)
        return DF_OK;
    DF_TRY(
        check_equal(path, "hidden_size", c->d.hidden_size, t->d.hidden_size));
    DF_TRY(check_equal(path, "vocab_size", c->d.vocab_size, t->d.vocab_size));
    if (c->num_target_layers == 0) {
        if (last + 1 >= t->d.num_hidden_layers)
            return DF_FAIL(DF_FORMAT,
                           "%s: aux_hidden_state_layer_ids holds %d, not"
                           " within 1 and %d: the target has %d layers",
                           path, last + 1, t->d.num_hidden_layers - 1,
                           t->d.num_hidden_layers);
        c->num_target_layers = t->d.num_hidden_layers;
    }
    DF_TRY(check_equal(path, "num_target_layers", c->num_target_layers,
                       t->d.num_hidden_layers));
    DF_TRY(check_mask(c, t, path));
    return target->tensors ? df_drafter_check_copies(c, f->tensors, target)
                           : DF_OK;
}

/* Let config.json give the type that the parameters have.  */
static df_status
set_dtype(struct df_drafter_files *f)
{
    const struct df_tensor *t = df_tensors_find(f->tensors, "fc.weight");
    json_t *name = json_string(t->dtype == DF_BF16  ? "bfloat16"
                               : t->dtype == DF_F16 ? "float16"
                                                    : "float32");

    return json_object_set_new(f->json.flat, "dtype", name)
               ? DF_FAIL(DF_NO_MEMORY, "%s", f->json.path)
               : DF_OK;
}

df_status
df_drafter_files_open(struct df_drafter_files **out, const char *dir,
                      const struct df_drafter_target *target)
{
    struct df_drafter_files *f = calloc(1, sizeof *f);
    df_status status;

    *out = NULL;
    if (!f)
        return DF_FAIL(DF_NO_MEMORY, "%s", dir);
    status = df_drafter_json_load(&f->json, &f->config, dir);
    if (status == DF_OK)
        status = df_tensors_open(&f->tensors, dir);
    if (status == DF_OK)
        status = df_drafter_check_tensors(&f->config, f->tensors);
    if (status == DF_OK)
        status = check_side_files(dir);
    if (status == DF_OK)
        status = check_values(f->tensors);
    if (status == DF_OK)
        status = check_target(f, target);
    if (status == DF_OK)
        status = set_dtype(f);
    if (status == DF_OK)
        *out = f;
    else
        df_drafter_files_free(f);
    return status;
}

void
df_drafter_files_free(struct df_drafter_files *f)
{
    if (!f)
        return;
    df_drafter_json_free(&f->json);
    df_tensors_free(f->tensors);
    free(f);
}

const struct df_drafter_config *
df_drafter_files_config(const struct df_drafter_files *f)
{
    return &f->config;
}

const struct df_tensors *
df_drafter_files_tensors(const struct df_drafter_files *f)
{
    return f->tensors;
}

const char *
df_drafter_files_verifier(const struct df_drafter_files *f)
{
    return f->json.verifier;
}

/* Which of F's tensors FORM has, under DEFS; room for two more.  */
static df_status
list_tensors(const struct df_drafter_files *f,
             const struct df_drafter_form *form, struct df_tensor_def *defs,
             size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < df_tensors_count(f->tensors); i++) {
        const struct df_tensor *t = df_tensors_at(f->tensors, i);

        if (form->layout == DF_LAYOUT_ZLAB
            && (strcmp(t->name, DF_EMBEDDING_COPY) == 0
                || strcmp(t->name, DF_HEAD_COPY) == 0))
            continue;
        defs[(*n)++] = (struct df_tensor_def){.name = t->name,
                                              .dtype = t->dtype,
                                              .rank = t->rank,
                                              .shape = t->shape,
                                              .data = t->data};
    }
    return df_drafter_add_copies(defs, n, form);
}

static df_status
write_tensors(const struct df_drafter_files *f,
              const struct df_drafter_form *form, const char *dir)
{
    static const struct df_metadata_def format = {"format", "pt"};
    struct df_tensor_def *defs =
        calloc(df_tensors_count(f->tensors) + 2, sizeof *defs);
    char *path = df_path_join(dir, "model.safetensors");
    size_t n;
    df_status status;

    if (!defs || !path)
        status = DF_FAIL(DF_NO_MEMORY, "%s: no memory to write it", dir);
    else
        status = list_tensors(f, form, defs, &n);
    if (status == DF_OK)
        status = df_safetensors_write(
            path, &(struct df_safetensors_def){defs, n, &format, 1});
    free(path);
    free(defs);
    return status;
}

df_status
df_drafter_files_convert(const struct df_drafter_files *f,
                         const struct df_drafter_form *form, const char *dir)
{
    if (form->layout == DF_LAYOUT_SPECULATORS && !form->verifier
        && !f->json.verifier)
        return DF_FAIL(DF_INVALID,
                       "%s: doesn't name its target, which speculators'"
                       " layout does",
                       f->json.path);
    DF_TRY(df_drafter_form_check(&f->config, form, f->json.path));
    DF_TRY(write_tensors(f, form, dir));
    return df_drafter_json_write(&f->config, form, &f->json, dir);
}

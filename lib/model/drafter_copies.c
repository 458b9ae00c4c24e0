/* What speculators' layout copies of the target: embedding and head.  */

#include <config.h>

#include <string.h>

#include "model/config_internal.h"
#include "model/drafter_files_internal.h"

enum {
    PIECE = 4096 /* elements compared at a time */
};

/* The embedding and the head of TARGET; the head of a tied one is its
   embedding.  */
static df_status
find_originals(const struct df_drafter_target *target,
               const struct df_tensor **embed, const struct df_tensor **head)
{
    DF_TRY(df_model_find_outer(target->config, target->tensors, embed, head));
    if (!*head)
        *head = *embed;
    return DF_OK;
}

/* N elements from AT on of row ROW of T [., H] as bf16, which copies may have
   been narrowed to.  */
static df_status
read_row(const struct df_tensor *t, size_t row, size_t at, size_t n,
         uint16_t *out)
{
    struct df_tensor part = *t;
    size_t size = df_dtype_size(t->dtype), H = (size_t) t->shape[1];
    float wide[PIECE];

    part.data += (row * H + at) * size;
    part.count = n;
    part.size = n * size;
    DF_TRY(df_tensor_read_f32(&part, wide));
    df_convert_from_f32(out, DF_BF16, wide, n);
    return DF_OK;
}

static df_status
same_row(bool *same, const struct df_tensor *a, size_t i,
         const struct df_tensor *b, size_t k)
{
    uint16_t x[PIECE], y[PIECE];
    size_t H = (size_t) a->shape[1];

    *same = true;
    for (size_t at = 0; at < H && *same; at += PIECE) {
        size_t n = H - at < PIECE ? H - at : PIECE;

        DF_TRY(read_row(a, i, at, n, x));
        DF_TRY(read_row(b, k, at, n, y));
        *same = memcmp(x, y, n * sizeof *x) == 0;
    }
    return DF_OK;
}

/* That row i of COPY is row i of OF, or with T2D the i-th that it keeps.  */
static df_status
check_copy(const struct df_tensor *copy, const struct df_tensor *of,
           const struct df_tensor *t2d)
{
    size_t row = 0;
    bool same;

    for (size_t k = 0; k < (size_t) of->shape[0]; k++) {
        if (t2d && !t2d->data[k])
            continue;
        DF_TRY(same_row(&same, copy, row, of, k));
        if (!same)
            return DF_FAIL(DF_FORMAT,
                           "%s: row %zu of tensor %s differs from row %zu of"
                           " %s in %s",
                           copy->path, row, copy->name, k, of->name, of->path);
        row++;
    }
    return DF_OK;
}

df_status
df_drafter_check_copies(const struct df_drafter_config *c,
                        const struct df_tensors *ts,
                        const struct df_drafter_target *target)
{
    const struct df_tensor *embed, *head;
    const struct df_tensor *embed_copy =
        df_tensors_find(ts, DF_EMBEDDING_COPY);
    const struct df_tensor *head_copy = df_tensors_find(ts, DF_HEAD_COPY);

    DF_TRY(find_originals(target, &embed, &head));
    if (embed_copy)
        DF_TRY(check_copy(embed_copy, embed, NULL));
    if (head_copy)
        DF_TRY(check_copy(head_copy, head,
                          c->draft_vocab_size ? df_tensors_find(ts, "t2d")
                                              : NULL));
    return DF_OK;
}

/* T under another NAME.  */
static struct df_tensor_def
renamed(const struct df_tensor *t, const char *name)
{
    return (struct df_tensor_def){.name = name,
                                  .dtype = t->dtype,
                                  .rank = t->rank,
                                  .shape = t->shape,
                                  .data = t->data};
}

df_status
df_drafter_add_copies(struct df_tensor_def *defs, size_t *n,
                      const struct df_drafter_form *form)
{
    const struct df_tensor *embed, *head;
    bool has_embed = false, has_head = false;

    if (form->layout != DF_LAYOUT_SPECULATORS || !form->target.tensors)
        return DF_OK;
    for (size_t i = 0; i < *n; i++) {
        has_embed |= strcmp(defs[i].name, DF_EMBEDDING_COPY) == 0;
        has_head |= strcmp(defs[i].name, DF_HEAD_COPY) == 0;
    }
    DF_TRY(find_originals(&form->target, &embed, &head));
    if (!has_embed)
        defs[(*n)++] = renamed(embed, DF_EMBEDDING_COPY);
    if (!has_head)
        defs[(*n)++] = renamed(head, DF_HEAD_COPY);
    return DF_OK;
}

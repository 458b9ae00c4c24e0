#include <config.h>

#include "base/arena_internal.h"
#include "dflash/target.h"
#include "model/config_internal.h"
#include "model/upload_internal.h"

static void
layout(struct df_arena *a, void *owner)
{
    struct df_embeddings *e = owner;
    size_t size = df_dtype_size(df_device_act(a->dev));

    e->embed = df_arena_take(a, e->V * e->H, size);
    e->head = e->own_head ? df_arena_take(a, e->V * e->H, size) : e->embed;
}

df_status
df_embeddings_load(struct df_embeddings *out, const struct df_tensors *ts,
                   const struct df_model_config *config, struct df_device *dev,
                   bool with_head)
{
    const struct df_tensor *embed, *head;
    struct df_arena arena;
    struct df_uploader up;
    df_status status;

    *out = (struct df_embeddings){.dev = dev,
                                  .V = (size_t) config->d.vocab_size,
                                  .H = (size_t) config->d.hidden_size};
    DF_TRY(df_model_check_tensors(config, ts));
    DF_TRY(df_model_find_outer(config, ts, &embed, &head));
    out->own_head = head && with_head;
    DF_TRY(df_arena_make(&arena, dev, DF_MEM_DEVICE, layout, out));
    out->memory = arena.base;
    status = df_uploader_begin(&up, dev);
    if (status == DF_OK)
        status = df_upload_tensor(&up, out->embed, embed);
    if (status == DF_OK && out->own_head)
        status = df_upload_tensor(&up, out->head, head);
    df_uploader_end(&up);
    if (head && !with_head)
        out->head = NULL;
    if (status != DF_OK)
        df_embeddings_free(out);
    return status;
}

void
df_embeddings_free(struct df_embeddings *e)
{
    if (e->memory)
        df_device_free(e->dev, DF_MEM_DEVICE, e->memory);
    *e = (struct df_embeddings){0};
}

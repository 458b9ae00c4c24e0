#include <config.h>

#include "common/answer.h"

static void
add_stop(struct stop_list *list, int32_t id)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->ids[i] == id)
            return;
    if (id >= 0)
        list->ids[list->n++] = id;
}

void
model_stops(const struct model *m, struct stop_list *out)
{
    out->n = 0;
    for (int i = 0; i < m->config.n_eos_token_ids; i++)
        add_stop(out, m->config.eos_token_ids[i]);
    add_stop(out, model_special(m, "eos"));
}

df_status
answerer_open(struct answerer *a, const struct model *m, struct df_device *dev,
              const struct df_generator_options *options)
{
    struct df_batch_limits limits = df_generator_limits(options, 1);

    DF_TRY(
        df_embeddings_load(&a->embeddings, m->tensors, &m->config, dev, true));
    DF_TRY(df_target_new(&a->target, &m->config, m->tensors, &a->embeddings,
                         &limits, m->config.d.num_hidden_layers - 1));
    DF_TRY(df_stream_new(&a->stream, dev, "generate"));
    DF_TRY(
        df_generator_new(&a->generator, a->target, NULL, a->stream, options));
    return df_generator_warm_up(a->generator);
}

void
answerer_close(struct answerer *a)
{
    df_generator_free(a->generator);
    df_stream_free(a->stream);
    df_target_free(a->target);
    df_embeddings_free(&a->embeddings);
    *a = (struct answerer){0};
}

/* Going on from a drafter: it says what this one is like, and what the
   options say besides must be the same.  */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "dflash-train/options.h"
#include "dflash-train/session.h"

/* The drafter of --init-from; when resuming, that of the checkpoint, as the
   other folder has served.  */
static df_status
open_drafter(struct session *s, struct df_drafter_config *out)
{
    const struct df_drafter_target target = {&s->model.config,
                                             s->model.tensors};

    if (s->resume_from)
        return df_drafter_config_load(out, s->resume_from);
    DF_TRY(df_drafter_files_open(&s->init, opt.init_from, &target));
    *out = *df_drafter_files_config(s->init);
    return DF_OK;
}

static df_status
check_limits(const struct df_drafter_config *c)
{
    if (c->draft_vocab_size)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: draft_vocab_size is %d of %d: training with a "
                       "vocabulary of its own is not supported",
                       opt.init_from, c->draft_vocab_size, c->d.vocab_size);
    if (c->block_size > DF_MAX_BLOCK)
        return DF_FAIL(DF_UNSUPPORTED, "%s: block_size is %d, above %d",
                       opt.init_from, c->block_size, DF_MAX_BLOCK);
    if (c->n_target_layer_ids > DF_MAX_LAYER_IDS)
        return DF_FAIL(DF_UNSUPPORTED, "%s: of %d target layers, above %d",
                       opt.init_from, c->n_target_layer_ids, DF_MAX_LAYER_IDS);
    return DF_OK;
}

/* "1,2,3" into TEXT of SIZE bytes.  */
static const char *
ids_text(char *text, size_t size, const int *ids, size_t n)
{
    size_t at = 0;

    *text = '\0';
    for (size_t i = 0; i < n && at < size; i++)
        at += (size_t) snprintf(text + at, size - at, "%s%d", i ? "," : "",
                                ids[i]);
    return text;
}

/* LAYERS are those of the captures or of the command line, if any.  */
static bool
same_layers(const struct df_drafter_config *c, const struct layer_list *layers)
{
    return (size_t) c->n_target_layer_ids == layers->n
           && memcmp(c->target_layer_ids, layers->ids,
                     layers->n * sizeof *layers->ids)
                  == 0;
}

static df_status
check_options_given(const struct session *s, const struct df_drafter_config *c)
{
    int block = option_given(&train_tool, &opt.block_size)
                    ? (int) opt.block_size
                    : c->block_size;
    int mask = option_given(&train_tool, &opt.mask_token_id)
                   ? (int) opt.mask_token_id
                   : c->mask_token_id;

    if (c->block_size != block || c->mask_token_id != mask)
        return DF_FAIL(DF_SHAPE,
                       "%s: trained with block size %d and mask token %d, "
                       "not %d and %d",
                       opt.init_from, c->block_size, c->mask_token_id, block,
                       mask);
    if (option_given(&train_tool, &input.num_draft_layers)
        && c->d.num_hidden_layers != input.num_draft_layers)
        return DF_FAIL(DF_SHAPE, "%s: of %d layers, not %ld", opt.init_from,
                       c->d.num_hidden_layers, input.num_draft_layers);
    if (s->layers.n > 0 && !same_layers(c, &s->layers)) {
        char seen[64], wanted[64];

        return DF_FAIL(
            DF_SHAPE, "%s: trained on other layers of the target: %s, not %s",
            opt.init_from,
            ids_text(seen, sizeof seen, c->target_layer_ids,
                     (size_t) c->n_target_layer_ids),
            ids_text(wanted, sizeof wanted, s->layers.ids, s->layers.n));
    }
    return DF_OK;
}

df_status
follow_init_from(struct session *s)
{
    struct df_drafter_config *c = &s->drafter;

    if (s->layers.n == 0 && input.target_layer_ids.count > 0)
        model_layers(&s->model, &train_tool, &s->layers);
    DF_TRY(open_drafter(s, c));
    DF_TRY(check_limits(c));
    DF_TRY(check_options_given(s, c));
    opt.block_size = c->block_size;
    input.num_draft_layers = c->d.num_hidden_layers;
    s->layers.n = (size_t) c->n_target_layer_ids;
    memcpy(s->layers.ids, c->target_layer_ids,
           s->layers.n * sizeof *s->layers.ids);
    return DF_OK;
}

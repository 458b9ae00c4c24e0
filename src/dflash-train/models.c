/* Devices, target, tokenizer, and the drafter that follows from them.  */
#include <config.h>

#include "dflash-train/options.h"
#include "dflash-train/session.h"

/* Whether TOKEN is the padding or the end of a sequence.  */
static bool
is_special(const struct session *s, int32_t token)
{
    const struct df_model_config *c = &s->model.config;
    bool is_end = token == model_special(&s->model, "eos");

    for (int i = 0; i < c->n_eos_token_ids; i++)
        is_end |= token == c->eos_token_ids[i];
    return is_end || token == c->pad_token_id
           || token == model_special(&s->model, "pad");
}

/* The token of the masked slots: as told, the tokenizer's own, or a row of
   the embedding that no token uses; never one that means something else
   without a word.  */
static df_status
choose_mask(const struct session *s, int32_t *out)
{
    int32_t rows = s->model.config.d.vocab_size;
    int32_t size = model_tokens(&s->model);

    *out = (int32_t) opt.mask_token_id;
    if (opt.mask_token_id >= rows)
        option_reject(&train_tool, &opt.mask_token_id,
                      "%ld, but the embedding of %s has %d rows",
                      opt.mask_token_id, input.target, rows);
    if (*out >= 0) {
        if (is_special(s, *out))
            option_reject(&train_tool, &opt.mask_token_id,
                          "%ld is also the padding or the end of a sequence "
                          "of %s: a token of its own is wanted",
                          opt.mask_token_id, input.target);
        return DF_OK;
    }
    *out = model_special(&s->model, "mask");
    if (*out >= 0 && is_special(s, *out))
        *out = -1;
    if (!s->model.tokenizer) /* of random rows, one is as good as another */
        *out = rows - 1;
    if (*out < 0 && size < rows)
        *out = size;
    if (*out < 0 || *out >= rows || is_special(s, *out))
        return DF_FAIL(DF_INVALID,
                       "%s: no mask token in the tokenizer and no unused row "
                       "in the embedding (%d rows, %d tokens): choose one "
                       "with --mask-token-id",
                       input.target, rows, size);
    return DF_OK;
}

df_status
open_models(struct session *s)
{
    if (!from_captures())
        DF_TRY(places_parse(&s->places, &s->targets, &train_tool,
                            &input.target_devices, input.target_devices,
                            PLACE_TARGET));
    DF_TRY(places_parse(&s->places, &s->drafters, &train_tool,
                        &opt.drafter_devices, opt.drafter_devices,
                        PLACE_DRAFTER));
    return model_open(&s->model);
}

/* A new drafter.  */
static df_status
design_drafter(struct session *s)
{
    int32_t mask;

    if (s->layers.n == 0)
        model_layers(&s->model, &train_tool, &s->layers);
    DF_TRY(choose_mask(s, &mask));
    DF_TRY(df_drafter_config_from_target(
        &s->drafter, &s->model.config, (int) input.num_draft_layers,
        s->layers.ids, (int) s->layers.n, (int) opt.block_size, mask));
    return DF_OK;
}

df_status
describe_drafter(struct session *s)
{
    DF_TRY(opt.init_from ? follow_init_from(s) : design_drafter(s));
    s->limits =
        (struct df_batch_limits){.max_tokens = (size_t) input.token_budget,
                                 .max_seqs = (size_t) input.max_batch_size,
                                 .max_seqlen = (size_t) input.max_length,
                                 .num_anchors = (size_t) opt.num_anchors,
                                 .block_size = (size_t) opt.block_size,
                                 .mask_token_id = s->drafter.mask_token_id,
                                 .whole_blocks_only = opt.whole_blocks};
    return DF_OK;
}

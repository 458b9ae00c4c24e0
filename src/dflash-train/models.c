/* Devices, target, tokenizer, and the drafter that follows from them.  */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "dflash-train/options.h"
#include "dflash-train/session.h"
#include "dflash/weights.h"

/* The device NAME, opened once however often it is named.  */
static df_status
device(struct session *s, const char *name, struct df_device **out)
{
    if (strcmp(name, "cpu") == 0)
        name = "cpu:0";
    for (size_t i = 0; i < s->n_devices; i++)
        if (strcmp(df_device_name(s->devices[i]), name) == 0) {
            *out = s->devices[i];
            return DF_OK;
        }
    if (s->n_devices == MAX_PLACES)
        return DF_FAIL(DF_INVALID, "more than %d devices", MAX_PLACES);
    DF_TRY(df_device_open(out, name));
    s->devices[s->n_devices++] = *out;
    return DF_OK;
}

static df_status
parse_devices(struct session *s, const void *option, const char *list,
              struct df_device **out, size_t *n)
{
    char *copy = strdup(strcmp(list, "auto") == 0 ? "cpu" : list);
    char *rest = copy, *name;
    df_status status = DF_OK;

    if (!copy)
        return DF_FAIL(DF_NO_MEMORY, "a list of devices");
    while (status == DF_OK && (name = strsep(&rest, ","))) {
        if (*n == MAX_PLACES)
            option_reject(&train_tool, option, "more than %d devices",
                          MAX_PLACES);
        status = device(s, name, &out[*n]);
        if (status == DF_INVALID)
            option_reject(&train_tool, option, "%s", df_error_last()->message);
        ++*n;
    }
    free(copy);
    return status;
}

/* The token of the masked slots: as told, the tokenizer's own, or a row of
   the embedding that no token uses; never one that means something else
   without a word.  */
static df_status
choose_mask(const struct session *s, int32_t *out)
{
    int32_t rows = s->config.d.vocab_size;
    int32_t size = df_tokenizer_size(s->tokenizer);

    *out = (int32_t) opt.mask_token_id;
    if (opt.mask_token_id >= rows)
        option_reject(&train_tool, &opt.mask_token_id,
                      "%ld, but the embedding of %s has %d rows",
                      opt.mask_token_id, opt.target, rows);
    if (*out >= 0) {
        if (*out == s->config.pad_token_id
            || *out == df_tokenizer_special(s->tokenizer, "eos")
            || *out == df_tokenizer_special(s->tokenizer, "pad"))
            message_warn("mask token %d is also the padding or the end of a "
                         "sequence: acceptance will suffer",
                         *out);
        return DF_OK;
    }
    *out = df_tokenizer_special(s->tokenizer, "mask");
    if (*out < 0 && size < rows)
        *out = size;
    if (*out < 0 || *out >= rows)
        return DF_FAIL(DF_INVALID,
                       "%s: no mask token in the tokenizer and no unused row "
                       "in the embedding (%d rows, %d tokens): choose one "
                       "with --mask-token-id",
                       opt.target, rows, size);
    return DF_OK;
}

/* Check --target-layer-ids where a range can't.  */
static void
check_layer_ids(const struct session *s, int *ids)
{
    const struct int_list *l = &opt.target_layer_ids;

    for (size_t i = 0; i < l->count; i++) {
        if (l->items[i] >= s->config.d.num_hidden_layers)
            option_reject(&train_tool, l,
                          "layer %ld, but %s has layers 0 to %d",
                          (long) l->items[i], opt.target,
                          s->config.d.num_hidden_layers - 1);
        if (i > 0 && l->items[i] == l->items[i - 1])
            option_reject(&train_tool, l, "layer %ld twice",
                          (long) l->items[i]);
        if (i > 0 && l->items[i] < l->items[i - 1])
            option_reject(&train_tool, l, "layer %ld behind layer %ld",
                          (long) l->items[i], (long) l->items[i - 1]);
        ids[i] = (int) l->items[i];
    }
    if (l->count > DF_MAX_LAYER_IDS)
        option_reject(&train_tool, l, "more than %d layers", DF_MAX_LAYER_IDS);
}

static df_status
describe_drafter(struct session *s)
{
    int ids[DF_MAX_LAYERS];
    int32_t mask;
    size_t n = opt.target_layer_ids.count;

    check_layer_ids(s, ids);
    if (n == 0
        && df_target_layer_ids_default(s->config.d.num_hidden_layers,
                                       (int) opt.num_draft_layers, ids)
               != DF_OK)
        option_reject(&train_tool, &opt.num_draft_layers,
                      "the %d layers of %s are too few for %ld: give less, or "
                      "name layers with --target-layer-ids",
                      s->config.d.num_hidden_layers, opt.target,
                      opt.num_draft_layers);
    DF_TRY(choose_mask(s, &mask));
    DF_TRY(df_drafter_config_from_target(
        &s->drafter, &s->config, (int) opt.num_draft_layers, n ? ids : NULL,
        (int) n, (int) opt.block_size, mask));
    s->limits =
        (struct df_batch_limits){.max_tokens = (size_t) opt.token_budget,
                                 .max_seqs = (size_t) opt.max_batch_size,
                                 .max_seqlen = (size_t) opt.max_length,
                                 .num_anchors = (size_t) opt.num_anchors,
                                 .block_size = (size_t) opt.block_size,
                                 .mask_token_id = mask,
                                 .whole_blocks_only = opt.whole_blocks};
    return DF_OK;
}

static df_status
check_vocabulary(const struct session *s)
{
    int32_t size = df_tokenizer_size(s->tokenizer);

    if (size > s->config.d.vocab_size)
        return DF_FAIL(DF_SHAPE,
                       "%s: the tokenizer has %d tokens, but the embedding "
                       "only %d rows",
                       opt.target, size, s->config.d.vocab_size);
    return DF_OK;
}

df_status
open_models(struct session *s)
{
    DF_TRY(parse_devices(s, &opt.target_devices, opt.target_devices,
                         s->targets, &s->n_targets));
    DF_TRY(parse_devices(s, &opt.drafter_devices, opt.drafter_devices,
                         s->drafters, &s->n_drafters));
    DF_TRY(df_model_config_load(&s->config, opt.target));
    DF_TRY(df_tensors_open(&s->tensors, opt.target));
    if (df_tensors_unindexed(s->tensors) > 0)
        message_warn("%s: %zu tensors that are not in the index are left out",
                     opt.target, df_tensors_unindexed(s->tensors));
    DF_TRY(df_model_check_tensors(&s->config, s->tensors));
    DF_TRY(df_tokenizer_open(&s->tokenizer, opt.target));
    DF_TRY(check_vocabulary(s));
    return describe_drafter(s);
}

/* What must not change when a run is resumed.  */
#include <config.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "dflash-train/captures.h"
#include "dflash-train/options.h"
#include "dflash-train/output.h"

static json_t *
layer_ids(const struct df_drafter_config *c)
{
    json_t *list = json_array();

    for (int i = 0; i < c->n_target_layer_ids; i++)
        json_array_append_new(list, json_integer(c->target_layer_ids[i]));
    return list;
}

static void
add_options(json_t *o)
{
    json_object_set_new(o, "num-draft-layers",
                        json_integer(input.num_draft_layers));
    json_object_set_new(o, "block-size", json_integer(opt.block_size));
    json_object_set_new(o, "num-anchors", json_integer(opt.num_anchors));
    json_object_set_new(o, "whole-blocks", json_boolean(opt.whole_blocks));
    json_object_set_new(o, "train-on",
                        json_string(turn_names[input.train_on]));
    json_object_set_new(o, "max-length", json_integer(input.max_length));
    json_object_set_new(o, "token-budget", json_integer(input.token_budget));
    json_object_set_new(o, "max-batch-size",
                        json_integer(input.max_batch_size));
    json_object_set_new(o, "loss", json_string(loss_names[opt.loss]));
    json_object_set_new(o, "loss-decay-gamma",
                        json_real(opt.loss_decay_gamma));
    json_object_set_new(o, "dpace-alpha", json_real(opt.dpace_alpha));
    json_object_set_new(o, "noise", json_real(opt.noise));
    json_object_set_new(o, "learning-rate", json_real(opt.learning_rate));
    json_object_set_new(o, "warmup-ratio", json_real(opt.warmup_ratio));
    json_object_set_new(o, "max-grad-norm", json_real(opt.max_grad_norm));
    json_object_set_new(o, "weight-decay", json_real(opt.weight_decay));
    json_object_set_new(o, "seed", json_integer(input.seed));
}

static void
add_hash(json_t *o, const char *key, uint64_t hash)
{
    char text[24];

    snprintf(text, sizeof text, "%016llx", (unsigned long long) hash);
    json_object_set_new(o, key, json_string(text));
}

static void
add_run(json_t *o, const struct session *s)
{
    add_hash(o, "target config", s->model.config.hash);
    add_hash(o, "tokenizer", model_tokenizer_hash(&s->model));
    json_object_set_new(o, "hidden-size",
                        json_integer(s->model.config.d.hidden_size));
    json_object_set_new(o, "vocabulary",
                        json_integer(s->model.config.d.vocab_size));
    json_object_set_new(o, "mask-token-id",
                        json_integer(s->drafter.mask_token_id));
    json_object_set_new(o, "target-layer-ids", layer_ids(&s->drafter));
    if (s->captures)
        add_hash(o, "captures", captures_hash(s->captures));
    json_object_set_new(o, "samples",
                        json_integer((json_int_t) s->train_set.n));
    json_object_set_new(o, "tokens",
                        json_integer((json_int_t) s->train_set.tokens));
    json_object_set_new(
        o, "accumulate times the drafters",
        json_integer((json_int_t) s->drafters.n * opt.accumulate));
    json_object_set_new(o, "steps of epochs and max-steps",
                        json_integer(s->steps));
}

static char *
options_as_text(void)
{
    char *text = NULL;
    size_t size;
    FILE *fp = open_memstream(&text, &size);

    if (!fp)
        return NULL;
    dump_options(&train_tool, fp);
    return fclose(fp) ? NULL : text;
}

df_status
describe_identity(struct session *s)
{
    json_t *o = json_object();

    add_options(o);
    add_run(o, s);
    s->identity = json_dumps(o, JSON_REAL_PRECISION(17));
    json_decref(o);
    s->notes = options_as_text();
    if (!s->identity || !s->notes)
        return DF_FAIL(DF_NO_MEMORY, "the options as text");
    return DF_OK;
}

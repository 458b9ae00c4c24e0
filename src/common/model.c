#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "common/input.h"
#include "common/message.h"
#include "common/model.h"
#include "dflash/drafter_config.h"
#include "dflash/weights.h"

/* M as the user knows it.  */
static const char *
called(const struct model *m)
{
    return input.target ? input.target : m->name;
}

/* Check --target-layer-ids where a range can't.  */
static void
check_layer_ids(const struct model *m, const struct tool *tool)
{
    const struct int_list *l = &input.target_layer_ids;

    if (l->count > DF_MAX_LAYER_IDS)
        option_reject(tool, l, "more than %d layers", DF_MAX_LAYER_IDS);
    for (size_t i = 0; i < l->count; i++) {
        if (l->items[i] >= m->config.d.num_hidden_layers)
            option_reject(tool, l, "layer %ld, but %s has layers 0 to %d",
                          (long) l->items[i], called(m),
                          m->config.d.num_hidden_layers - 1);
        if (i > 0 && l->items[i] == l->items[i - 1])
            option_reject(tool, l, "layer %ld twice", (long) l->items[i]);
        if (i > 0 && l->items[i] < l->items[i - 1])
            option_reject(tool, l, "layer %ld behind layer %ld",
                          (long) l->items[i], (long) l->items[i - 1]);
    }
}

void
model_layers(const struct model *m, const struct tool *tool,
             struct layer_list *out)
{
    int ids[DF_MAX_LAYERS];
    long n = input.num_draft_layers;

    out->n = input.target_layer_ids.count;
    check_layer_ids(m, tool);
    for (size_t i = 0; i < out->n; i++)
        out->ids[i] = (int) input.target_layer_ids.items[i];
    if (out->n > 0)
        return;
    if (df_target_layer_ids_default(m->config.d.num_hidden_layers, (int) n,
                                    ids)
            != DF_OK
        || n > DF_MAX_LAYER_IDS)
        option_reject(tool, &input.num_draft_layers,
                      "the %d layers of %s are too few for %ld: give less, or "
                      "name layers with --target-layer-ids",
                      m->config.d.num_hidden_layers, called(m), n);
    out->n = (size_t) n;
    memcpy(out->ids, ids, out->n * sizeof *ids);
}

static df_status
check_vocabulary(const struct model *m)
{
    int32_t size = model_tokens(m);

    if (size > m->config.d.vocab_size)
        return DF_FAIL(DF_SHAPE,
                       "%s: the tokenizer has %d tokens, but the embedding "
                       "only %d rows",
                       input.target, size, m->config.d.vocab_size);
    return DF_OK;
}

/* The last part of the folder's path.  */
static char *
name_of(const char *path)
{
    char *whole = realpath(path, NULL);
    char *name = whole ? strdup(strrchr(whole, '/') + 1) : NULL;

    free(whole);
    return name;
}

uint64_t
model_tokenizer_hash(const struct model *m)
{
    return m->tokenizer ? df_tokenizer_hash(m->tokenizer) : 0;
}

int32_t
model_tokens(const struct model *m)
{
    return m->tokenizer ? df_tokenizer_size(m->tokenizer) : 0;
}

int32_t
model_special(const struct model *m, const char *role)
{
    return m->tokenizer ? df_tokenizer_special(m->tokenizer, role) : -1;
}

/* SPEC is FILE or FILE:SEED.  */
static df_status
open_random(struct model *m, const char *spec)
{
    const char *colon = strrchr(spec, ':');
    int64_t seed = 0;
    char *file = NULL;
    df_status status;

    if (colon && df_value_int(colon + 1, 0, INT64_MAX, &seed) == DF_OK)
        file = strndup(spec, (size_t) (colon - spec));
    else
        file = strdup(spec);
    if (!file)
        return DF_FAIL(DF_NO_MEMORY, "%s", spec);
    status = df_model_config_load(&m->config, file);
    if (status == DF_OK)
        status = df_tensors_random(&m->tensors, &m->config, (uint64_t) seed);
    m->name = name_of(file);
    free(file);
    return status;
}

/* Tell of tensors that the forward pass knows nothing of: config.json may be
   another model's.  */
static df_status
warn_of_unknown(const struct model *m)
{
    const struct df_tensor *first;
    size_t n;

    DF_TRY(df_model_find_unknown(&m->config, m->tensors, &n, &first));
    if (n > 0)
        message_warn("%s: %zu tensors that a %s of %d layers doesn't have are "
                     "left out; the first is %s",
                     input.target, n, m->config.model_type,
                     m->config.d.num_hidden_layers, first->name);
    return DF_OK;
}

df_status
model_open(struct model *m)
{
    static const char random[] = "random:";

    if (strncmp(input.target, random, sizeof random - 1) == 0)
        return open_random(m, input.target + sizeof random - 1);
    DF_TRY(df_model_config_load(&m->config, input.target));
    DF_TRY(df_tensors_open(&m->tensors, input.target));
    if (df_tensors_unindexed(m->tensors) > 0)
        message_warn("%s: %zu tensors that are not in the index are left out",
                     input.target, df_tensors_unindexed(m->tensors));
    DF_TRY(df_model_check_tensors(&m->config, m->tensors));
    DF_TRY(warn_of_unknown(m));
    DF_TRY(df_tokenizer_open(&m->tokenizer, input.target));
    DF_TRY(check_vocabulary(m));
    m->name = name_of(input.target);
    return m->name ? DF_OK : DF_FAIL(DF_NO_MEMORY, "%s", input.target);
}

void
model_close(struct model *m)
{
    df_tokenizer_free(m->tokenizer);
    df_tensors_free(m->tensors);
    free(m->name);
}

struct df_capture_header
model_header(const struct model *m, const struct layer_list *layers)
{
    struct df_capture_header h = {
        .model = m->name,
        .config_hash = m->config.hash,
        .tokenizer_hash = model_tokenizer_hash(m),
        .K = layers->n,
        .hidden_size = (size_t) m->config.d.hidden_size,
        .vocab_size = (size_t) m->config.d.vocab_size,
        .has_checks = true};

    for (size_t i = 0; i < layers->n; i++)
        h.layer_ids[i] = layers->ids[i];
    return h;
}

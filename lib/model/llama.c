/* Llama, and what others ship under its name.  */

#include <config.h>

#include "base/json_internal.h"
#include "model/config_internal.h"

static const char *const architectures[] = {"LlamaForCausalLM", NULL};

static const struct df_weight_row rows[] = {
    DF_OUTER_ROWS, DF_DECODER_ROWS("model."), {0}};

static df_status
configure(struct df_model_config *c, const json_t *json, const char *where)
{
    bool mlp_bias = false;

    DF_TRY(df_json_get_bool(json, "mlp_bias", &mlp_bias, where));
    if (mlp_bias)
        return DF_FAIL(DF_UNSUPPORTED, "%s: mlp_bias is not supported", where);
    DF_TRY(df_config_read_windows(&c->d, json, where));
    for (int i = 0; i < c->d.num_hidden_layers; i++)
        if (c->d.window[i])
            return DF_FAIL(DF_UNSUPPORTED,
                           "%s: sliding windows are not supported for"
                           " model_type 'llama'",
                           where);
    return DF_OK;
}

const struct df_family df_family_llama = {"llama", architectures, rows,
                                          configure};

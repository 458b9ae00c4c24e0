/* Qwen3: Llama's layer with a norm on each head of q and k, and with sliding
   windows on request.  */

#include <config.h>

#include "model/config_internal.h"

static const char *const architectures[] = {"Qwen3ForCausalLM", NULL};

static const struct df_weight_row rows[] = {
    DF_OUTER_ROWS, DF_DECODER_ROWS("model."), DF_QK_NORM_ROWS("model."), {0}};

static df_status
configure(struct df_model_config *c, const json_t *json, const char *where)
{
    c->d.qk_norm = true;
    return df_config_read_windows(&c->d, json, where);
}

const struct df_family df_family_qwen3 = {"qwen3", architectures, rows,
                                          configure};

/* model.h - the target of a tool: configuration, weights, tokenizer.  */

#ifndef DF_MODEL_H
#define DF_MODEL_H

#include "common/option.h"
#include "dflash/config.h"
#include "dflash/ops.h"
#include "dflash/record.h"
#include "dflash/safetensors.h"
#include "dflash/tokenizer.h"

struct model {
    struct df_model_config config;
    struct df_tensors *tensors;     /* mapped, not read */
    struct df_tokenizer *tokenizer; /* NULL if the weights are random */
    char *name;                     /* of its folder */
};

/* The layers whose states a drafter sees, ascending.  */
struct layer_list {
    int ids[DF_MAX_LAYER_IDS];
    size_t n;
};

/* Open what --target names, and check it: a folder, or random:FILE[:SEED],
   random weights in the shapes of the config.json FILE.  Clear what was
   opened, also after a failure.  */
df_status model_open(struct model *m);
void model_close(struct model *m);

/* The tokenizer's hash, tokens, and token for ROLE; 0, 0 and -1 if there is
   none.  */
uint64_t model_tokenizer_hash(const struct model *m);
int32_t model_tokens(const struct model *m);
int32_t model_special(const struct model *m, const char *role);

/* The layers that --target-layer-ids and --num-draft-layers give; a mistake
   ends the process.  */
void model_layers(const struct model *m, const struct tool *tool,
                  struct layer_list *out);

/* What a capture of LAYERS of M has in its header.  Texts stay M's.  */
struct df_capture_header model_header(const struct model *m,
                                      const struct layer_list *layers);

#endif

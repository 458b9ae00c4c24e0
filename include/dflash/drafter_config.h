/* drafter_config.h - the config.json of a DFlash drafter, in the layout that
   z-lab, SGLang and vLLM load.  */

#ifndef DFLASH_DRAFTER_CONFIG_H
#define DFLASH_DRAFTER_CONFIG_H

#include "dflash/config.h"

DF_BEGIN_DECLS

enum {
    DF_MIN_BLOCK_SIZE = 2,
    DF_MAX_BLOCK_SIZE = 1024
};

struct df_drafter_config {
    /* qk_norm is true, attention_bias false.  hidden_size and vocab_size
       are those of the target.  */
    struct df_decoder_config d;
    int block_size;         /* slots of a block, the anchor's included */
    int mask_token_id;      /* below vocab_size */
    int num_target_layers;  /* M */
    int n_target_layer_ids; /* K, at least 1 */
    int target_layer_ids[DF_MAX_LAYERS]; /* ascending, distinct, below M:
                                            the output of 0-based layer t */
};

/* Read the config.json PATH, or that of the folder PATH.  The settings of
   DFlash may stand at top level or in dflash_config, rope in either of its
   spellings.  Errors as df_model_config_load.  */
DF_EXPORT DF_MUST_USE df_status
df_drafter_config_load(struct df_drafter_config *out, const char *path);

/* Write C to the file PATH, or to config.json in the folder PATH,
   atomically.  Numbers are read back exactly.  DF_INVALID if the layout
   cannot say it: windows of two sizes.  DF_IO.  */
DF_EXPORT DF_MUST_USE df_status
df_drafter_config_save(const struct df_drafter_config *c, const char *path);

/* A drafter of N_LAYERS layers with the shapes of TARGET, all layers with
   full attention.  IDS [n_ids], or NULL for df_target_layer_ids_default.
   DF_INVALID for values outside their range.  */
DF_EXPORT DF_MUST_USE df_status df_drafter_config_from_target(
    struct df_drafter_config *out, const struct df_model_config *target,
    int n_layers, const int *ids, int n_ids, int block_size,
    int mask_token_id);

/* IDS [n_draft]: the target layers that a drafter of N_DRAFT layers reads
   when nothing else is said, over a target of N_TARGET layers: its middle
   for one layer, else spread evenly from 1 to N_TARGET-3, rounded half to
   even.  DF_INVALID if there are not so many distinct ones.  */
DF_EXPORT DF_MUST_USE df_status df_target_layer_ids_default(int n_target,
                                                            int n_draft,
                                                            int *ids);

DF_END_DECLS
#endif

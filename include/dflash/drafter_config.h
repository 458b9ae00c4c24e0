/* drafter_config.h - the config.json of a DFlash drafter.

   There are two layouts.  z-lab's, which SGLang and vLLM load too, is flat
   and counts the target's layers by their outputs: 0 is the output of the
   first.  That of speculators, which vLLM loads, has the decoder in an
   object of its own, names the target, and counts one more: 1 is the output
   of the first.  In memory there is one form, which counts as z-lab's.  */

#ifndef DFLASH_DRAFTER_CONFIG_H
#define DFLASH_DRAFTER_CONFIG_H

#include "dflash/config.h"

DF_BEGIN_DECLS

enum {
    DF_MIN_BLOCK_SIZE = 2,
    DF_MAX_BLOCK_SIZE = 1024
};

enum df_drafter_layout {
    DF_LAYOUT_ZLAB,
    DF_LAYOUT_SPECULATORS
};

struct df_drafter_config {
    /* qk_norm is true, attention_bias false.  hidden_size and vocab_size
       are those of the target.  */
    struct df_decoder_config d;
    int block_size;         /* slots of a block, the anchor's included */
    int mask_token_id;      /* below vocab_size */
    int num_target_layers;  /* M; 0: not said, which speculators may do */
    int n_target_layer_ids; /* K, at least 1 */
    int target_layer_ids[DF_MAX_LAYERS]; /* ascending, distinct, below M:
                                            the output of 0-based layer t */
    int draft_vocab_size; /* of a drafter that knows some tokens alone, which
                             speculators may have; 0: it knows all */
    enum df_drafter_layout layout; /* that it was read from */
};

/* "zlab", "speculators".  */
DF_EXPORT const char *df_drafter_layout_name(enum df_drafter_layout layout);

/* Read the config.json PATH, or that of the folder PATH, in either layout.
   In z-lab's the settings of DFlash may stand at top level or in
   dflash_config; rope may have either of its spellings.  Errors as
   df_model_config_load; what engines run otherwise than it was trained,
   like a mask token that is the padding too, is among them.  */
DF_EXPORT DF_MUST_USE df_status
df_drafter_config_load(struct df_drafter_config *out, const char *path);

/* Write C to the file PATH, or to config.json in the folder PATH,
   atomically, in z-lab's layout.  Numbers are read back exactly.  DF_INVALID
   if the layout cannot say it: windows of two sizes, a vocabulary of its
   own, an unknown number of target layers.  DF_IO.  */
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

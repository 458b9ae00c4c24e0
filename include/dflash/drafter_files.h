/* drafter_files.h - a drafter as a folder: config.json and
   model.safetensors, in the layout of z-lab or of speculators.

       open, check --> config, tensors --> convert --> another folder

   Everything is checked on opening, also what engines pass over in silence
   and then run wrong: tensors that are missing or too many, values that are
   no numbers, layer ids, one causality for all layers, the mask token, and
   against the target, if it is given, shapes and copies of its embedding
   and head.  The layouts are described in drafter_config.h and weights.h.

   A struct df_drafter_files is read-only once opened.  */

#ifndef DFLASH_DRAFTER_FILES_H
#define DFLASH_DRAFTER_FILES_H

#include "dflash/drafter_config.h"
#include "dflash/safetensors.h"

DF_BEGIN_DECLS

struct df_drafter_files;

/* A drafter's target, as far as it is at hand: either may be NULL.  */
struct df_drafter_target {
    const struct df_model_config *config;
    const struct df_tensors *tensors; /* needs CONFIG, and fits it */
};

/* How a drafter is written.  */
struct df_drafter_form {
    enum df_drafter_layout layout;
    /* In speculators' layout: what the target is called, a folder or the
       name of a repository.  NULL: what the folder converted says, if it
       says that.  */
    const char *verifier;
    /* Of which speculators' layout has embedding and head.  */
    struct df_drafter_target target;
};

/* Open the drafter in the folder DIR.  What TARGET points to must outlive
   the call alone.  The caller frees *OUT.  DF_IO, DF_FORMAT, DF_SHAPE,
   DF_UNSUPPORTED: the message names the file, the key or tensor, what was
   wanted and what was found.  */
DF_EXPORT DF_MUST_USE df_status
df_drafter_files_open(struct df_drafter_files **out, const char *dir,
                      const struct df_drafter_target *target);

/* FILES may be NULL.  */
DF_EXPORT void df_drafter_files_free(struct df_drafter_files *files);

/* If the folder doesn't say how many layers the target has, and the target
   is given, the number is the target's.  */
DF_EXPORT const struct df_drafter_config *
df_drafter_files_config(const struct df_drafter_files *files);
DF_EXPORT const struct df_tensors *
df_drafter_files_tensors(const struct df_drafter_files *files);

/* The target's name in speculators' layout; NULL in z-lab's.  */
DF_EXPORT const char *
df_drafter_files_verifier(const struct df_drafter_files *files);

/* Write FILES as FORM has it into the folder DIR, which exists.  Tensors keep
   their bits, and settings that neither layout gives a meaning their values.
   From z-lab to speculators and back comes what FORM's target has no part
   in: the same tensors, the same configuration.  From speculators to z-lab
   embedding and head are left out.  DF_INVALID for what FORM's layout cannot
   say.  DF_IO.  */
DF_EXPORT DF_MUST_USE df_status
df_drafter_files_convert(const struct df_drafter_files *files,
                         const struct df_drafter_form *form, const char *dir);

DF_END_DECLS
#endif

/* template_internal.h - rendering chat templates from JSON values.  */

#ifndef DF_TEMPLATE_INTERNAL_H
#define DF_TEMPLATE_INTERNAL_H

#include <jansson.h>

#include "dflash/template.h"

/* As df_template_render, from values that are parsed already; they are only
   read, and no reference count changes, so threads may share them.  EXTRA
   is an object or NULL.  */
DF_MUST_USE df_status df_template_render_json(const struct df_template *tmpl,
                                              const json_t *messages,
                                              const json_t *extra,
                                              bool add_generation_prompt,
                                              char **text, size_t *len);

#endif

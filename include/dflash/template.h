/* template.h - chat templates: from a conversation to its text.

   Models ship a Jinja template that spells a conversation the way they were
   trained to read it.  A df_template is such a template, parsed once and
   rendered as often as wanted, also by several threads at a time.

       source -> parse -> df_template -> render -> text

   The rendering is that of Hugging Face transformers: trim_blocks and
   lstrip_blocks are on, the loop controls and "generation" blocks are
   known, and values print as Python prints them.  What is not supported is
   refused by name with its line, never ignored or guessed.  */

#ifndef DFLASH_TEMPLATE_H
#define DFLASH_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "dflash/defs.h"
#include "dflash/error.h"

DF_BEGIN_DECLS

struct df_template;

/* Parse the LEN bytes of UTF-8 at SOURCE, which messages call NAME; both are
   copied.  The caller owns *OUT.  DF_FORMAT for a syntax error,
   DF_UNSUPPORTED for a tag, filter, test, method or function that is not
   known: "NAME:12: unknown filter 'foo'".  */
DF_EXPORT DF_MUST_USE df_status df_template_parse(struct df_template **out,
                                                  const char *source,
                                                  size_t len,
                                                  const char *name);

/* Free TMPL, which may be NULL.  */
DF_EXPORT void df_template_free(struct df_template *tmpl);

/* Render the conversation MESSAGES, a JSON array of objects.  EXTRA is a
   JSON object with more variables (tools, enable_thinking, bos_token and so
   on), or NULL; tools and documents are none unless it says otherwise.
   *TEXT has *LEN bytes and a zero byte after them; free it with free.

   DF_INVALID: the template itself refuses the conversation
   (raise_exception); the message has its words.  DF_FORMAT: a value of the
   wrong type for what the template does, or text that is not JSON.
   DF_UNSUPPORTED: a construct that only shows when it runs, or a rendering
   beyond the limits on length, depth, memory and work.  */
DF_EXPORT DF_MUST_USE df_status df_template_render(
    const struct df_template *tmpl, const char *messages, const char *extra,
    bool add_generation_prompt, char **text, size_t *len);

DF_END_DECLS
#endif

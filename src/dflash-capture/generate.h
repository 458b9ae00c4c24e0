/* generate.h - answers of the target itself, before they are captured.  */

#ifndef DF_CAPTURE_GENERATE_H
#define DF_CAPTURE_GENERATE_H

#include "dflash-capture/session.h"

/* Have the target answer the prompts of the data, and write the answers to
   the file that the options name, or to one that is gone with the session.
   *FILES is that file from now on: S's to free.  DF_CANCELED after a
   signal.  */
df_status generate(struct session *s, struct string_list *files);

#endif

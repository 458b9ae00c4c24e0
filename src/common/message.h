/* message.h - what a tool says to its user, on standard error.

   Results go to standard output by stdio; everything else goes through
   here.  A message is one line, "TOOL: text", written in one piece by
   whichever thread calls, and it takes the place of the progress line if
   there is one.  Control characters, in a file name say, appear as '?'.  */

#ifndef DF_MESSAGE_H
#define DF_MESSAGE_H

#include "dflash/defs.h"

/* NAME is what messages begin with, and stays the caller's.  Call this
   before there are threads; parse_options does it for its tool.  */
void message_set_name(const char *name);

/* "TOOL: text": for those who want to know.  */
void message_note(const char *format, ...) DF_PRINTF(1, 2);

/* "TOOL: warning: text": the tool goes on, and something is odd.  */
void message_warn(const char *format, ...) DF_PRINTF(1, 2);

/* "TOOL: text": why the tool cannot go on.  Returns EXIT_TROUBLE, so that
   main can return the call.  */
int message_fail(const char *format, ...) DF_PRINTF(1, 2);

/* The same with the message of df_error_last().  */
int message_fail_last(void);

/* "text": a second line under a message.  */
void message_hint(const char *format, ...) DF_PRINTF(1, 2);

#endif

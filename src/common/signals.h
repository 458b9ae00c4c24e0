/* signals.h - SIGINT and SIGTERM as a flag, so that a tool can finish what
   it is at.

   The first of them sets the flag; the tool looks at it between steps,
   leaves its files whole and ends with signals_status().  A second one ends
   the process at once with 128 + its number.  SIGPIPE is ignored, so that
   writing to a closed pipe is an error like any other.  SIGBUS, which another
   process causes by cutting a mapped file, is said in a line.  */

#ifndef DF_SIGNALS_H
#define DF_SIGNALS_H

/* Call this before there are threads.  A signal that was ignored is caught
   all the same: a run in the background of a script must be able to be told
   to stop.  */
void signals_install(void);

/* The signal that was caught first, or 0.  From any thread.  */
int signals_caught(void);

/* The exit status after SIGNAL: 130 for SIGINT, 143 for SIGTERM.  */
int signals_status(int signal);

#endif

/* progress.h - one line on the terminal that says how far we are.

   The line is on standard error, and there only if that is a terminal that
   can be written over; otherwise nothing is shown and the tool prints a
   line now and then with message_note.  There is one line in a process.
   All functions may be called from any thread.  */

#ifndef DF_PROGRESS_H
#define DF_PROGRESS_H

#include <stdbool.h>

#include "dflash/defs.h"

/* Whether progress_show shows anything.  */
bool progress_wanted(void);

/* Show the text in place of the one before, cut to the width of the
   terminal.  Calls within 0.2 s of the last one shown are dropped, so this
   may be called as often as one likes.  ASCII only: another byte appears
   as '?'.  */
void progress_show(const char *format, ...) DF_PRINTF(1, 2);

/* Erase the line, before results are printed, or at the end.  */
void progress_end(void);

/* A short text by value, so that a call can stand among printf's
   arguments: printf("%s left", format_duration(s).text).  */
struct short_text {
    char text[24];
};

/* "0s", "59s", "1m05s", "1h02m", "3d04h"; "?" if SECONDS is negative or not
   a number, and from 1000 days on.  */
struct short_text format_duration(double seconds);

/* A count or a rate to three figures: "7", "950", "1.23k", "45.6k", "1.20M",
   "3.00G"; "?" if N is negative, not finite or over 1e18.  The unit is the
   caller's:
   "%s tokens/s".  */
struct short_text format_count(double n);

/* "512 B", "1.50 KiB", "123 MiB", "2.00 GiB"; "?" as above.  */
struct short_text format_bytes(double bytes);

#endif

/* ticker.h - a thread that looks at how things are, ten times a second.  */

#ifndef DF_TICKER_H
#define DF_TICKER_H

#include "dflash/error.h"

/* Call LOOK with ARG until ticker_stop, which then ends the progress line.
   One at a time in a process.  */
df_status ticker_start(void (*look)(void *arg), void *arg);
void ticker_stop(void);

#endif

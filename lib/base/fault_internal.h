/* fault_internal.h - failures and stalls on demand, for tests.

   The environment variable DFLASH_FAULT holds a list of faults:

       POINT=fail@N       fail at number N (from 0)
       POINT=stall@N:MS   sleep MS milliseconds at number N
       POINT=stall:MS     sleep up to MS milliseconds, at random, each time
       memory=poison      fill what is allocated on devices with NaN
       POINT=delay:MS     sleep MS milliseconds each time

   separated by commas.  A point is the name of a stage (prefetch, target,
   postprocess, drafter, log, write, read), or copy (the copy stream of a
   target), or pack (its compute stream, where it begins to pack), or save (of
   a checkpoint; N is the steps done), or checkpoint (a place within the saving
   of each; the numbers are in checkpoint_internal.h).
 */

#ifndef DF_FAULT_INTERNAL_H
#define DF_FAULT_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "dflash/error.h"

/* Parse DFLASH_FAULT once; DF_INVALID when it is malformed.  */
DF_MUST_USE df_status df_fault_check(void);

/* Do what is wanted at POINT number N: DF_OK, perhaps after a sleep, or the
   failure.  */
DF_MUST_USE df_status df_fault(const char *point, uint64_t n);

/* Seconds that a stall at POINT number N lasts, for a stream to sleep.  */
double df_fault_stall(const char *point, uint64_t n);

/* Whether memory is to be poisoned.  */
bool df_fault_poison(void);

#endif

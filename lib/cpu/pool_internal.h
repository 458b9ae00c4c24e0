/* pool_internal.h - the threads that compute on the CPU.

   The streams of all CPU devices share one pool: a stream's own thread
   works on its operation, and helpers join while fewer threads compute than
   the machine has cores.  So two busy streams on two cores get one core
   each, and a busy stream beside an idle one gets both.

   An operation splits its work into tasks by its shapes alone, never by the
   number of threads: results have the same bits on any machine load.  */

#ifndef DF_POOL_INTERNAL_H
#define DF_POOL_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "dflash/error.h"

/* Do task number TASK of ARG.  */
typedef df_status df_task_fn(void *arg, size_t task);

/* Start the pool with the first call, end it with the last release.  */
DF_MUST_USE df_status df_pool_acquire(void);
void df_pool_release(void);

/* Do tasks 0..N-1 in any order and return when all are done.  The first
   failure is returned, with its message; tasks that haven't begun by then
   are left out.  */
DF_MUST_USE df_status df_pool_run(df_task_fn *fn, void *arg, size_t n);

/* Threads that may compute at a time.  */
int df_pool_cores(void);

/* BYTES of scratch, aligned to 64, that belong to the calling thread until
   its task returns.  A later call in the same task gets the same memory:
   ask once.  Kept from task to task: nothing is allocated once the largest
   was asked for.  The thread that calls df_pool_run does tasks as well, so
   it must not hold any of this: for what the tasks of an operation share,
   see df_op_scratch.  */
DF_MUST_USE df_status df_scratch(size_t bytes, void **out);

/* The same for an operation: other memory, which stays until cpu_OP returns
   and may be handed to its tasks.  */
DF_MUST_USE df_status df_op_scratch(size_t bytes, void **out);

/* How often scratch grew, since the process began.  Once some thread has
   got BYTES in a task, the other threads of the pool grow to as much when
   they next look for work, and not in the middle of a later step.  */
uint64_t df_scratch_allocations(void);

/* Let the calling thread and all helpers have as much scratch as any task
   has needed so far, so that none grows later.  Not within a task.  */
void df_pool_settle(void);

/* Grow the calling thread's scratch to what another thread has needed.  For
   pool.c; it can't fail, since who needs the memory asks again.  */
void df_scratch_keep_up(void);

#endif

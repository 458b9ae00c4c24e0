/* fence_internal.h - an event that streams of several devices may record.

   An event belongs to one device, but a slot is filled by whichever target
   comes next and read by whichever drafter.  A fence has an event on each
   device; the one recorded last counts.  It is for one thread at a time, as
   what it guards.  */

#ifndef DF_FENCE_INTERNAL_H
#define DF_FENCE_INTERNAL_H

#include "dflash/device.h"

struct df_fence {
    struct df_device *const *devices; /* [n] */
    struct df_event **events;         /* [n] */
    size_t n;
    struct df_event *last; /* to wait for; never NULL */
};

/* A fence, all zero before, that counts as reached.  DEVICES[n], at least
   one, each once, must outlive it.  Clear it after a failure too.  */
DF_MUST_USE df_status df_fence_make(struct df_fence *fence,
                                    struct df_device *const *devices,
                                    size_t n);
void df_fence_clear(struct df_fence *fence);

/* As df_event_record; LAST changes at once.  */
DF_MUST_USE df_status df_fence_record(struct df_fence *fence,
                                      struct df_stream *stream);

#endif

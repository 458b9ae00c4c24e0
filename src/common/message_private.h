/* message_private.h - standard error, shared by messages and progress.  */

#ifndef DF_MESSAGE_PRIVATE_H
#define DF_MESSAGE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

/* Everything between lock and unlock appears without another thread's text
   in it.  */
void stderr_lock(void);
void stderr_unlock(void);

/* Write LEN bytes at once, as far as the system lets us.  With the lock
   held.  What cannot be written is lost: there is nowhere to say so.  */
void stderr_write(const char *text, size_t len);

/* Whether the cursor stands on a progress line, which the next message must
   erase.  Guarded by the lock.  */
extern bool stderr_has_progress;

/* Make TEXT fit for one line: '?' for each control character.  */
void one_line(char *text);

#endif

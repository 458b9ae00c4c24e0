/* golden.h - where the reference data of the tests lie.

   A golden folder holds targets/, drafter/ and tokenizers/, as far as they
   are there.  DFLASH_GOLDEN lists such folders with colons between them;
   without it there is one, golden/ of the shared folder DFLASH_SHARED.  */

#ifndef DF_GOLDEN_H
#define DF_GOLDEN_H

#include <stddef.h>

/* The folders, NULL behind the last.  */
char **golden_folders(void);

/* The names in FOLDER/SUB that end in SUFFIX (may be ""), sorted, NULL
   behind the last; hidden ones are left out.  Never NULL itself.  */
char **golden_names(const char *folder, const char *sub, const char *suffix);

/* A path put together as printf does.  */
char *golden_path(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* A path in the shared folder, or NULL if there is none or nothing there.  */
char *golden_shared(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Free a list that the above made.  */
void golden_free(char **list);

#endif

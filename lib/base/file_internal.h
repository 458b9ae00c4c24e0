/* file_internal.h - whole files: mapped for reading, written atomically.  */

#ifndef DF_FILE_INTERNAL_H
#define DF_FILE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dflash/error.h"

struct df_file {
    const uint8_t *data; /* SIZE bytes, read-only; never NULL */
    size_t size;
};

/* Map PATH.  An empty file has size 0.  DF_IO, with PATH in the message, if
   it is absent or unreadable, and for what is no file to be mapped, such as a
   folder or a pipe.  */
DF_MUST_USE df_status df_file_map(struct df_file *out, const char *path);
void df_file_unmap(struct df_file *file);

bool df_file_exists(const char *path);

/* Write SIZE bytes to PATH: to a file beside it, synced, then renamed, so
   that PATH is either the old file or the whole new one.  */
DF_MUST_USE df_status df_file_write(const char *path, const void *data,
                                    size_t size);

/* The same in pieces: put what PATH shall hold, then close.  */
struct df_file_writer {
    char *path;  /* owned, as is the next */
    char *aside; /* the file beside it */
    int fd;
};
DF_MUST_USE df_status df_file_writer_open(struct df_file_writer *out,
                                          const char *path);
DF_MUST_USE df_status df_file_writer_put(struct df_file_writer *writer,
                                         const void *data, size_t size);

/* If STATUS, how far the caller came, is DF_OK: sync and rename.  Otherwise,
   and if that fails, remove what was written, so that PATH is as it was.
   Return STATUS or the new failure.  */
DF_MUST_USE df_status df_file_writer_close(struct df_file_writer *writer,
                                           df_status status);

/* Write all SIZE bytes to FD, however few write(2) takes at a time.  NAME
   is for the message.  */
DF_MUST_USE df_status df_write_all(int fd, const void *data, size_t size,
                                   const char *name);

/* "DIR/NAME", to be freed; NULL when there is no memory.  */
char *df_path_join(const char *dir, const char *name);

#endif

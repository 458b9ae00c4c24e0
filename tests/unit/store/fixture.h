/* fixture.h - small captures for the tests of the store.  */

#ifndef DF_STORE_FIXTURE_H
#define DF_STORE_FIXTURE_H

#include <limits.h>
#include <stdio.h>
#include <sys/types.h>

#include "dflash/record.h"
#include "tap/tap.h"

enum {
    FIX_K = 3,
    FIX_H = 20, /* rows of 40 bytes: no multiple of 16 */
    FIX_V = 1000
};

struct df_capture_header fix_header(enum df_capture_layout layout, bool last,
                                    bool checks);

/* A sample of N tokens whose states depend on INDEX and LAYOUT alone, with
   the awkward bit patterns at its beginning and end.  */
struct fix_sample {
    struct df_capture_sample s;
    void *memory;
};
struct fix_sample fix_sample(const struct df_capture_header *h, uint64_t index,
                             size_t n);
void fix_free(struct fix_sample *sample);

/* Tokens of the sample INDEX: 0 to 60, the sixth having none.  */
size_t fix_tokens(uint64_t index);

/* Whether SEEN, of header HS, has what A, of header HA, has; layouts may
   differ.  Tells what differs.  */
bool fix_same(const struct df_capture_header *ha,
              const struct df_capture_sample *a,
              const struct df_capture_header *hs,
              const struct df_capture_sample *seen);

/* Write samples FIRST to END - 1 to PATH.  */
df_status fix_write(const char *path, enum df_capture_format format,
                    const struct df_capture_header *h, uint64_t first,
                    uint64_t end,
                    const struct df_capture_writer_options *options);

/* How many of the samples that PATH has are right, as header H would write
   them; -1, having told why, if it can't be opened.  */
long fix_count(const char *path, const struct df_capture_header *h);

/* A folder for the test's files, and the path of NAME in it, which stays
   valid.  */
const char *fix_folder(void);
const char *fix_path(const char *name);
void fix_remove(void);

/* A whole file, to be freed; one byte more is allocated.  */
char *fix_load(const char *path, size_t *size);
void fix_save(const char *path, const char *data, size_t size);

/* Start a process that writes DATA to the FIFO PATH, STEP bytes at a time,
   with a pause now and then.  */
pid_t fix_feed(const char *path, const char *data, size_t size, size_t step);

/* ok if STATUS is WANTED and the last message has TEXT.  */
void fix_refused(df_status wanted, const char *text, df_status status,
                 const char *label);

/* Run a Python program of arguments A and B: 0 if it says yes, 1 if it says
   no, 77 if MODULES, such as "h5py, numpy", can't be imported.  */
int fix_python(const char *modules, const char *program, const char *a,
               const char *b);

#endif

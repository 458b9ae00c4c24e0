/* backend_internal.h - what a format does for readers and writers.  */

#ifndef DF_BACKEND_INTERNAL_H
#define DF_BACKEND_INTERNAL_H

#include "store/sample_internal.h"

/* What an HDF5 file begins with.  */
#define DF_H5_SIGNATURE "\211HDF\r\n\032\n"

/* A file or folder being read; the formats embed it first.  */
struct df_capture_file {
    const struct df_capture_file_ops *ops;
    char *path;
    struct df_head head;
    struct df_capture_entry *entries; /* in order of their records */
    size_t n_entries;
    bool pipe; /* read by next alone; no entries */
};

struct df_capture_file_ops {
    /* Read the sample of ENTRY, OUT->index, id and n being set.  Not of a
       pipe.  Any number of threads.  */
    df_status (*read)(struct df_capture_file *file,
                      const struct df_capture_entry *entry,
                      struct df_capture_scratch *scratch,
                      struct df_capture_sample *out);
    /* Of a pipe: the next sample, or DF_END.  */
    df_status (*next)(struct df_capture_file *file,
                      struct df_capture_scratch *scratch,
                      struct df_capture_sample *out);
    /* May be NULL: there are none.  */
    df_status (*holes)(struct df_capture_file *file, df_capture_hole *hole,
                       void *arg);
    void (*free)(struct df_capture_file *file); /* but the fields above */
};

/* Open PATH.  Whatever becomes of it, the caller frees *OUT if it isn't
   NULL (df_capture_file_free).  *NOTE is DF_OK, or what is wrong with the
   file whose whole samples can be read; its message is the thread's last
   failure.  */
typedef df_status df_capture_open(struct df_capture_file **out,
                                  const char *path,
                                  const struct df_captures_options *options,
                                  df_status *note);
df_capture_open df_h5_file_open, df_stream_file_open, df_folder_open;
void df_capture_file_free(struct df_capture_file *file);

/* A writer; the formats embed it first.  */
struct df_capture_writer {
    const struct df_capture_writer_ops *ops;
    char *path; /* for messages */
    struct df_head head;
    struct df_id_set ids;
    uint64_t count;     /* samples, those of before included */
    size_t flush_every; /* at least 1 */
    size_t pending;     /* put since the last commit */
    bool failed;        /* nothing more can be written */
};

struct df_capture_writer_ops {
    df_status (*put)(struct df_capture_writer *writer,
                     const struct df_capture_sample *sample);
    df_status (*commit)(struct df_capture_writer *writer);
    /* Finish if STATUS is DF_OK, else keep what was committed; free all but
       the fields above.  Return STATUS or the new failure.  */
    df_status (*close)(struct df_capture_writer *writer, df_status status);
};

/* Open PATH.  Whatever becomes of it, the caller closes and frees *OUT if it
   isn't NULL.  */
typedef df_status
df_capture_create(struct df_capture_writer **out, const char *path,
                  const struct df_capture_header *header,
                  const struct df_capture_writer_options *options);
df_capture_create df_h5_writer_open, df_stream_writer_open,
    df_folder_writer_open;

/* Set what all writers have: path, head, flush_every.  */
DF_MUST_USE df_status df_writer_init(
    struct df_capture_writer *writer, const struct df_capture_writer_ops *ops,
    const char *path, const struct df_capture_header *header,
    const struct df_capture_writer_options *options);

#endif

/* record.h - captures: hidden states of a target, kept for training.

   A capture is a header and samples.  It lies in an HDF5 file, in a stream
   (a pipe, or a file), or in a folder as speculators has it:

       df_capture_writer_open, df_capture_writer_put *, _close
       df_captures_open, df_captures_read * or df_captures_next *, _free

   dflash-hdf5(5) and dflash-stream(5) have both formats to the byte.  One
   table of fields serves all formats, one table of keys their headers.

   Hidden states are bf16 bits and never converted.  A layer id L means the
   residual stream after the layer L, counted from 0, before any norm.

   Letters: n tokens of a sample, K captured layers, H hidden size, C checks
   a token: K, and one more if the last hidden state is there.  */

#ifndef DFLASH_RECORD_H
#define DFLASH_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dflash/error.h"
#include "dflash/ops.h"

DF_BEGIN_DECLS

enum df_capture_layout {
    DF_CAPTURE_PACKED, /* [n, K*H] */
    DF_CAPTURE_SPLIT   /* K of [n, H] */
};

enum df_capture_format {
    DF_CAPTURE_HDF5,
    DF_CAPTURE_STREAM,
    DF_CAPTURE_SPECULATORS
};

/* What holds for all samples of a capture.  A writer copies it; strings of
   a header that was read belong to what it was read from.  A string may be
   NULL and a hash 0: not known.  */
struct df_capture_header {
    const char *model;       /* name of the target */
    uint64_t config_hash;    /* of its configuration */
    uint64_t tokenizer_hash; /* of what made the tokens */
    size_t K;
    int32_t layer_ids[DF_MAX_LAYER_IDS]; /* [K] ascending; -1: not known */
    size_t hidden_size;                  /* H */
    size_t vocab_size;                   /* all ids are below; 0: not known */
    enum df_capture_layout layout;
    bool has_last_hidden; /* after the last layer, before the final norm */
    bool has_checks;
    uint64_t seed;     /* of the run that captured */
    const char *tool;  /* its name and version */
    const char *notes; /* a JSON object in a line, or NULL */
};

/* Which field of A and B differs, as a text for people that names it and
   both values, in BUF of SIZE bytes; NULL if samples of both may be mixed.
   LAYOUT, SEED, TOOL and NOTES may differ, unless STRICT, as for appending:
   then LAYOUT may not.  A value not known agrees with any.  */
DF_EXPORT const char *df_capture_differs(const struct df_capture_header *a,
                                         const struct df_capture_header *b,
                                         bool strict, char *buf, size_t size);

#define DF_NO_BATCH UINT64_MAX

/* One sample.  HIDDEN has one pointer if packed, K if split.  */
struct df_capture_sample {
    uint64_t index; /* place in the data set, which readers order by */
    uint64_t id;    /* as of struct df_sample */
    uint64_t batch; /* number of the batch that it was captured in, whose
                       samples are neighbours; DF_NO_BATCH: not known */
    size_t n;
    const int32_t *ids;                       /* [n] */
    const uint8_t *loss_mask;                 /* [n], 0 or 1 */
    const uint16_t *hidden[DF_MAX_LAYER_IDS]; /* [n,K*H] or K of [n,H] */
    const uint16_t *last;                     /* [n,H], or NULL */
    const uint64_t *checks;                   /* [n,C], or NULL */
    const uint16_t *const *rows; /* [n,K] or [n,K+1] with the last hidden
                                    state: if not NULL, the rows lie apart,
                                    and not in HIDDEN and LAST */
};

/* Row T of layer K in SAMPLE; K itself stands for the last hidden state.  If
   it was read in place, it may lie at an odd address.  */
DF_EXPORT const uint16_t *
df_capture_row(const struct df_capture_header *header,
               const struct df_capture_sample *sample, size_t t, size_t k);

/* Check that the ids of SAMPLE are within the vocabulary and its mask is 0 or
   1: a writer does that, a reader doesn't.  WHERE begins the message.  */
DF_EXPORT DF_MUST_USE df_status df_capture_sample_check(
    const struct df_capture_header *header,
    const struct df_capture_sample *sample, const char *where);

/* Bytes that a token takes in any format but the speculators' own.  */
DF_EXPORT uint64_t
df_capture_token_bytes(const struct df_capture_header *header);

/* Writing.  One thread at a time uses a writer.  */

struct df_capture_writer;

struct df_capture_writer_options {
    size_t flush_every; /* samples from commit to commit; 0: 16 */
    bool resume;        /* go on with PATH if it exists; not for streams */
    bool force;         /* replace PATH if it exists */
};

/* Open PATH; of a stream, "-" is standard output.  DF_INVALID if PATH
   exists and OPTIONS, which may be NULL, doesn't say what to do, or if it
   holds a capture of another header; DF_IO if another process writes it.  */
DF_EXPORT DF_MUST_USE df_status df_capture_writer_open(
    struct df_capture_writer **out, const char *path,
    enum df_capture_format format, const struct df_capture_header *header,
    const struct df_capture_writer_options *options);

/* Whether the sample ID is in the capture already, and how many are.  */
DF_EXPORT bool df_capture_writer_has(const struct df_capture_writer *writer,
                                     uint64_t id);
DF_EXPORT uint64_t
df_capture_writer_count(const struct df_capture_writer *writer);

/* Append SAMPLE, which must be as the header says.  It is kept for certain
   once it is committed: every FLUSH_EVERY samples, by _commit, or by _close.
   After a failure of DF_IO nothing more is written; what was committed
   stays.  DF_IO, DF_INVALID.  */
DF_EXPORT DF_MUST_USE df_status df_capture_writer_put(
    struct df_capture_writer *writer, const struct df_capture_sample *sample);
DF_EXPORT DF_MUST_USE df_status
df_capture_writer_commit(struct df_capture_writer *writer);

/* Commit, finish and free WRITER, which may be NULL, if STATUS, how far the
   caller came, is DF_OK.  Otherwise free it with what is committed; a stream
   then has no end record.  Return STATUS or the new failure.  */
DF_EXPORT DF_MUST_USE df_status
df_capture_writer_close(struct df_capture_writer *writer, df_status status);

/* Reading.  Any number of threads, each with a scratch of its own; HDF5 is
   behind one lock of the process.  */

enum df_capture_verify {
    DF_VERIFY_ALL,
    DF_VERIFY_SAMPLE, /* first and last rows, and one in sixteen */
    DF_VERIFY_OFF
};

/* A file that isn't whole, or a sample that is there twice.  STATUS and
   MESSAGE are what opening would have failed with.  */
typedef void df_capture_problem(void *arg, df_status status,
                                const char *message);

struct df_captures_options {
    enum df_capture_verify verify;
    /* For speculators' folders, which have no header: the layers, or NULL;
       and the data file, or NULL: DATA.jsonl there or one folder above.  */
    const int32_t *layer_ids;
    size_t n_layer_ids;
    const char *data_file;
    /* If not NULL, gets what is wrong with whole files, and what is right of
       them can be read nevertheless.  */
    df_capture_problem *problem;
    /* With PROBLEM: leave out files that can't be opened or don't belong to
       the first one, if one is left.  */
    bool leave_out;
    /* Whoever reads hidden states but once needn't have them copied: let the
       rows of HDF5 and stream files lie in the file's own pages, where that
       can be, and be read by memcpy.  If another process cuts the file
       meanwhile, this one gets SIGBUS.  */
    bool in_place;
    /* If not NULL, asked several times a second while a pipe is silent: true
       makes whoever reads it return DF_CANCELED.  From any thread.  */
    bool (*gives_up)(void *arg);
    void *arg;
};

struct df_captures;

/* Open PATHS[n]: HDF5 files, stream files, folders, pipes, "-" for standard
   input; a pipe only alone.  Only what is known of samples is read.  OPTIONS
   may be NULL.  DF_IO; DF_FORMAT for a broken file, for headers that differ,
   and for a sample that is there twice.  */
DF_EXPORT DF_MUST_USE df_status
df_captures_open(struct df_captures **out, const char *const *paths, size_t n,
                 const struct df_captures_options *options);
DF_EXPORT void df_captures_free(struct df_captures *captures);

/* How many files there are, and the header of each; all agree.  */
DF_EXPORT size_t df_captures_files(const struct df_captures *captures);
DF_EXPORT const struct df_capture_header *
df_captures_header(const struct df_captures *captures, size_t file);

/* Whether it is a pipe: then count and lengths are not known, and only
   df_captures_next reads.  */
DF_EXPORT bool df_captures_is_pipe(const struct df_captures *captures);

/* What is known without reading: samples in order of their index.  */
struct df_capture_entry {
    uint64_t index, id;
    size_t n;
    uint32_t file;   /* number of its file */
    uint64_t record; /* number in its file */
};
DF_EXPORT size_t df_captures_count(const struct df_captures *captures);
DF_EXPORT const struct df_capture_entry *
df_captures_entries(const struct df_captures *captures);
DF_EXPORT const char *df_captures_path(const struct df_captures *captures,
                                       size_t file);

/* What a thread needs for reading.  It holds one sample.  */
struct df_capture_scratch;
DF_EXPORT DF_MUST_USE df_status
df_capture_scratch_new(struct df_capture_scratch **out);
DF_EXPORT void df_capture_scratch_free(struct df_capture_scratch *scratch);

/* Rows FIRST to LAST of layer K that disagree with their checks.  K of the
   header stands for the last hidden state.  */
struct df_capture_run {
    size_t k, first, last;
};

/* Read the sample of entry I; the next one in order, or DF_END.  OUT is
   SCRATCH's until its next use.  DF_FORMAT also when checks disagree: OUT
   is filled nevertheless, and df_capture_runs says where.  After a failure
   _next goes on with the sample after the bad one, if the pipe itself is in
   order, and else returns DF_END.  */
DF_EXPORT DF_MUST_USE df_status df_captures_read(
    struct df_captures *captures, size_t i, struct df_capture_scratch *scratch,
    struct df_capture_sample *out);
DF_EXPORT DF_MUST_USE df_status df_captures_next(
    struct df_captures *captures, struct df_capture_scratch *scratch,
    struct df_capture_sample *out);

/* The rows of the sample just read whose checks disagree; N is 0 when all
   is well.  */
DF_EXPORT const struct df_capture_run *
df_capture_runs(const struct df_capture_scratch *scratch, size_t *n);

/* The image of the sample just read, be it bad, if it came from a stream; NULL
   if the stream itself failed.  */
DF_EXPORT const uint8_t *
df_capture_image(const struct df_capture_scratch *scratch, size_t *size);

/* Compare SAMPLE with its checks.  Runs are added to SCRATCH; WHERE begins
   the message.  */
DF_EXPORT DF_MUST_USE df_status df_capture_verify(
    struct df_capture_scratch *scratch, const struct df_capture_header *header,
    const struct df_capture_sample *sample, enum df_capture_verify how,
    const char *where);

/* Rows of the dataset FIELD of an HDF5 file that were never stored, so that
   they read as zeros.  */
typedef df_status df_capture_hole(void *arg, const char *path,
                                  const char *field, uint64_t first,
                                  uint64_t last);

/* Report every hole in the committed rows of all HDF5 files.  */
DF_EXPORT DF_MUST_USE df_status df_captures_holes(struct df_captures *captures,
                                                  df_capture_hole *hole,
                                                  void *arg);

/* Forwarding a stream byte for byte: WRITER, a stream, gets the SIZE bytes
   of a sample's IMAGE as df_capture_image had them.  */
DF_EXPORT DF_MUST_USE df_status df_capture_writer_put_image(
    struct df_capture_writer *writer, const uint8_t *image, size_t size);

DF_END_DECLS
#endif

/* dataset_internal.h - how a data set is kept, and how one of its records
   becomes samples.

       dataset.c   files, lines, the merged index
       index.c     the threads that go through all records
       reader.c    one record: parse, render, tokenise, mask  */

#ifndef DF_DATASET_INTERNAL_H
#define DF_DATASET_INTERNAL_H

#include <jansson.h>

#include "base/file_internal.h"
#include "dflash/data.h"
#include "dflash/template.h"
#include "text/lossmask_internal.h"
#include "text/records_internal.h"

enum {
    DF_CHUNK = 32 /* records that a thread takes at a time */
};

/* Where a record is.  */
struct df_place {
    size_t file, offset, len;
    uint64_t line;
};

/* A sample, or what was left out instead.  */
struct df_entry {
    uint32_t record;
    uint16_t part;
    uint8_t reason; /* enum df_data_reason */
    uint8_t truncated;
    uint32_t n, supervised; /* tokens */
    size_t at;              /* of the first token in its chunk's cache */
};

/* What a thread found in DF_CHUNK records.  One thread writes it; it is read
   when all threads have ended.  */
struct df_chunk {
    struct df_entry *entries;
    size_t n, cap;
    int32_t *ids; /* the tokens of the samples, behind each other */
    uint8_t *mask;
    size_t tokens, room;
    df_error err; /* status DF_OK: all is well */
};

struct df_dataset {
    struct df_data_options o; /* o.limits is LIMITS, or NULL */
    struct df_batch_limits limits;
    struct df_template *tmpl; /* or NULL */
    char *source;             /* of TMPL */
    json_t *vars;             /* an object */

    char **names; /* [n_files] */
    struct df_file *files;
    size_t n_files;
    struct df_place *places; /* [n_records] */
    size_t n_records;
    uint64_t bytes; /* of all files */

    struct df_chunk *chunks; /* [n_chunks]; without the entries, once they
                                are merged */
    size_t n_chunks;
    bool cached;
    struct df_entry *entries; /* [n] of the samples */
    uint32_t *lengths;        /* [n] */
    size_t n;
    struct df_data_report report;
};

struct df_reader {
    const struct df_dataset *ds;
    json_t *extra; /* the variables of the template */
    struct df_ids ids;
    int32_t *given; /* [room] ids that came as such */
    uint8_t *mask;  /* [room] */
    size_t room;
    char *where; /* file and line of the record */
    struct df_record record;
    struct df_chat chat;
    bool is_chat; /* CHAT is in use */

    enum df_data_reason reason; /* of the record */
    size_t parts;               /* samples it may give, 0 with a REASON */
};

/* Find out what record number INDEX holds: READER->reason and parts.  */
DF_MUST_USE df_status df_reader_record(struct df_reader *reader, size_t index);

/* Make part number PART of the record at hand a sample.  ENTRY gets
   everything but at.  Without a reason in it, *OUT is the sample, borrowed.
   With options.strict a reason is a failure.  */
DF_MUST_USE df_status df_reader_part(struct df_reader *reader, size_t part,
                                     struct df_entry *entry,
                                     struct df_sample *out);

/* With options.strict fail for REASON; else, and for DF_DATA_USED, DF_OK.  */
DF_MUST_USE df_status df_reader_strict(const struct df_reader *reader,
                                       enum df_data_reason reason);

/* Fill DS->chunks and find out whether DS is cached.  */
DF_MUST_USE df_status df_dataset_index(struct df_dataset *ds);
void df_chunk_clear(struct df_chunk *chunk);

#endif

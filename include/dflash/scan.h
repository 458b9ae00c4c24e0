/* scan.h - looking captures over for what damages training: values that are
   none, buffers that were never filled, rows that belong somewhere else.

       df_scan_new, df_scan_sample *, df_scan_layer, df_scan_counts, _free

   Every row of every layer is looked at once, in one pass, whatever the size
   of a capture, in memory whose size is given.  What is found is reported
   sample by sample, neighbouring rows as one finding.

   A row is known by its 64-bit check (dflash/check.h).  A table keeps, for
   each of its slots, the newest row and the one with the smallest hash that
   ever fell there, so that a row is compared with all recent ones, and, in
   captures that outgrow the table, with an even sample of the older ones.

   Rows of the same token may be equal: what stands before may be the same,
   or so far away, or the layer so low, that bf16 doesn't show the difference.
   Rows of different tokens, or of different layers, may not.

   Letters as in dflash/record.h.  */

#ifndef DFLASH_SCAN_H
#define DFLASH_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dflash/record.h"

DF_BEGIN_DECLS

/* What can be wrong: name, word for programs, text for people.  The first
   group is found by those who read files and handed to df_scan_add, the
   second concerns the tokens of a sample, the third rows of one layer.  */
#define DF_FINDINGS(X)                                             \
    X(FILE, "file", "a file that isn't whole")                     \
    X(READ, "read", "a sample that can't be read")                 \
    X(SHAPE, "shape", "extents that disagree")                     \
    X(HOLE, "hole", "rows that were never stored")                 \
                                                                   \
    X(TWIN, "twin", "an id that was there before")                 \
    X(EMPTY, "empty", "no tokens")                                 \
    X(ID, "id", "token ids outside the vocabulary")                \
    X(MASK, "mask", "loss mask that is neither 0 nor 1")           \
    X(ANCHOR, "anchor", "loss mask without a place for an anchor") \
                                                                   \
    X(NAN, "nan", "NaN")                                           \
    X(INF, "inf", "infinity")                                      \
    X(ZERO, "zero", "rows of zeros")                               \
    X(CONSTANT, "constant", "rows of one value")                   \
    X(POISON, "poison", "a pattern of memory that nobody filled")  \
    X(CHECK, "check", "rows that don't agree with their checks")   \
    X(REPEAT, "repeat", "rows equal to the row before")            \
    X(COPY, "copy", "rows equal to rows of other tokens")          \
    X(NORM, "norm", "absurd norm")                                 \
    X(SOURCE, "source", "rows that were found in the wrong place")

enum df_finding_kind {
#define X(name, word, text) DF_FIND_##name,
    DF_FINDINGS(X)
#undef X
    DF_N_FINDINGS
};

/* "nan" and so on, and the text.  */
DF_EXPORT const char *df_finding_word(enum df_finding_kind kind);
DF_EXPORT const char *df_finding_text(enum df_finding_kind kind);

enum {
    DF_NO_LAYER = -1
};

/* FIRST and LAST are tokens of the sample.  K is the place of a layer among
   those captured; the header's K stands for the last hidden state.

   COUNT is a number of values for NAN, INF, POISON, ID and MASK, else of
   rows.  For COPY it counts the rows that were compared and are equal; there
   may be others between FIRST and LAST.

   OTHER says where equal rows are: for REPEAT and COPY the other ones; for
   CHECK what the wrong rows really are; for SOURCE where the right ones were
   found.  Row OTHER.FIRST there is row FIRST here, up to OTHER.SKIP; the next
   ones follow.  OTHER.ROWS is 0 if nothing is known.

   SOURCE is a remark on an earlier finding: the sample itself is good.  */
struct df_finding {
    enum df_finding_kind kind;
    const char *file;    /* as given; may be NULL */
    const char *message; /* of the first group: all there is to say */
    bool has_sample, has_tokens;
    uint64_t index, id;
    uint64_t first, last;
    int k; /* or DF_NO_LAYER */
    uint64_t count;
    uint16_t pattern; /* POISON, CONSTANT: the element */
    int64_t value;    /* ID, MASK: the first one */
    double norm;      /* NORM: the one farthest off */
    double usual;     /* NORM: the layer's geometric mean */
    struct df_finding_other {
        uint64_t rows;
        uint64_t index, id;
        uint64_t first, skip;
        int k;
    } other;
};

/* Called for each finding, which is valid during the call.  */
typedef void df_scan_report(void *arg, const struct df_finding *finding);

struct df_scan_options {
    df_scan_report *report; /* may be NULL */
    void *arg;
    size_t vocab_size;  /* of all ids; 0: what the header says */
    double norm_ratio;  /* how far from the mean is absurd; 0: 16384 */
    size_t table_bytes; /* for rows to compare with; 0: 32 MiB */
};

struct df_scan;

/* For samples under HEADER or others that don't differ from it.  OPTIONS may
   be NULL.  DF_NO_MEMORY.  */
DF_EXPORT DF_MUST_USE df_status
df_scan_new(struct df_scan **out, const struct df_capture_header *header,
            const struct df_scan_options *options);
DF_EXPORT void df_scan_free(struct df_scan *scan);

/* Look SAMPLE over, which lies in FILE as HEADER says.  *GOOD tells whether
   nothing was found.  DF_NO_MEMORY.  */
DF_EXPORT DF_MUST_USE df_status df_scan_sample(
    struct df_scan *scan, const struct df_capture_header *header,
    const char *file, const struct df_capture_sample *sample, bool *good);

/* Count and report what was found elsewhere.  */
DF_EXPORT void df_scan_add(struct df_scan *scan,
                           const struct df_finding *finding);

/* Statistics of one layer over all rows that aren't damaged.  */
struct df_layer_stats {
    uint64_t rows;
    double mean, deviation;          /* of the values */
    double min, max;                 /* of the values */
    double norm, norm_min, norm_max; /* of rows; the mean is geometric */
    uint64_t outliers; /* rows whose norm is 8 times off the mean by then */
    uint64_t damaged;  /* rows left out */
};

/* Layer K, the header's K being the last hidden state.  */
DF_EXPORT struct df_layer_stats df_scan_layer(const struct df_scan *scan,
                                              size_t k);

/* What was seen and found.  The second group counts samples, as audits of
   data sets do.  */
struct df_scan_counts {
    uint64_t samples, tokens, supervised, bytes;
    uint64_t good;     /* samples without a finding */
    uint64_t findings; /* without SOURCE */
    uint64_t by_kind[DF_N_FINDINGS];

    uint64_t read_errors;
    uint64_t nulls; /* samples without tokens, runs of rows never stored */
    uint64_t length_mismatches;
    uint64_t invalid_ids;
    uint64_t non_binary_masks;
    uint64_t zero_supervision; /* nothing in the loss mask */
};
DF_EXPORT const struct df_scan_counts *
df_scan_counts(const struct df_scan *scan);

DF_END_DECLS
#endif

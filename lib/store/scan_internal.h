/* scan_internal.h - how the scan of captures is divided.

       scan.c          a sample: its rows one by one, what each shows
       scan_row.c      a row: range, sums, check
       scan_runs.c     neighbouring rows that show the same, as findings
       scan_table.c    rows seen before, by their hash
       scan_tokens.c   ids and loss mask
       scan_layers.c   statistics of layers; norms far off  */

#ifndef DF_SCAN_INTERNAL_H
#define DF_SCAN_INTERNAL_H

#include <string.h>

#include "dflash/scan.h"
#include "store/sample_internal.h"

/* An element of a row.  A row may lie at an odd address.  */
static inline uint16_t
df_scan_load(const uint16_t *at)
{
    uint16_t x;

    memcpy(&x, at, sizeof x);
    return x;
}

/* A row.  SQUARES isn't finite if a value isn't, or if they are too large;
   MIN and MAX only count if it is.  */
struct df_row_measure {
    uint64_t hash; /* its check */
    float sum, squares, min, max;
    bool uniform; /* all elements have the same bits */
    bool damaged; /* not for statistics */
};
void df_scan_measure(struct df_row_measure *out, const uint16_t *row,
                     size_t count);

/* The number of NaN and of infinities in a row.  */
void df_scan_count_specials(const uint16_t *row, size_t count, uint64_t *nans,
                            uint64_t *infs);

/* The pattern of unfilled memory that ROW has at least 16 bytes of in a
   piece, and how many elements have it; 0 if there is none.  */
uint64_t df_scan_find_poison(const uint16_t *row, size_t count,
                             const struct df_row_measure *m,
                             uint16_t *pattern);

/* A row seen.  WRONG: these bytes lay at a place whose check disagrees.
   WHAT tells token ids apart, but for one pair in 65536.  */
struct df_row_entry {
    uint64_t hash, index, id;
    uint32_t token;
    uint16_t what;
    uint8_t k;
    enum {
        DF_ROW_NONE,
        DF_ROW_RIGHT,
        DF_ROW_WRONG
    } __attribute__((packed)) state;
};
_Static_assert(sizeof(struct df_row_entry) == 32, "two entries a cache line");

/* Two entries a bucket: [0] the newest, [1] the one with the smallest hash
   of all that were there.  */
struct df_row_table {
    struct df_row_entry *entries;
    size_t size; /* bytes */
    int shift;
};
DF_MUST_USE df_status df_row_table_init(struct df_row_table *table,
                                        size_t bytes);
void df_row_table_clear(struct df_row_table *table);

/* The entry with HASH and in STATE, or NULL.  */
const struct df_row_entry *df_row_table_find(const struct df_row_table *table,
                                             uint64_t hash, int state);
/* Where HASH would be found, to be fetched ahead.  */
void df_row_table_prefetch(const struct df_row_table *table, uint64_t hash);
void df_row_table_put(struct df_row_table *table,
                      const struct df_row_entry *entry);

/* The kinds that rows may show, and the runs that are being built, by K.  */
enum {
    DF_FIRST_RUN = DF_FIND_NAN,
    DF_N_RUNS = DF_N_FINDINGS - DF_FIRST_RUN,
    DF_MAX_SLOTS = DF_MAX_LAYER_IDS + 1
};
struct df_scan_run {
    bool open;
    uint64_t first, last, count;
    uint16_t pattern;
    double norm, usual;
    struct df_finding_other other;
};

struct df_scan_layer {
    uint64_t rows, outliers, damaged;
    double sum, squares;
    double log_norms; /* sum of log2 of the rows' norms */
    double norm_min, norm_max;
    float min, max;
};

struct df_scan {
    struct df_capture_header header;
    struct df_scan_options options;
    struct df_scan_counts counts;
    struct df_row_table table;
    struct df_id_set ids;

    /* The sample at hand.  */
    const char *file;
    const struct df_capture_sample *sample;
    uint64_t found;                /* findings in it */
    struct df_row_measure *rows;   /* [C,n] */
    size_t rows_size;              /* allocated */
    uint64_t before[DF_MAX_SLOTS]; /* hash of the row before */
    struct df_scan_run runs[DF_MAX_SLOTS][DF_N_RUNS];

    struct df_scan_layer layers[DF_MAX_SLOTS];
};

/* Layers of the header, the last hidden state included.  */
static inline size_t
df_scan_slots(const struct df_capture_header *h)
{
    return h->K + h->has_last_hidden;
}

/* Note that row T of layer K shows KIND, COUNT times.  OTHER, which may be
   NULL, is where its equal is.  Returns the run, for more details.  */
struct df_scan_run *df_scan_note(struct df_scan *scan,
                                 enum df_finding_kind kind, size_t k, size_t t,
                                 uint64_t count, uint16_t pattern,
                                 const struct df_row_entry *other);
/* Report the runs of layer K that are open.  */
void df_scan_end_runs(struct df_scan *scan, size_t k);

/* Look at ids and mask.  */
void df_scan_look_at_tokens(struct df_scan *scan, size_t vocab_size);

/* Look for norms far off among the rows of the sample that aren't damaged,
   and count the others.  */
void df_scan_look_at_norms(struct df_scan *scan);

#endif

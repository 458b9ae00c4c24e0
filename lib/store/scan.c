/* A sample: its rows in the order they lie in, and what each shows.  */

#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "base/hash_internal.h"
#include "store/scan_internal.h"

enum {
    TABLE_BYTES = 32 << 20,
    MAX_IDS = 2 << 20, /* ids that are remembered */
    GROUP = 8,         /* rows measured ahead */
    MIN_EQUAL = 16     /* elements of a row that aren't equal by chance */
};

#define X(name, word, text) word,
static const char *const words[] = {DF_FINDINGS(X)};
#undef X
#define X(name, word, text) text,
static const char *const texts[] = {DF_FINDINGS(X)};
#undef X

const char *
df_finding_word(enum df_finding_kind kind)
{
    return words[kind];
}

const char *
df_finding_text(enum df_finding_kind kind)
{
    return texts[kind];
}

df_status
df_scan_new(struct df_scan **out, const struct df_capture_header *header,
            const struct df_scan_options *options)
{
    struct df_scan *scan = calloc(1, sizeof *scan);
    df_status status;

    *out = NULL;
    if (!scan)
        return DF_FAIL(DF_NO_MEMORY, "a scan");
    scan->header = *header;
    if (options)
        scan->options = *options;
    status = df_row_table_init(&scan->table, scan->options.table_bytes
                                                 ? scan->options.table_bytes
                                                 : TABLE_BYTES);
    if (status == DF_OK)
        *out = scan;
    else
        df_scan_free(scan);
    return status;
}

void
df_scan_free(struct df_scan *scan)
{
    if (!scan)
        return;
    df_row_table_clear(&scan->table);
    df_id_set_clear(&scan->ids);
    free(scan->rows);
    free(scan);
}

const struct df_scan_counts *
df_scan_counts(const struct df_scan *scan)
{
    return &scan->counts;
}

void
df_scan_add(struct df_scan *scan, const struct df_finding *f)
{
    scan->counts.by_kind[f->kind]++;
    if (f->kind != DF_FIND_SOURCE) {
        scan->counts.findings++;
        scan->found++;
    }
    if (f->kind == DF_FIND_FILE || f->kind == DF_FIND_READ)
        scan->counts.read_errors++;
    if (f->kind == DF_FIND_SHAPE)
        scan->counts.length_mismatches++;
    scan->counts.nulls += f->kind == DF_FIND_HOLE;
    if (scan->options.report)
        scan->options.report(scan->options.arg, f);
}

/* What the values of ROW alone show.  */
static void
look_at_values(struct df_scan *scan, const uint16_t *row,
               struct df_row_measure *m, size_t k, size_t t)
{
    size_t H = scan->header.hidden_size;
    uint64_t nans = 0, infs = 0, poison;
    uint16_t pattern;

    if (!isfinite(m->squares))
        df_scan_count_specials(row, H, &nans, &infs);
    if (nans > 0)
        df_scan_note(scan, DF_FIND_NAN, k, t, nans, 0, NULL);
    if (infs > 0)
        df_scan_note(scan, DF_FIND_INF, k, t, infs, 0, NULL);
    m->damaged = nans > 0 || infs > 0;
    if (!m->damaged && m->min == 0 && m->max == 0) {
        df_scan_note(scan, DF_FIND_ZERO, k, t, 1, 0, NULL);
        m->damaged = m->uniform = true;
        return;
    }
    poison = df_scan_find_poison(row, H, m, &pattern);
    if (poison > 0)
        df_scan_note(scan, DF_FIND_POISON, k, t, poison, pattern, NULL);
    else if (m->uniform && H > 1)
        df_scan_note(scan, DF_FIND_CONSTANT, k, t, 1, df_scan_load(row), NULL);
    m->damaged |= poison > 0 || (m->uniform && H > 1);
}

static uint16_t
what_token(const struct df_scan *scan, size_t t)
{
    return (uint16_t) df_hash_u64((uint32_t) scan->sample->ids[t]);
}

static void
remember(struct df_scan *scan, uint64_t hash, size_t k, size_t t, int state)
{
    df_row_table_put(&scan->table, &(struct df_row_entry){
                                       .hash = hash,
                                       .index = scan->sample->index,
                                       .id = scan->sample->id,
                                       .token = (uint32_t) t,
                                       .what = what_token(scan, t),
                                       .k = (uint8_t) k,
                                       .state = state,
                                   });
}

/* A row that isn't what was packed.  Both are remembered, what is here and
   what should be.  */
static void
look_for_origin(struct df_scan *scan, struct df_row_measure *m,
                uint64_t expected, size_t k, size_t t)
{
    const struct df_row_entry *origin =
        m->uniform ? NULL
                   : df_row_table_find(&scan->table, m->hash, DF_ROW_RIGHT);

    df_scan_note(scan, DF_FIND_CHECK, k, t, 1, 0, origin);
    m->damaged = true;
    if (!m->uniform)
        remember(scan, m->hash, k, t, DF_ROW_WRONG);
    remember(scan, expected, k, t, DF_ROW_RIGHT);
}

/* A row that is what was packed, perhaps for another token.  */
static void
look_for_equals(struct df_scan *scan, struct df_row_measure *m, size_t k,
                size_t t)
{
    const int32_t *ids = scan->sample->ids;
    const struct df_row_entry *equal;

    if (m->damaged || scan->header.hidden_size < MIN_EQUAL)
        return;
    if (t > 0 && scan->before[k] == m->hash && ids[t] != ids[t - 1]) {
        const struct df_row_entry before = {
            .hash = m->hash,
            .index = scan->sample->index,
            .id = scan->sample->id,
            .token = (uint32_t) t - 1,
            .k = (uint8_t) k,
        };

        df_scan_note(scan, DF_FIND_REPEAT, k, t, 1, 0, &before);
        m->damaged = true;
        return;
    }
    equal = df_row_table_find(&scan->table, m->hash, DF_ROW_RIGHT);
    if (equal && (equal->k != k || equal->what != what_token(scan, t))) {
        df_scan_note(scan, DF_FIND_COPY, k, t, 1, 0, equal);
        m->damaged = true;
    }
    remember(scan, m->hash, k, t, DF_ROW_RIGHT);
}

/* The last hidden state may be captured as a layer too.  */
static bool
is_layer_before(const struct df_scan *scan, const struct df_row_measure *m,
                size_t k)
{
    return k > 0 && k == scan->header.K
           && m[-(ptrdiff_t) scan->sample->n].hash == m->hash;
}

static uint64_t
expected_hash(const struct df_scan *scan, const struct df_capture_header *h,
              const struct df_row_measure *m, size_t k, size_t t)
{
    const uint64_t *checks = scan->sample->checks;

    return checks ? checks[t * df_head_checks(h) + k] : m->hash;
}

static void
measure(struct df_scan *scan, const struct df_capture_header *h, size_t k,
        size_t t)
{
    struct df_row_measure *m = &scan->rows[k * scan->sample->n + t];

    df_scan_measure(m, df_capture_row(h, scan->sample, t, k), h->hidden_size);
    df_row_table_prefetch(&scan->table, m->hash);
}

static void
look_at_row(struct df_scan *scan, const struct df_capture_header *h, size_t k,
            size_t t)
{
    const struct df_capture_sample *s = scan->sample;
    struct df_row_measure *m = &scan->rows[k * s->n + t];
    uint64_t expected = expected_hash(scan, h, m, k, t);
    const struct df_row_entry *wrong;

    look_at_values(scan, df_capture_row(h, s, t, k), m, k, t);
    wrong = s->checks ? df_row_table_find(&scan->table, expected, DF_ROW_WRONG)
                      : NULL;
    if (wrong)
        df_scan_note(scan, DF_FIND_SOURCE, k, t, 1, 0, wrong);
    if (m->hash != expected)
        look_for_origin(scan, m, expected, k, t);
    else if (!is_layer_before(scan, m, k))
        look_for_equals(scan, m, k, t);
    scan->before[k] = m->hash;
}

/* Rows in the order that they lie in.  All of a group are measured first, so
   that the table's lines have come when they are looked for.  */
static void
look_at_packed(struct df_scan *scan, const struct df_capture_header *h)
{
    for (size_t t = 0; t < scan->sample->n; t++) {
        for (size_t k = 0; k < h->K; k++)
            measure(scan, h, k, t);
        for (size_t k = 0; k < h->K; k++)
            look_at_row(scan, h, k, t);
    }
}

static void
look_at_layer(struct df_scan *scan, const struct df_capture_header *h,
              size_t k)
{
    size_t n = scan->sample->n;

    for (size_t first = 0; first < n; first += GROUP) {
        size_t end = first + GROUP < n ? first + GROUP : n;

        for (size_t t = first; t < end; t++)
            measure(scan, h, k, t);
        for (size_t t = first; t < end; t++)
            look_at_row(scan, h, k, t);
    }
}

static void
look_at_rows(struct df_scan *scan, const struct df_capture_header *h)
{
    size_t slots = df_scan_slots(h), k = 0;

    if (h->layout == DF_CAPTURE_PACKED) {
        look_at_packed(scan, h);
        k = h->K;
    }
    for (; k < slots; k++)
        look_at_layer(scan, h, k);
    df_scan_look_at_norms(scan);
    for (k = 0; k < slots; k++)
        df_scan_end_runs(scan, k);
}

static df_status
make_rows(struct df_scan *scan, size_t count)
{
    if (count <= scan->rows_size)
        return DF_OK;
    free(scan->rows);
    scan->rows = calloc(count, sizeof *scan->rows);
    scan->rows_size = scan->rows ? count : 0;
    return scan->rows ? DF_OK : DF_FAIL(DF_NO_MEMORY, "%zu rows", count);
}

static df_status
look_for_twin(struct df_scan *scan)
{
    const struct df_capture_sample *s = scan->sample;

    if (df_id_set_has(&scan->ids, s->id)) {
        df_scan_add(scan, &(struct df_finding){
                              .kind = DF_FIND_TWIN,
                              .file = scan->file,
                              .has_sample = true,
                              .index = s->index,
                              .id = s->id,
                              .k = DF_NO_LAYER,
                              .count = 1,
                          });
        return DF_OK;
    }
    return scan->ids.count < MAX_IDS ? df_id_set_add(&scan->ids, s->id)
                                     : DF_OK;
}

df_status
df_scan_sample(struct df_scan *scan, const struct df_capture_header *h,
               const char *file, const struct df_capture_sample *sample,
               bool *good)
{
    struct df_scan_counts *counts = &scan->counts;

    scan->file = file;
    scan->sample = sample;
    scan->found = 0;
    *good = false;
    counts->samples++;
    counts->tokens += sample->n;
    counts->bytes += sample->n * df_capture_token_bytes(h);
    DF_TRY(look_for_twin(scan));
    df_scan_look_at_tokens(scan, scan->options.vocab_size
                                     ? scan->options.vocab_size
                                     : h->vocab_size);
    DF_TRY(make_rows(scan, sample->n * df_scan_slots(h)));
    look_at_rows(scan, h);
    *good = scan->found == 0;
    counts->good += *good;
    return DF_OK;
}

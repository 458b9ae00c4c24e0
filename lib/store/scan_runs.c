/* Runs: rows of a layer, one behind the other, that show the same.  */

#include <config.h>

#include "store/scan_internal.h"

enum {
    COPY_GAP = 32 /* rows between that weren't in the table */
};

static void
report(struct df_scan *scan, size_t k, enum df_finding_kind kind)
{
    struct df_scan_run *run = &scan->runs[k][kind - DF_FIRST_RUN];
    const struct df_capture_sample *s = scan->sample;

    df_scan_add(scan, &(struct df_finding){
                          .kind = kind,
                          .file = scan->file,
                          .has_sample = true,
                          .has_tokens = true,
                          .index = s->index,
                          .id = s->id,
                          .first = run->first,
                          .last = run->last,
                          .k = (int) k,
                          .count = run->count,
                          .pattern = run->pattern,
                          .norm = run->norm,
                          .usual = run->usual,
                          .other = run->other,
                      });
    run->open = false;
}

void
df_scan_end_runs(struct df_scan *scan, size_t k)
{
    for (int i = 0; i < DF_N_RUNS; i++)
        if (scan->runs[k][i].open)
            report(scan, k, (enum df_finding_kind)(DF_FIRST_RUN + i));
}

/* Whether row T, whose equal is OTHER, goes on where OTHER's run is.  */
static bool
same_source(const struct df_finding_other *run, size_t t,
            const struct df_row_entry *other)
{
    return run->index == other->index && run->id == other->id
           && run->k == other->k && t + run->first == other->token + run->skip;
}

static bool
continues(const struct df_scan_run *run, enum df_finding_kind kind, size_t t,
          uint16_t pattern, const struct df_row_entry *other)
{
    size_t gap = kind == DF_FIND_COPY || kind == DF_FIND_SOURCE ? COPY_GAP : 1;

    if (!run->open || t - run->last > gap || run->pattern != pattern)
        return false;
    return !other || run->other.rows == 0
           || same_source(&run->other, t, other);
}

static void
set_other(struct df_finding_other *to, size_t t,
          const struct df_row_entry *other)
{
    if (to->rows++ > 0)
        return;
    to->index = other->index;
    to->id = other->id;
    to->first = other->token;
    to->skip = t;
    to->k = other->k;
}

struct df_scan_run *
df_scan_note(struct df_scan *scan, enum df_finding_kind kind, size_t k,
             size_t t, uint64_t count, uint16_t pattern,
             const struct df_row_entry *other)
{
    struct df_scan_run *run = &scan->runs[k][kind - DF_FIRST_RUN];

    if (!continues(run, kind, t, pattern, other)) {
        if (run->open)
            report(scan, k, kind);
        *run =
            (struct df_scan_run){.open = true, .first = t, .pattern = pattern};
    }
    run->last = t;
    run->count += count;
    if (other)
        set_other(&run->other, t, other);
    return run;
}

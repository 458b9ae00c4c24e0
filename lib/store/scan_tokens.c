/* Ids and loss mask.  */

#include <config.h>

#include "store/scan_internal.h"

static void
report(struct df_scan *scan, enum df_finding_kind kind, uint64_t first,
       uint64_t last, uint64_t count, int64_t value)
{
    df_scan_add(scan, &(struct df_finding){
                          .kind = kind,
                          .file = scan->file,
                          .has_sample = true,
                          .has_tokens = count > 0,
                          .index = scan->sample->index,
                          .id = scan->sample->id,
                          .first = first,
                          .last = last,
                          .k = DF_NO_LAYER,
                          .count = count,
                          .value = value,
                      });
}

/* Report the tokens for which BAD holds, run by run; tell if there are.  */
static bool
report_runs(struct df_scan *scan, enum df_finding_kind kind,
            bool (*bad)(const struct df_capture_sample *s, size_t t,
                        size_t vocab_size, int64_t *value),
            size_t vocab_size)
{
    const struct df_capture_sample *s = scan->sample;
    bool any = false;

    for (size_t t = 0; t < s->n; t++) {
        int64_t value, ignored;
        size_t first = t;

        if (!bad(s, t, vocab_size, &value))
            continue;
        while (t + 1 < s->n && bad(s, t + 1, vocab_size, &ignored))
            t++;
        report(scan, kind, first, t, t - first + 1, value);
        any = true;
    }
    return any;
}

static bool
bad_id(const struct df_capture_sample *s, size_t t, size_t vocab_size,
       int64_t *value)
{
    *value = s->ids[t];
    return s->ids[t] < 0
           || (vocab_size > 0 && (size_t) s->ids[t] >= vocab_size);
}

static bool
bad_mask(const struct df_capture_sample *s, size_t t, size_t vocab_size,
         int64_t *value)
{
    (void) vocab_size;
    *value = s->loss_mask[t];
    return s->loss_mask[t] > 1;
}

static void
look_at_mask(struct df_scan *scan)
{
    const struct df_capture_sample *s = scan->sample;
    uint64_t supervised = 0, anchors = 0;

    for (size_t t = 0; t < s->n; t++) {
        supervised += s->loss_mask[t] > 0;
        anchors += t > 0 && s->loss_mask[t] > 0 && s->loss_mask[t - 1] > 0;
    }
    scan->counts.supervised += supervised;
    scan->counts.zero_supervision += supervised == 0;
    if (anchors == 0)
        report(scan, DF_FIND_ANCHOR, 0, 0, 0, 0);
}

void
df_scan_look_at_tokens(struct df_scan *scan, size_t vocab_size)
{
    const struct df_capture_sample *s = scan->sample;

    if (s->n == 0) {
        scan->counts.nulls++;
        report(scan, DF_FIND_EMPTY, 0, 0, 0, 0);
        return;
    }
    scan->counts.invalid_ids +=
        report_runs(scan, DF_FIND_ID, bad_id, vocab_size);
    scan->counts.non_binary_masks +=
        report_runs(scan, DF_FIND_MASK, bad_mask, vocab_size);
    look_at_mask(scan);
}

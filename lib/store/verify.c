/* Comparing rows with their checks.  */

#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "dflash/check.h"
#include "store/sample_internal.h"

enum {
    ONE_IN = 16
};

const uint16_t *
df_capture_row(const struct df_capture_header *h,
               const struct df_capture_sample *s, size_t t, size_t k)
{
    size_t H = h->hidden_size;

    if (s->rows)
        return s->rows[t * (h->K + h->has_last_hidden) + k];
    if (k == h->K)
        return s->last + t * H;
    return h->layout == DF_CAPTURE_SPLIT ? s->hidden[k] + t * H
                                         : s->hidden[0] + (t * h->K + k) * H;
}

/* Rows are taken in order of T within K, so that a bad one lengthens the
   last run or begins another.  Rows between that weren't looked at are taken
   to be bad like their neighbours.  */
static df_status
add_bad(struct df_capture_scratch *scratch, size_t t, size_t k, size_t step)
{
    if (scratch->n_runs > 0) {
        struct df_capture_run *run = &scratch->runs[scratch->n_runs - 1];

        if (run->k == k && t - run->last <= step) {
            run->last = t;
            return DF_OK;
        }
    }
    if (scratch->n_runs == scratch->max_runs) {
        size_t max = scratch->max_runs * 2 + 16;
        void *grown = realloc(scratch->runs, max * sizeof *scratch->runs);

        if (!grown)
            return DF_FAIL(DF_NO_MEMORY, "%zu runs of bad rows", max);
        scratch->runs = grown;
        scratch->max_runs = max;
    }
    scratch->runs[scratch->n_runs++] = (struct df_capture_run){k, t, t};
    return DF_OK;
}

df_status
df_capture_verify(struct df_capture_scratch *scratch,
                  const struct df_capture_header *h,
                  const struct df_capture_sample *s,
                  enum df_capture_verify how, const char *where)
{
    size_t C = df_head_checks(h), n = s->n, before = scratch->n_runs;
    size_t step = how == DF_VERIFY_ALL ? 1 : ONE_IN;

    if (how == DF_VERIFY_OFF || C == 0 || n == 0)
        return DF_OK;
    for (size_t k = 0; k < C; k++)
        for (size_t t = 0; t < n;
             t = t + step < n || t == n - 1 ? t + step : n - 1)
            if (df_check_row(df_capture_row(h, s, t, k), h->hidden_size)
                != s->checks[t * C + k])
                DF_TRY(add_bad(scratch, t, k, step));
    if (scratch->n_runs == before)
        return DF_OK;
    const struct df_capture_run *run = &scratch->runs[before];
    char layer[32];
    return DF_FAIL(DF_FORMAT,
                   "%s: sample %" PRIu64
                   ": %s: tokens %zu to %zu don't agree with their checks%s",
                   where, s->index,
                   df_layer_text(layer, sizeof layer, h, run->k), run->first,
                   run->last,
                   scratch->n_runs > before + 1 ? ", and more" : "");
}

const char *
df_layer_text(char *buf, size_t size, const struct df_capture_header *h,
              size_t k)
{
    if (k == h->K)
        snprintf(buf, size, "last hidden state");
    else if (h->layer_ids[k] < 0)
        snprintf(buf, size, "layer number %zu", k);
    else
        snprintf(buf, size, "layer %d", h->layer_ids[k]);
    return buf;
}

/* Statistics of layers.  Norms are spread over orders of magnitude: the first
   token of a text has a hundred times the norm of the others, in many models.
   So they are judged by their logarithm, and only what no model does is
   absurd.  */

#include <config.h>

#include <math.h>

#include "store/scan_internal.h"

enum {
    ENOUGH = 64, /* rows to know a layer's usual norm by */
    OUTLIER = 3  /* log2 of 8 */
};
#define DEFAULT_RATIO 16384.0
#define ABSURD_RMS    1e7 /* whatever is usual */

static double
log_norm(const struct df_row_measure *m)
{
    return 0.5 * log2(m->squares);
}

static void
add_row(struct df_scan_layer *l, const struct df_row_measure *m, double log)
{
    double norm = sqrt(m->squares);

    if (l->rows == 0) {
        l->min = m->min;
        l->max = m->max;
        l->norm_min = l->norm_max = norm;
    }
    l->min = m->min < l->min ? m->min : l->min;
    l->max = m->max > l->max ? m->max : l->max;
    l->norm_min = fmin(l->norm_min, norm);
    l->norm_max = fmax(l->norm_max, norm);
    l->sum += m->sum;
    l->squares += m->squares;
    l->log_norms += log;
    l->rows++;
}

/* The usual log2 of a norm in the layer, this sample's rows included; false
   if there are too few.  */
static bool
usual_norm(const struct df_scan_layer *l, const struct df_row_measure *rows,
           size_t n, double *out)
{
    double sum = l->log_norms;
    uint64_t count = l->rows;

    for (size_t t = 0; t < n; t++)
        if (!rows[t].damaged && isfinite(rows[t].squares)) {
            sum += log_norm(&rows[t]);
            count++;
        }
    *out = count > 0 ? sum / (double) count : 0;
    return count >= ENOUGH;
}

static void
note_absurd(struct df_scan *scan, size_t k, size_t t, double log, double usual)
{
    struct df_scan_run *run =
        df_scan_note(scan, DF_FIND_NORM, k, t, 1, 0, NULL);

    run->usual = exp2(usual);
    if (run->count == 1 || fabs(log - usual) > fabs(log2(run->norm) - usual))
        run->norm = exp2(log);
}

static void
look_at_layer(struct df_scan *scan, size_t k)
{
    struct df_scan_layer *l = &scan->layers[k];
    size_t n = scan->sample->n, H = scan->header.hidden_size;
    struct df_row_measure *rows = scan->rows + k * n;
    double ratio = scan->options.norm_ratio, usual;
    bool enough = usual_norm(l, rows, n, &usual);

    ratio = log2(ratio > 0 ? ratio : DEFAULT_RATIO);
    for (size_t t = 0; t < n; t++) {
        struct df_row_measure *m = &rows[t];
        double log = log_norm(m), off = fabs(log - usual);

        if (!m->damaged
            && ((enough && off > ratio)
                || log > log2(ABSURD_RMS) + 0.5 * log2((double) H))) {
            note_absurd(scan, k, t, log, usual);
            m->damaged = true;
        }
        if (m->damaged) {
            l->damaged++;
            continue;
        }
        l->outliers += enough && off > OUTLIER;
        add_row(l, m, log);
    }
}

void
df_scan_look_at_norms(struct df_scan *scan)
{
    for (size_t k = 0; k < df_scan_slots(&scan->header); k++)
        look_at_layer(scan, k);
}

struct df_layer_stats
df_scan_layer(const struct df_scan *scan, size_t k)
{
    const struct df_scan_layer *l = &scan->layers[k];
    double rows = (double) l->rows;
    double values = rows * (double) scan->header.hidden_size;
    struct df_layer_stats s = {
        .rows = l->rows,
        .outliers = l->outliers,
        .damaged = l->damaged,
    };

    if (l->rows == 0)
        return s;
    s.mean = l->sum / values;
    s.deviation = sqrt(fmax(0, l->squares / values - s.mean * s.mean));
    s.min = l->min;
    s.max = l->max;
    s.norm = exp2(l->log_norms / rows);
    s.norm_min = l->norm_min;
    s.norm_max = l->norm_max;
    return s;
}

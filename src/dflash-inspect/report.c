/* What the whole run showed.  */

#include <config.h>

#include <inttypes.h>
#include <time.h>

#include "common/message.h"
#include "common/progress.h"
#include "dflash-inspect/options.h"
#include "dflash-inspect/session.h"

/* The audit: one row a count, its name for JSON and for people.  */
#define AUDIT(X)                              \
    X(read_errors, "read errors")             \
    X(nulls, "nulls")                         \
    X(length_mismatches, "length mismatches") \
    X(invalid_ids, "invalid ids")             \
    X(non_binary_masks, "non-binary masks")   \
    X(zero_supervision, "zero-supervision rows")

static void
print_layer(const struct df_capture_header *h, int k,
            const struct df_layer_stats *l)
{
    char name[32];

    if (opt.json) {
        json_t *o = json_object();

        put_layer(o, h, k);
        put_count(o, "rows", l->rows);
        put_number(o, "mean", l->mean);
        put_number(o, "deviation", l->deviation);
        put_number(o, "min", l->min);
        put_number(o, "max", l->max);
        put_number(o, "norm", l->norm);
        put_number(o, "norm_min", l->norm_min);
        put_number(o, "norm_max", l->norm_max);
        put_count(o, "outliers", l->outliers);
        put_count(o, "damaged", l->damaged);
        print_json(o);
        return;
    }
    fprintf(
        results(),
        "%-17s %8s %9.2e %8.3g %8.3g %8.3g %8.3g %8" PRIu64 " %7" PRIu64 "\n",
        layer_name(name, h, k), format_count((double) l->rows).text, l->mean,
        l->deviation, l->norm, l->min, l->max, l->outliers, l->damaged);
}

static void
report_layers(const struct session *s)
{
    const struct df_capture_header *h = df_captures_header(s->captures, 0);

    if (!opt.json)
        fprintf(results(), "%-17s %8s %9s %8s %8s %8s %8s %8s %7s\n", "",
                "rows", "mean", "dev", "norm", "min", "max", "outliers",
                "damaged");
    for (size_t k = 0; k < h->K + h->has_last_hidden; k++) {
        struct df_layer_stats l = df_scan_layer(s->scan, k);

        print_layer(h, (int) k, &l);
    }
}

static void
report_speed(const struct session *s)
{
    const struct df_scan_counts *c = df_scan_counts(s->scan);
    double seconds = now() - s->started;
    double cpu = (double) clock() / CLOCKS_PER_SEC;

    if (opt.json) {
        json_t *o = json_object();

        put_count(o, "bytes", c->bytes);
        put_number(o, "seconds", seconds);
        put_number(o, "cpu_seconds", cpu);
        print_json(o);
        return;
    }
    fprintf(results(),
            "%s in %.2f s: %.2f GB/s; %.2f GB/s of processor time\n",
            format_bytes((double) c->bytes).text, seconds,
            (double) c->bytes / seconds / 1e9,
            (double) c->bytes / (cpu > 0 ? cpu : 1) / 1e9);
}

/* Findings that weren't printed, by kind.  */
static void
report_more(const struct df_scan_counts *c)
{
    for (int i = 0; i < DF_N_FINDINGS; i++)
        if (c->by_kind[i] > (uint64_t) opt.max_findings)
            fprintf(results(), "%" PRIu64 " more findings: %s\n",
                    c->by_kind[i] - (uint64_t) opt.max_findings,
                    df_finding_text((enum df_finding_kind) i));
}

static void
report_counts(const struct session *s)
{
    const struct df_scan_counts *c = df_scan_counts(s->scan);
    FILE *fp = results();

    fprintf(fp,
            "%" PRIu64 " samples, %" PRIu64 " good; %" PRIu64
            " tokens, %" PRIu64 " supervised; %" PRIu64 " findings\n",
            c->samples, c->good, c->tokens, c->supervised, c->findings);
#define X(name, text) \
    fprintf(fp, "%s%s %" PRIu64, #name[0] == 'r' ? "" : ", ", text, c->name);
    AUDIT(X)
#undef X
    fprintf(fp, "\n");
    if (opt.pass || opt.repair)
        fprintf(fp, "%" PRIu64 " samples %s%s%s\n", s->forwarded,
                opt.pass ? "passed on" : "written to ",
                opt.pass ? "" : opt.repair,
                opt.pass && s->incomplete ? ", without an end: there was none"
                                          : "");
}

static void
report_json(const struct session *s)
{
    const struct df_scan_counts *c = df_scan_counts(s->scan);
    json_t *o = json_object(), *kinds = json_object();

    put_count(o, "samples", c->samples);
    put_count(o, "good", c->good);
    put_count(o, "tokens", c->tokens);
    put_count(o, "supervised", c->supervised);
#define X(name, text) put_count(o, #name, c->name);
    AUDIT(X)
#undef X
    put_count(o, "findings", c->findings);
    for (int i = 0; i < DF_N_FINDINGS; i++)
        if (c->by_kind[i] > 0)
            put_count(kinds, df_finding_word((enum df_finding_kind) i),
                      c->by_kind[i]);
    json_object_set_new(o, "by_kind", kinds);
    if (opt.pass || opt.repair)
        put_count(o, "forwarded", s->forwarded);
    if (s->other) {
        put_count(o, "unmatched", s->unmatched);
        put_count(o, "other_tokens", s->other_tokens);
    }
    print_json(o);
}

void
report(struct session *s)
{
    if (opt.stats)
        report_layers(s);
    if (s->other)
        report_distances(s);
    if (opt.stats)
        report_speed(s);
    if (opt.json) {
        report_json(s);
        return;
    }
    report_more(df_scan_counts(s->scan));
    report_counts(s);
}

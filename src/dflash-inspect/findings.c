/* Findings as lines of text or JSON.  */

#include <config.h>

#include <inttypes.h>
#include <math.h>

#include "common/progress.h"
#include "dflash-inspect/options.h"
#include "dflash-inspect/session.h"
#include "dflash/dtype.h"

FILE *
results(void)
{
    progress_end();
    return opt.pass ? stderr : stdout;
}

const char *
layer_name(char buf[32], const struct df_capture_header *h, int k)
{
    if ((size_t) k == h->K)
        snprintf(buf, 32, "last hidden state");
    else if (h->layer_ids[k] < 0)
        snprintf(buf, 32, "layer number %d", k);
    else
        snprintf(buf, 32, "layer %d", (int) h->layer_ids[k]);
    return buf;
}

void
put_number(json_t *o, const char *key, double x)
{
    json_object_set_new(o, key, isfinite(x) ? json_real(x) : json_null());
}

void
put_count(json_t *o, const char *key, uint64_t n)
{
    json_object_set_new(o, key, json_integer((json_int_t) n));
}

void
put_layer(json_t *o, const struct df_capture_header *h, int k)
{
    bool known = (size_t) k < h->K && h->layer_ids[k] >= 0;

    json_object_set_new(o, "layer",
                        (size_t) k == h->K ? json_string("last")
                        : known            ? json_integer(h->layer_ids[k])
                                           : json_null());
    put_count(o, "slot", (uint64_t) k);
}

void
print_json(json_t *object)
{
    FILE *fp = results();

    json_dumpf(object, fp, JSON_COMPACT | JSON_REAL_PRECISION(9));
    putc('\n', fp);
    json_decref(object);
}

/* "token 5", "tokens 5-9".  */
static void
print_tokens(FILE *fp, uint64_t first, uint64_t last)
{
    if (first == last)
        fprintf(fp, "token %" PRIu64, first);
    else
        fprintf(fp, "tokens %" PRIu64 "-%" PRIu64, first, last);
}

/* Where the other rows are, those that are known to be equal.  */
static void
print_other(FILE *fp, const struct df_capture_header *h,
            const struct df_finding *f)
{
    const struct df_finding_other *o = &f->other;
    char name[32];

    fprintf(fp, f->kind == DF_FIND_SOURCE ? ": found in " : ": equal to ");
    fprintf(fp, "sample %" PRIu64 " (id %" PRIu64 "), %s, ", o->index, o->id,
            layer_name(name, h, o->k));
    print_tokens(fp, o->first, o->first + f->last - o->skip);
    if (o->rows < f->count)
        fprintf(fp, " (%" PRIu64 " rows)", o->rows);
}

static void
print_details(FILE *fp, const struct df_finding *f)
{
    switch (f->kind) {
    case DF_FIND_ID:
    case DF_FIND_MASK:
        fprintf(fp, ": %" PRId64 "%s", f->value, f->count > 1 ? ", ..." : "");
        break;
    case DF_FIND_POISON:
        fprintf(fp, ": 0x%04x, %" PRIu64 " values", f->pattern, f->count);
        break;
    case DF_FIND_NAN:
    case DF_FIND_INF:
        fprintf(fp, ": %" PRIu64 " values", f->count);
        break;
    case DF_FIND_CONSTANT:
        fprintf(fp, ": %g", (double) df_f32_from_bf16(f->pattern));
        break;
    case DF_FIND_NORM:
        fprintf(fp, ": %.3g, while %.3g is usual", f->norm, f->usual);
        break;
    case DF_FIND_COPY:
        fprintf(fp, ": %" PRIu64, f->count);
        break;
    default:
        break;
    }
}

static void
print_text(const struct df_capture_header *h, const struct df_finding *f)
{
    FILE *fp = results();
    char name[32];

    if (f->message) {
        fprintf(fp, "%s\n", f->message);
        return;
    }
    fprintf(fp, "%s: sample %" PRIu64 " (id %" PRIu64 "): ", f->file, f->index,
            f->id);
    if (f->k != DF_NO_LAYER)
        fprintf(fp, "%s: ", layer_name(name, h, f->k));
    if (f->has_tokens) {
        print_tokens(fp, f->first, f->last);
        fprintf(fp, ": ");
    }
    fprintf(fp, "%s", df_finding_text(f->kind));
    print_details(fp, f);
    if (f->other.rows > 0)
        print_other(fp, h, f);
    putc('\n', fp);
}

static json_t *
other_json(const struct df_capture_header *h, const struct df_finding *f)
{
    json_t *o = json_object();

    put_count(o, "sample", f->other.index);
    put_count(o, "id", f->other.id);
    put_layer(o, h, f->other.k);
    put_count(o, "first", f->other.first);
    put_count(o, "last", f->other.first + f->last - f->other.skip);
    put_count(o, "rows", f->other.rows);
    return o;
}

static void
put_details(json_t *o, const struct df_finding *f)
{
    char pattern[8];

    if (f->kind == DF_FIND_POISON || f->kind == DF_FIND_CONSTANT) {
        snprintf(pattern, sizeof pattern, "0x%04x", f->pattern);
        json_object_set_new(o, "pattern", json_string(pattern));
    }
    if (f->kind == DF_FIND_ID || f->kind == DF_FIND_MASK)
        json_object_set_new(o, "value", json_integer(f->value));
    if (f->kind == DF_FIND_NORM) {
        put_number(o, "norm", f->norm);
        put_number(o, "usual", f->usual);
    }
    /* A path may be of bytes that aren't UTF-8.  */
    if (f->message)
        json_object_set_new(o, "message", json_string(f->message));
}

static void
print_object(const struct df_capture_header *h, const struct df_finding *f)
{
    json_t *o = json_object();

    json_object_set_new(o, "finding", json_string(df_finding_word(f->kind)));
    if (f->file)
        json_object_set_new(o, "file", json_string(f->file));
    if (f->has_sample) {
        put_count(o, "sample", f->index);
        put_count(o, "id", f->id);
    }
    if (f->k != DF_NO_LAYER)
        put_layer(o, h, f->k);
    if (f->has_tokens) {
        put_count(o, "first", f->first);
        put_count(o, "last", f->last);
    }
    put_count(o, "count", f->count);
    put_details(o, f);
    if (f->other.rows > 0)
        json_object_set_new(o, "other", other_json(h, f));
    print_json(o);
}

void
print_finding(void *arg, const struct df_finding *f)
{
    const struct session *s = arg;
    const struct df_capture_header *h = df_captures_header(s->captures, 0);
    uint64_t n = df_scan_counts(s->scan)->by_kind[f->kind];

    if (n > (uint64_t) opt.max_findings)
        return;
    if (opt.json)
        print_object(h, f);
    else
        print_text(h, f);
}

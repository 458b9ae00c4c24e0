#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap/tap.h"
#include "unit/text/fixture.h"

static struct df_data_options base; /* set by main */

/* Whether A and B have the same samples, ids and report.  */
static int
same(const struct df_dataset *a, const struct df_dataset *b)
{
    struct df_reader *ra, *rb;
    struct df_sample x, y;
    int equal = df_dataset_size(a) == df_dataset_size(b)
                && memcmp(df_dataset_report(a), df_dataset_report(b),
                          sizeof(struct df_data_report))
                       == 0;

    if (df_reader_new(&ra, a) != DF_OK || df_reader_new(&rb, b) != DF_OK)
        exit(1);
    for (size_t i = 0; equal && i < df_dataset_size(a); i++) {
        equal = df_reader_read(ra, i, &x) == DF_OK
                && df_reader_read(rb, i, &y) == DF_OK && x.id == y.id
                && x.n == y.n && memcmp(x.ids, y.ids, x.n * sizeof *x.ids) == 0
                && memcmp(x.loss_mask, y.loss_mask, x.n) == 0;
    }
    df_reader_free(ra);
    df_reader_free(rb);
    return equal;
}

/* N records of all kinds; those numbered BAD are not JSON.  */
static const char *
many(const char *name, int n, int bad1, int bad2)
{
    char *text;
    size_t len;
    FILE *f = open_memstream(&text, &len);

    for (int i = 0; i < n; i++) {
        if (i == bad1 || i == bad2)
            fputs("{bad\n", f);
        else if (i % 7 == 0)
            fputs("{'messages': []}\n", f);
        else if (i % 5 == 0)
            fprintf(f, "{'text': '%0*d'}\n", i % 300, i);
        else
            fprintf(f, "{'prompt': '%d', 'completion': '%0*d'}\n", i, i % 90,
                    i);
    }
    fclose(f);
    const char *path = fixture_json(name, text);
    free(text);
    return path;
}

static void
test_threads(void)
{
    struct df_data_options o = base;
    const char *path = many("many.jsonl", 1500, -1, -1);

    o.threads = 1;
    o.max_length = 150;
    struct df_dataset *one = fixture_open(&path, 1, &o), *other;
    ok(df_dataset_cached(one) && df_dataset_report(one)->truncated > 50,
       "many records in one thread");
    for (size_t threads = 2; threads < 9; threads += 3) {
        o.threads = threads;
        o.cache_bytes = threads == 5 ? 1 << 20 : 20000;
        other = fixture_open(&path, 1, &o);
        ok(df_dataset_cached(other) == (threads == 5) && same(one, other),
           "the same in %zu threads", threads);
        df_dataset_free(other);
    }
    df_dataset_free(one);

    int first = 1;
    path = many("two-bad.jsonl", 1500, 701, 717);
    for (int i = 0; i < 20; i++) {
        o.threads = (size_t) (1 + i % 5);
        first &= df_dataset_open(&other, &path, 1, &o) == DF_FORMAT
                 && strstr(df_error_last()->message, ":702:4: not JSON");
    }
    if (!ok(first, "the first bad line is named, whoever is faster"))
        diag("%s", df_error_last()->message);
}

struct watch {
    int calls, growing;
    struct df_data_progress last;
    int stop_at; /* call that says no */
};

static bool
watch(void *arg, const struct df_data_progress *p)
{
    struct watch *w = arg;

    w->growing &= p->records >= w->last.records && p->bytes >= w->last.bytes
                  && p->records <= p->total_records
                  && p->bytes <= p->total_bytes;
    w->last = *p;
    return ++w->calls != w->stop_at;
}

static void
test_progress(void)
{
    struct watch w = {.growing = 1};
    struct df_data_options o = base;
    const char *path = many("many.jsonl", 1500, -1, -1);
    struct df_dataset *ds;

    o.progress = watch;
    o.arg = &w;
    o.threads = 1;
    ds = fixture_open(&path, 1, &o);
    ok(w.growing && w.calls > 40, "progress grows");
    ok(w.last.records == 1500 && w.last.bytes == w.last.total_bytes,
       "up to the end");
    df_dataset_free(ds);
    w = (struct watch){.growing = 1, .stop_at = 2};
    is_long(DF_CANCELED, df_dataset_open(&ds, &path, 1, &o), "it may stop");
    is_long(2, w.calls, "at once");

    w = (struct watch){.growing = 1};
    o.threads = 4;
    ds = fixture_open(&path, 1, &o);
    ok(w.growing && w.last.records == 1500, "and is whole in four threads");
    df_dataset_free(ds);
}

/* A line of 50 MB, and a file that changes after it was opened.  */
static void
test_hostile(void)
{
    enum {
        LARGE = 50 << 20
    };
    struct df_data_options o = base;
    char *text = malloc(LARGE + 100);
    struct df_dataset *ds;
    struct df_reader *reader;
    struct df_sample s;

    int n = sprintf(text, "{\"text\": \"abc\", \"x\": \"");
    memset(text + n, 'x', LARGE);
    strcpy(text + n + LARGE, "\"}\n{\"text\": \"def\"}\n");
    const char *path = fixture_file("large.jsonl", text, strlen(text));
    free(text);
    ds = fixture_open(&path, 1, &o);
    is_long(2, (long) df_dataset_size(ds), "a line of 50 MB");
    df_dataset_free(ds);

    path =
        fixture_json("changing.jsonl", "{'text': 'abcd'}\n{'text': 'efgh'}\n");
    o.cache_bytes = 0;
    ds = fixture_open(&path, 1, &o);
    if (df_reader_new(&reader, ds) != DF_OK)
        exit(1);
    FILE *f = fopen(path, "r+");
    if (!f || fseek(f, 17, SEEK_SET) || fputs("{\"text\": \"abc\" }", f) < 0
        || fclose(f))
        exit(1);
    ok(df_reader_read(reader, 0, &s) == DF_OK && s.n == 4,
       "a record that stayed");
    is_long(DF_IO, df_reader_read(reader, 1, &s), "one that changed");
    ok(strstr(df_error_last()->message, "changing.jsonl:2: has changed")
           != NULL,
       "is named");
    df_reader_free(reader);
    df_dataset_free(ds);
}

static void
test_options(void)
{
    const char *path = fixture_json("o.jsonl", "{'text': 'ab'}");
    struct df_dataset *ds;
    struct df_data_options o = base;

    o.template_vars = "[1]";
    is_long(DF_FORMAT, df_dataset_open(&ds, &path, 1, &o),
            "variables that aren't an object");
    o.template_vars = "{";
    is_long(DF_FORMAT, df_dataset_open(&ds, &path, 1, &o),
            "variables that aren't JSON");
    o = base;
    o.chat_template = "{% nonsense %}";
    ok(df_dataset_open(&ds, &path, 1, &o) != DF_OK && !ds,
       "a template that isn't one");
    o = base;
    o.tokenizer = NULL;
    is_long(DF_UNSUPPORTED, df_dataset_open(&ds, &path, 1, &o),
            "a text without a tokenizer");
    o = base;
    o.chat_template = NULL;
    path = fixture_json("o.jsonl", "{'messages': []}");
    is_long(DF_UNSUPPORTED, df_dataset_open(&ds, &path, 1, &o),
            "a conversation without a template");
    o = base;
    o.vocab_size = ID_END;
    path = fixture_json("o.jsonl", "{'text': '<end>'}");
    ok(df_dataset_open(&ds, &path, 1, &o) == DF_FORMAT
           && strstr(df_error_last()->message,
                     ":1: the tokenizer's id 257 is beyond the model's"),
       "a tokenizer beyond the model's vocabulary");
    o = base;
    o.chat_template = "{% for m in messages %}{{ m['content'] + v }}"
                      "{% endfor %}";
    o.template_vars = "{\"v\": \"ZZ\"}";
    path = fixture_json("o.jsonl", "{'prompt': 'p', 'completion': 'c'}");
    ds = fixture_open(&path, 1, &o);
    is_long(6, df_dataset_lengths(ds)[0], "a variable of the template");
    df_dataset_free(ds);
}

int
main(void)
{
    plan(21);
    base = fixture_options();
    test_threads();
    test_progress();
    test_hostile();
    test_options();
    return 0;
}

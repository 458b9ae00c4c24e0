/* Several captures as one, read by several threads, with their checks.  */

#include <config.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"

enum {
    SAMPLES = 40,
    THREADS = 4
};

static void
write_part(const char *path, enum df_capture_format format,
           const struct df_capture_header *h, uint64_t first, uint64_t end)
{
    unlink(path);
    if (fix_write(path, format, h, first, end, NULL) != DF_OK)
        bail("%s", df_error_last()->message);
}

struct reader {
    pthread_t thread;
    struct df_captures *c;
    size_t first;
    long good;
};

static void *
read_some(void *arg)
{
    struct reader *r = arg;
    struct df_capture_header h = fix_header(DF_CAPTURE_PACKED, true, true);
    struct df_capture_scratch *scratch;
    size_t n = df_captures_count(r->c);

    if (df_capture_scratch_new(&scratch) != DF_OK)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        size_t at = (r->first + i * 7) % n;
        const struct df_capture_entry *e = &df_captures_entries(r->c)[at];
        struct fix_sample f = fix_sample(&h, at, fix_tokens(at));
        struct df_capture_sample seen;

        r->good +=
            df_captures_read(r->c, at, scratch, &seen) == DF_OK
            && fix_same(&h, &f.s, df_captures_header(r->c, e->file), &seen);
        fix_free(&f);
    }
    df_capture_scratch_free(scratch);
    return NULL;
}

static void
test_many(void)
{
    struct df_capture_header packed =
        fix_header(DF_CAPTURE_PACKED, true, true);
    struct df_capture_header split = fix_header(DF_CAPTURE_SPLIT, true, true);
    const char *paths[3] = {fix_path("c.df"), fix_path("a.h5"),
                            fix_path("b.h5")};
    struct reader readers[THREADS] = {0};
    struct df_captures *c = NULL;
    const struct df_capture_entry *e;
    long right = 0, good = 0;

    write_part(paths[1], DF_CAPTURE_HDF5, &packed, 10, 25);
    write_part(paths[2], DF_CAPTURE_HDF5, &split, 0, 10);
    write_part(paths[0], DF_CAPTURE_STREAM, &split, 25, SAMPLES);
    is_long(DF_OK, df_captures_open(&c, paths, 3, NULL),
            "files of three kinds are opened as one");
    is_long(SAMPLES, (long) df_captures_count(c), "all samples");
    e = df_captures_entries(c);
    for (size_t i = 0; i < SAMPLES; i++)
        right +=
            e[i].index == i && e[i].id == i << 16 && e[i].n == fix_tokens(i);
    is_long(SAMPLES, right, "in order of their index, with their lengths");
    for (int i = 0; i < THREADS; i++) {
        readers[i].c = c;
        readers[i].first = (size_t) i * 11;
        if (pthread_create(&readers[i].thread, NULL, read_some, &readers[i]))
            bail("no thread");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(readers[i].thread, NULL);
        good += readers[i].good;
    }
    is_long(THREADS * SAMPLES, good, "%d threads read them right", THREADS);
    df_captures_free(c);
}

struct problems {
    int n;
    char text[600];
};

static void
note(void *arg, df_status status, const char *message)
{
    struct problems *p = arg;

    (void) status;
    p->n++;
    snprintf(p->text, sizeof p->text, "%s", message);
}

static void
test_disagree(void)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_PACKED, true, true);
    const char *paths[2] = {fix_path("one.h5"), fix_path("two.df")};
    struct problems p = {0};
    const struct df_captures_options lenient = {.problem = note, .arg = &p};
    struct df_captures *c;
    char *data;
    size_t size;

    write_part(paths[0], DF_CAPTURE_HDF5, &h, 0, 5);
    write_part(paths[1], DF_CAPTURE_STREAM, &h, 4, 8);
    fix_refused(DF_FORMAT, "index 4 is there twice",
                df_captures_open(&c, paths, 2, NULL), "a sample twice");
    is_long(DF_OK, df_captures_open(&c, paths, 2, &lenient),
            "unless the caller minds it himself");
    ok(p.n == 1 && df_captures_count(c) == 8, "then the first counts: %s",
       p.text);
    df_captures_free(c);
    h.tokenizer_hash = 99;
    write_part(paths[1], DF_CAPTURE_STREAM, &h, 5, 8);
    fix_refused(DF_FORMAT, "tokenizer_hash is \"0000000000000011\" and ",
                df_captures_open(&c, paths, 2, NULL), "another tokenizer");
    data = fix_load(paths[1], &size);
    fix_save(paths[1], data, size - 20);
    free(data);
    p.n = 0;
    is_long(DF_OK, df_captures_open(&c, &paths[1], 1, &lenient),
            "a stream that is cut");
    ok(p.n == 1 && df_captures_count(c) == 2,
       "still has the samples before: %s", p.text);
    df_captures_free(c);
    fix_refused(
        DF_IO, "No such file",
        df_captures_open(&c, &(const char *){"/nowhere/x.h5"}, 1, NULL),
        "a file that isn't there");
    fix_refused(DF_INVALID, "no captures",
                df_captures_open(&c, paths, 0, NULL), "none at all");
}

/* Spoil rows 2 to 4 and 7 of layer 1, and row 0 of the last, of a sample of
   10 tokens, as it is on its way.  */
static void
test_verify(void)
{
    static const enum df_capture_format formats[] = {DF_CAPTURE_HDF5,
                                                     DF_CAPTURE_STREAM};

    for (int i = 0; i < 2; i++) {
        struct df_capture_header h = fix_header(i, true, true);
        const char *path = fix_path(i ? "bad.df" : "bad.h5");
        struct df_captures_options off = {.verify = DF_VERIFY_OFF};
        struct df_capture_writer *w;
        struct df_captures *c;
        struct df_capture_scratch *scratch;
        struct df_capture_sample seen;
        const struct df_capture_run *runs;
        struct fix_sample f = fix_sample(&h, 1, 10);
        size_t n;

        for (size_t t = 2; t < 5; t++)
            ((uint16_t *) df_capture_row(&h, &f.s, t, 1))[FIX_H - 1] ^= 1;
        ((uint16_t *) df_capture_row(&h, &f.s, 7, 1))[0] ^= 0x8000;
        ((uint16_t *) df_capture_row(&h, &f.s, 0, FIX_K))[5] ^= 4;
        if (df_capture_writer_open(&w, path, formats[i], &h, NULL) != DF_OK
            || df_capture_writer_put(w, &f.s) != DF_OK
            || df_capture_writer_close(w, DF_OK) != DF_OK
            || df_captures_open(&c, &path, 1, NULL) != DF_OK
            || df_capture_scratch_new(&scratch) != DF_OK)
            bail("%s", df_error_last()->message);
        fix_refused(DF_FORMAT,
                    "sample 1: layer 4: tokens 2 to 4 don't agree with their "
                    "checks, and more",
                    df_captures_read(c, 0, scratch, &seen), "bad rows");
        runs = df_capture_runs(scratch, &n);
        ok(n == 3 && runs[0].k == 1 && runs[0].first == 2 && runs[0].last == 4
               && runs[1].k == 1 && runs[1].first == 7 && runs[1].last == 7
               && runs[2].k == FIX_K && runs[2].first == 0,
           "each run of them");
        ok(seen.n == 10 && seen.ids[9] == f.s.ids[9],
           "the sample is there nevertheless");
        df_captures_free(c);
        if (df_captures_open(&c, &path, 1, &off) != DF_OK)
            bail("%s", df_error_last()->message);
        is_long(DF_OK, df_captures_read(c, 0, scratch, &seen),
                "no check, no complaint");
        df_captures_free(c);
        df_capture_scratch_free(scratch);
        fix_free(&f);
    }
}

/* Checks of samples swapped with another's show, and so does the order of
   rows.  */
static void
test_swap(void)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_SPLIT, false, true);
    struct fix_sample a = fix_sample(&h, 1, 30), b = fix_sample(&h, 2, 30);
    struct df_capture_scratch *scratch;
    const struct df_capture_run *runs;
    size_t n;

    if (df_capture_scratch_new(&scratch) != DF_OK)
        bail("no memory");
    is_long(DF_OK,
            df_capture_verify(scratch, &h, &a.s, DF_VERIFY_ALL, "memory"),
            "a sample agrees with its own checks");
    a.s.checks = b.s.checks;
    is_long(DF_FORMAT,
            df_capture_verify(scratch, &h, &a.s, DF_VERIFY_SAMPLE, "memory"),
            "but not with another's");
    runs = df_capture_runs(scratch, &n);
    ok(n == FIX_K && runs[0].first == 0 && runs[0].last == 29,
       "all its rows are bad");
    df_capture_scratch_free(scratch);
    fix_free(&a);
    fix_free(&b);
}

static const struct {
    const char *name;
    enum df_capture_format format;
    enum df_capture_layout layout;
    bool last;
} files[] = {
    {"pp.h5", DF_CAPTURE_HDF5,   DF_CAPTURE_PACKED, false},
    {"pl.h5", DF_CAPTURE_HDF5,   DF_CAPTURE_PACKED, true },
    {"sl.h5", DF_CAPTURE_HDF5,   DF_CAPTURE_SPLIT,  true },
    {"pl.df", DF_CAPTURE_STREAM, DF_CAPTURE_PACKED, true },
    {"sl.df", DF_CAPTURE_STREAM, DF_CAPTURE_SPLIT,  true },
};
enum {
    N_FILES = sizeof files / sizeof *files
};

/* Samples whose states lie in the file's pages, be they where no copy could
   be.  */
static bool
is_in_place(const struct df_capture_sample *s)
{
    return s->n == 0 || s->rows || (uintptr_t) s->hidden[0] % 2 != 0;
}

/* Rows in the file's pages are those that would be read, and are checked.  */
static void
test_in_place(void)
{
    const struct df_captures_options o = {.in_place = true};

    for (int i = 0; i < N_FILES; i++) {
        struct df_capture_header h =
            fix_header(files[i].layout, files[i].last, true);
        const char *path = fix_path(files[i].name);
        struct df_capture_scratch *scratch;
        struct df_capture_sample seen;
        struct df_captures *c;
        long same = 0, in_place = 0;

        write_part(path, files[i].format, &h, 0, SAMPLES);
        if (df_captures_open(&c, &path, 1, &o) != DF_OK
            || df_capture_scratch_new(&scratch) != DF_OK)
            bail("%s", df_error_last()->message);
        for (size_t k = 0; k < SAMPLES; k++) {
            struct fix_sample f = fix_sample(&h, k, fix_tokens(k));

            same += df_captures_read(c, k, scratch, &seen) == DF_OK
                    && fix_same(&h, &f.s, &h, &seen);
            in_place += is_in_place(&seen);
            fix_free(&f);
        }
        is_long(SAMPLES, same, "%s: rows in place", files[i].name);
        diag("%ld of %d samples certainly in place", in_place, SAMPLES);
        df_captures_free(c);
        df_capture_scratch_free(scratch);
    }
}

/* A file that was cut before a sample is looked at is no reason to die.  */
static void
test_cut(void)
{
    const struct df_captures_options o = {.in_place = true};

    for (int i = 0; i < N_FILES; i++) {
        const char *path = fix_path(files[i].name);
        struct df_capture_scratch *scratch;
        struct df_capture_sample seen;
        struct df_captures *c;

        if (df_captures_open(&c, &path, 1, &o) != DF_OK
            || df_capture_scratch_new(&scratch) != DF_OK
            || truncate(path, 10000) != 0)
            bail("%s", df_error_last()->message);
        is_long(DF_FORMAT, df_captures_read(c, SAMPLES - 1, scratch, &seen),
                "%s: cut, and told so", files[i].name);
        df_captures_free(c);
        df_capture_scratch_free(scratch);
    }
}

int
main(void)
{
    plan(4 + 8 + 8 + 3 + 2 * N_FILES);
    test_many();
    test_disagree();
    test_verify();
    test_swap();
    test_in_place();
    test_cut();
    fix_remove();
    return 0;
}

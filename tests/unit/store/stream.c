/* Captures as streams: pipes of any pace, cut at every place.  */

#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

enum {
    SAMPLES = 13
};

/* Read PATH to its end as a pipe.  *GOOD counts samples that are right.  */
static df_status
drain(const char *path, const struct df_capture_header *h, long *good)
{
    struct df_captures *c;
    struct df_capture_scratch *scratch = NULL;
    struct df_capture_sample seen;
    df_status status;

    *good = 0;
    DF_TRY(df_captures_open(&c, &path, 1, NULL));
    status = df_capture_scratch_new(&scratch);
    while (status == DF_OK
           && (status = df_captures_next(c, scratch, &seen)) == DF_OK) {
        struct fix_sample f =
            fix_sample(h, seen.index, fix_tokens(seen.index));

        *good += fix_same(h, &f.s, df_captures_header(c, 0), &seen);
        fix_free(&f);
    }
    df_capture_scratch_free(scratch);
    df_captures_free(c);
    return status;
}

static df_status
drain_fed(const char *data, size_t size, size_t step,
          const struct df_capture_header *h, long *good)
{
    const char *fifo = fix_path("fifo");
    df_status status;
    pid_t pid;

    unlink(fifo);
    if (mkfifo(fifo, 0600))
        bail("mkfifo failed");
    pid = fix_feed(fifo, data, size, step);
    status = drain(fifo, h, good);
    waitpid(pid, NULL, 0);
    return status;
}

static void
test_round_trip(void)
{
    static const size_t steps[] = {1, 7, 4095, 65537, 1 << 30};

    for (int i = 0; i < 8; i++) {
        struct df_capture_header h = fix_header(i & 1, i & 2, i & 4);
        const char *path = fix_path("round.df");
        long n = i % 5 == 0 ? 2 : SAMPLES; /* single bytes take their time */
        char *data;
        size_t size;
        long good;
        df_status status;

        unlink(path);
        is_long(DF_OK,
                fix_write(path, DF_CAPTURE_STREAM, &h, 0, (uint64_t) n, NULL),
                "shape %d: written", i);
        is_long(n, fix_count(path, &h), "read as a file");
        data = fix_load(path, &size);
        status = drain_fed(data, size, steps[i % 5], &h, &good);
        ok(status == DF_END && good == n,
           "read from a pipe that brings %zu bytes at a time", steps[i % 5]);
        free(data);
    }
}

/* Every cut of a small stream is told, file or pipe.  */
static void
test_cuts(void)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_SPLIT, true, true);
    const char *path = fix_path("cut.df"), *whole = fix_path("whole.df");
    size_t size, cuts = 0, told_file = 0, told_pipe = 0, piped = 0;
    char *data;

    h.hidden_size = 12;
    h.notes = NULL;
    if (fix_write(whole, DF_CAPTURE_STREAM, &h, 8, 10, NULL) != DF_OK)
        bail("%s", df_error_last()->message);
    data = fix_load(whole, &size);
    for (size_t at = 0; at < size; at++, cuts++) {
        struct df_captures *c;
        long good;

        fix_save(path, data, at);
        if (df_captures_open(&c, &path, 1, NULL) == DF_FORMAT)
            told_file++;
        else
            diag("cut at %zu isn't told", at);
        if (at % 97 != 0 && at + 20 < size)
            continue;
        piped++;
        if (drain_fed(data, at, 1 << 20, &h, &good) == DF_FORMAT
            && (strstr(df_error_last()->message, "truncated")
                || strstr(df_error_last()->message, "empty")))
            told_pipe++;
        else
            diag("cut at %zu: %s", at, df_error_last()->message);
    }
    is_long((long) cuts, (long) told_file, "all %zu cuts of a file are told",
            cuts);
    is_long((long) piped, (long) told_pipe, "and those of a pipe");
    fix_save(path, data, size - 17);
    fix_refused(
        DF_FORMAT, "truncated after sample 1",
        df_captures_open(&(struct df_captures *){NULL}, &path, 1, NULL),
        "the message counts samples");
    free(data);
}

/* BYTES put over the stream at AT: of the end if negative.  */
struct wrong {
    const char *label;
    long at;
    const char *bytes;
    size_t n;
    df_status status;
    const char *message;
};
static const struct wrong wrongs[] = {
    {"another file",    0,   "hello",              5, DF_FORMAT,      "neither"  },
    {"another version", 14,  "2",                  1, DF_UNSUPPORTED, "only 1"   },
    {"no JSON",         16,  "?",                  1, DF_FORMAT,      "not JSON" },
    {"a wrong count",   -8,  "\7",                 1, DF_FORMAT,      "counts 7" },
    {"a false length",  -16, "\1\0\0\0\0\0\0\x7f", 8, DF_FORMAT,
     "truncated after sample 2"                                                  },
    {"a length of 1",   -16, "\1",                 1, DF_FORMAT,      "record 2:"},
};
enum {
    N_WRONGS = sizeof wrongs / sizeof *wrongs
};

static void
test_wrong(void)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_PACKED, false, true);
    const char *path = fix_path("wrong.df"), *whole = fix_path("whole2.df");
    struct df_captures *c;
    size_t size;
    char *data;

    if (fix_write(whole, DF_CAPTURE_STREAM, &h, 1, 3, NULL) != DF_OK)
        bail("%s", df_error_last()->message);
    for (int i = 0; i < N_WRONGS; i++) {
        const struct wrong *w = &wrongs[i];

        data = fix_load(whole, &size);
        memcpy(data + (w->at < 0 ? (long) size + w->at : w->at), w->bytes,
               w->n);
        fix_save(path, data, size);
        fix_refused(w->status, w->message,
                    df_captures_open(&c, &path, 1, NULL), w->label);
        free(data);
    }
    data = fix_load(whole, &size);
    data[size] = 'x';
    fix_save(path, data, size + 1);
    fix_refused(DF_FORMAT, "behind the end",
                df_captures_open(&c, &path, 1, NULL), "more behind the end");
    free(data);
}

/* A sample whose image is none is bad, and the pipe goes on; one that is cut
   within it has no image.  */
static void
test_bad_sample(void)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_PACKED, false, true);
    const char *whole = fix_path("whole3.df"), *fifo = fix_path("fifo");
    struct df_captures *c;
    struct df_capture_scratch *scratch;
    struct df_capture_sample seen;
    size_t size, image;
    char *data, *at;
    pid_t pid;

    if (fix_write(whole, DF_CAPTURE_STREAM, &h, 1, 4, NULL) != DF_OK
        || df_capture_scratch_new(&scratch) != DF_OK)
        bail("%s", df_error_last()->message);
    data = fix_load(whole, &size);
    at = memmem(data, size, "__metadata__", 12);
    at = memmem(at + 1, size - (size_t) (at + 1 - data), "__metadata__", 12);
    at[-2] = '?';
    pid = fix_feed(fifo, data, size - 20, 1 << 20);
    if (df_captures_open(&c, &fifo, 1, NULL) != DF_OK)
        bail("%s", df_error_last()->message);
    ok(df_captures_next(c, scratch, &seen) == DF_OK && seen.index == 1,
       "a sample");
    fix_refused(DF_FORMAT, "not JSON", df_captures_next(c, scratch, &seen),
                "one that can't be read");
    ok(df_capture_image(scratch, &image) && image > 0, "  has its bytes");
    fix_refused(DF_FORMAT, "truncated after sample 2",
                df_captures_next(c, scratch, &seen), "one that is cut off");
    ok(!df_capture_image(scratch, &image), "  has none");
    is_long(DF_END, df_captures_next(c, scratch, &seen), "and that is all");
    waitpid(pid, NULL, 0);
    df_captures_free(c);
    df_capture_scratch_free(scratch);
    free(data);
}

/* Two writers, of which both would replace the file.  */
static void
test_two_writers(void)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_SPLIT, false, true);
    const struct df_capture_writer_options force = {.force = true};
    const char *path = fix_path("two.df");
    struct df_capture_writer *w;
    struct fix_sample f = fix_sample(&h, 1, fix_tokens(1));

    if (df_capture_writer_open(&w, path, DF_CAPTURE_STREAM, &h, &force)
            != DF_OK
        || df_capture_writer_put(w, &f.s) != DF_OK)
        bail("%s", df_error_last()->message);
    fix_refused(DF_IO, "another process writes this file",
                fix_write(path, DF_CAPTURE_STREAM, &h, 0, 3, &force),
                "a second writer is refused");
    is_long(DF_OK, df_capture_writer_close(w, DF_OK), "the first goes on");
    is_long(1, fix_count(path, &h), "and has its file");
    is_long(DF_OK, fix_write(path, DF_CAPTURE_STREAM, &h, 0, 3, &force),
            "then it may be replaced");
    is_long(3, fix_count(path, &h), "by another");
    fix_free(&f);
}

/* HDF5 can't come through a pipe, and that is what is said.  */
static void
test_hdf5_piped(void)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_SPLIT, false, true);
    const char *path = fix_path("piped.h5");
    size_t size;
    char *data;
    long good;

    if (fix_write(path, DF_CAPTURE_HDF5, &h, 0, 3, NULL) != DF_OK)
        bail("%s", df_error_last()->message);
    data = fix_load(path, &size);
    fix_refused(DF_UNSUPPORTED, "HDF5 is read from files alone",
                drain_fed(data, size, 1 << 20, &h, &good), "HDF5 in a pipe");
    free(data);
}

int
main(void)
{
    plan(24 + 3 + N_WRONGS + 1 + 6 + 5 + 1);
    test_round_trip();
    test_cuts();
    test_wrong();
    test_bad_sample();
    test_two_writers();
    test_hdf5_piped();
    fix_remove();
    return 0;
}

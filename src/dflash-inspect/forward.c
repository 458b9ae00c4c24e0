/* Good samples to standard output, or to a new file.  */

#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/names.h"
#include "dflash-inspect/options.h"
#include "dflash-inspect/session.h"

/* What notes count.  */
enum {
    SAMPLES,
    TOKENS,
    BATCHES,
    N_NOTED
};
static const char *const noted[N_NOTED] = {"samples", "tokens", "batches"};

/* One output has one header, so all inputs must have it.  */
static df_status
check_headers(const struct session *s)
{
    const struct df_capture_header *first = df_captures_header(s->captures, 0);
    char text[200];

    for (size_t i = 1; i < df_captures_files(s->captures); i++)
        if (df_capture_differs(first, df_captures_header(s->captures, i), true,
                               text, sizeof text))
            return DF_FAIL(DF_INVALID, "%s and %s can't become one: %s",
                           df_captures_path(s->captures, 0),
                           df_captures_path(s->captures, i), text);
    return DF_OK;
}

/* Whether PATH, which is read, is the file OUT.  */
static bool
is_file(const char *path, const struct stat *out)
{
    struct stat in;
    int failed =
        strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &in) : stat(path, &in);

    return !failed && in.st_dev == out->st_dev && in.st_ino == out->st_ino;
}

/* A file that is read must not be replaced.  */
static df_status
check_distinct(const struct session *s)
{
    struct stat out;
    bool same;

    if (stat(opt.repair, &out))
        return DF_OK;
    same = opt.compare && is_file(opt.compare, &out);
    for (size_t i = 0; i < s->n_paths; i++)
        same = same || is_file(s->paths[i], &out);
    return same ? DF_FAIL(DF_INVALID,
                          "%s is what is read: repair it into another file",
                          opt.repair)
                : DF_OK;
}

static size_t
samples_in(const struct session *s, size_t file)
{
    const struct df_capture_entry *e = df_captures_entries(s->captures);
    size_t n = 0;

    for (size_t i = 0; i < df_captures_count(s->captures); i++)
        n += e[i].file == file;
    return n;
}

/* Add what the notes of FILE count to SUMS.  False if they don't count all
   that is there: samples may have been added later.  */
static bool
add_notes(const struct session *s, size_t file, json_int_t sums[N_NOTED])
{
    const char *text = df_captures_header(s->captures, file)->notes;
    json_t *notes = text ? json_loads(text, 0, NULL) : NULL;
    bool whole = true;

    for (size_t i = 0; i < N_NOTED; i++) {
        json_int_t n = json_integer_value(json_object_get(notes, noted[i]));

        whole = whole && n > 0 && n <= INT64_MAX - sums[i];
        if (whole)
            sums[i] += n;
        if (i == SAMPLES)
            whole = whole && (uint64_t) n >= samples_in(s, file);
    }
    json_decref(notes);
    return whole;
}

/* The notes of the output, to be freed, or NULL: those of the first file,
   but what is counted there for all.  A trainer takes its steps from the
   batches of a pipe, and must not leave off before its end.  */
static char *
join_notes(const struct session *s)
{
    const char *first = df_captures_header(s->captures, 0)->notes;
    json_t *notes = first ? json_loads(first, 0, NULL) : NULL;
    json_int_t sums[N_NOTED] = {0};
    bool whole = true;
    char *text;

    for (size_t i = 0; i < df_captures_files(s->captures); i++)
        whole = add_notes(s, i, sums) && whole;
    for (size_t i = 0; i < N_NOTED; i++)
        if (whole)
            json_object_set_new(notes, noted[i], json_integer(sums[i]));
        else
            json_object_del(notes, noted[i]);
    text = notes ? json_dumps(notes, JSON_COMPACT) : NULL;
    json_decref(notes);
    return text;
}

static df_status
open_writer(struct session *s, const struct df_capture_header *h)
{
    const struct df_capture_writer_options o = {.force = opt.force};
    int format = opt.repair ? format_by_name(opt.repair) : -1;

    if (opt.pass)
        return df_capture_writer_open(&s->pass, "-", DF_CAPTURE_STREAM, h,
                                      NULL);
    DF_TRY(check_distinct(s));
    return df_capture_writer_open(
        &s->repair, opt.repair,
        format == DF_CAPTURE_HDF5 ? DF_CAPTURE_HDF5 : DF_CAPTURE_STREAM, h,
        &o);
}

df_status
open_writers(struct session *s)
{
    struct df_capture_header h = *df_captures_header(s->captures, 0);
    char *notes = NULL;
    df_status status;

    if (!opt.pass && !opt.repair)
        return DF_OK;
    DF_TRY(check_headers(s));
    if (!df_captures_is_pipe(s->captures))
        h.notes = notes = join_notes(s);
    status = open_writer(s, &h);
    free(notes);
    return status;
}

df_status
forward(struct session *s, const struct seen *seen)
{
    size_t size;
    const uint8_t *image = df_capture_image(s->scratch, &size);

    if (s->pass && image)
        DF_TRY(df_capture_writer_put_image(s->pass, image, size));
    else if (s->pass)
        DF_TRY(df_capture_writer_put(s->pass, &seen->sample));
    if (s->repair)
        DF_TRY(df_capture_writer_put(s->repair, &seen->sample));
    s->forwarded++;
    return DF_OK;
}

/* Who reads what is passed on must not take half an input for a whole one:
   without its end it gets no end record.  */
df_status
close_writers(struct session *s, df_status status)
{
    struct df_capture_writer *pass = s->pass, *repair = s->repair;

    s->pass = s->repair = NULL;
    if (pass && status == DF_OK && s->incomplete)
        (void) !df_capture_writer_close(pass, DF_CANCELED);
    else if (pass)
        status = df_capture_writer_close(pass, status);
    return repair ? df_capture_writer_close(repair, status) : status;
}

/* Good samples to standard output, or to a new file.  */

#include <config.h>

#include <string.h>
#include <sys/stat.h>

#include "dflash-inspect/options.h"
#include "dflash-inspect/session.h"

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

/* A file that is read must not be replaced.  */
static df_status
check_distinct(const struct session *s)
{
    struct stat in, out;

    if (stat(opt.repair, &out))
        return DF_OK;
    for (size_t i = 0; i < s->n_paths; i++)
        if (strcmp(s->paths[i], "-") != 0 && stat(s->paths[i], &in) == 0
            && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
            return DF_FAIL(DF_INVALID,
                           "%s is what is read: repair it into "
                           "another file",
                           opt.repair);
    return DF_OK;
}

static bool
ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), e = strlen(end);

    return n > e && strcmp(name + n - e, end) == 0;
}

df_status
open_writers(struct session *s)
{
    const struct df_capture_header *h = df_captures_header(s->captures, 0);
    const struct df_capture_writer_options o = {.force = opt.force};
    bool hdf5;

    if (!opt.pass && !opt.repair)
        return DF_OK;
    DF_TRY(check_headers(s));
    if (opt.pass)
        return df_capture_writer_open(&s->pass, "-", DF_CAPTURE_STREAM, h,
                                      NULL);
    DF_TRY(check_distinct(s));
    hdf5 = ends_in(opt.repair, ".h5") || ends_in(opt.repair, ".hdf5");
    return df_capture_writer_open(&s->repair, opt.repair,
                                  hdf5 ? DF_CAPTURE_HDF5 : DF_CAPTURE_STREAM,
                                  h, &o);
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

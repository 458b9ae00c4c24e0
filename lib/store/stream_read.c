/* Reading a stream: a file whose samples are found by a walk over their
   headers, or a pipe, in order.  */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/h5io_internal.h"
#include "store/stream_internal.h"

enum {
    FIRST_ROOM = 16 << 20, /* bytes trusted before they are seen */
    LINGER_MS = 1000,      /* for the end of a pipe behind its end record */
    WHERE = 300
};

struct place {
    uint64_t at, size;
};

struct stream_file {
    struct df_capture_file base; /* must be first */
    int fd;
    bool owned;
    bool in_place; /* as of the options */
    uint64_t size; /* of a file */
    struct df_input in;
    uint64_t count; /* samples seen */
    bool ended;
    struct place *places; /* [n_entries] of the images */
};

static const char *
where(char buf[WHERE], const struct stream_file *f, uint64_t record)
{
    snprintf(buf, WHERE, "%.200s: record %" PRIu64, f->base.path, record);
    return buf;
}

static df_status
truncated(struct stream_file *f)
{
    f->ended = true;
    if (f->count == 0)
        return DF_FAIL(DF_FORMAT, "%s: truncated before the first sample",
                       f->base.path);
    return DF_FAIL(DF_FORMAT, "%s: truncated after sample %" PRIu64,
                   f->base.path, f->count);
}

/* Read SIZE bytes or fail as TRUNCATED.  */
static df_status
take(struct stream_file *f, void *out, size_t size)
{
    size_t got;
    df_status status = df_input_read(&f->in, out, size, &got);

    if (status != DF_OK) {
        f->ended = true;
        return status;
    }
    return got == size ? DF_OK : truncated(f);
}

/* Behind the end record nothing may come.  A writer that keeps its end of
   the pipe open is no reason to wait for ever.  */
static df_status
check_end(struct stream_file *f)
{
    struct pollfd poll_fd = {.fd = f->fd, .events = POLLIN};
    uint8_t byte;
    size_t got = 0;

    if (f->in.at < f->in.end || poll(&poll_fd, 1, LINGER_MS) > 0)
        DF_TRY(df_input_read(&f->in, &byte, 1, &got));
    return got == 0 ? DF_OK
                    : DF_FAIL(DF_FORMAT, "%s: data behind the end record",
                              f->base.path);
}

static df_status
end_record(struct stream_file *f)
{
    uint64_t count;

    DF_TRY(take(f, &count, sizeof count));
    f->ended = true;
    if (count != f->count)
        return DF_FAIL(DF_FORMAT,
                       "%s: its end record counts %" PRIu64
                       " samples, but there are %" PRIu64,
                       f->base.path, count, f->count);
    DF_TRY(check_end(f));
    return DF_END;
}

/* Read an image of SIZE bytes into ROOM.  The room grows with what comes, so
   that a false length costs nothing.  */
static df_status
take_image(struct stream_file *f, struct df_room *room, uint64_t size)
{
    uint64_t first = size < FIRST_ROOM ? size : FIRST_ROOM, done = 0;

    DF_TRY(df_room_fit(room, first, f->base.path));
    for (;;) {
        uint64_t n = (room->size < size ? room->size : size) - done;
        struct df_room wide = {0};

        DF_TRY(take(f, room->data + done, n));
        done += n;
        if (done == size)
            return DF_OK;
        n = done < size / 2 ? done * 2 : size;
        if (df_room_fit(&wide, n, f->base.path) != DF_OK) {
            f->ended = true;
            return DF_NO_MEMORY;
        }
        memcpy(wide.data, room->data, done);
        free(room->data);
        *room = wide;
    }
}

static df_status
stream_next(struct df_capture_file *base, struct df_capture_scratch *scratch,
            struct df_capture_sample *out)
{
    struct stream_file *f = (struct stream_file *) base;
    char text[WHERE];
    uint64_t size;

    if (f->ended)
        return DF_END;
    DF_TRY(take(f, &size, sizeof size));
    if (size == 0)
        return end_record(f);
    DF_TRY(take_image(f, &scratch->incoming, size));
    f->count++;
    return df_image_parse(scratch, scratch->incoming.data, size,
                          &base->head.header, where(text, f, f->count - 1),
                          out);
}

static df_status
stream_read(struct df_capture_file *base, const struct df_capture_entry *entry,
            struct df_capture_scratch *scratch, struct df_capture_sample *out)
{
    struct stream_file *f = (struct stream_file *) base;
    struct place place = f->places[entry->record];
    const uint8_t *image;
    char text[WHERE];

    df_view_open(&scratch->view, f->fd, f->in_place ? f->size : 0);
    DF_TRY(df_scratch_load(scratch, f->fd, place.at, place.size, base->path,
                           &image));
    return df_image_parse(scratch, image, place.size, &base->head.header,
                          where(text, f, entry->record), out);
}

static void
stream_free(struct df_capture_file *base)
{
    struct stream_file *f = (struct stream_file *) base;

    df_input_clear(&f->in);
    if (f->owned && f->fd >= 0)
        close(f->fd);
    free(f->places);
}

static const struct df_capture_file_ops file_ops = {
    .read = stream_read,
    .free = stream_free,
};
static const struct df_capture_file_ops pipe_ops = {
    .next = stream_next,
    .free = stream_free,
};

/* The rest of the first line, without its newline, to be freed.  */
static df_status
take_line(struct stream_file *f, char **out, size_t *len)
{
    size_t size = 0, n = 0, got = 1;
    char *line = NULL;
    df_status status = DF_OK;

    for (;;) {
        if (n == size) {
            char *grown = realloc(line, size = size * 2 + 1024);

            if (!grown || size > DF_MAX_HEADER_TEXT)
                break;
            line = grown;
        }
        status = df_input_read(&f->in, line + n, 1, &got);
        if (status != DF_OK || got == 0)
            break;
        if (line[n] == '\n') {
            *out = line;
            *len = n;
            return DF_OK;
        }
        n++;
    }
    free(line);
    if (status != DF_OK)
        return status;
    return DF_FAIL(DF_FORMAT, "%s: %s", f->base.path,
                   got == 0 ? "truncated within its header"
                            : "no header that could be read");
}

static df_status
take_header(struct stream_file *f)
{
    char magic[sizeof DF_STREAM_MAGIC] = "", *text = NULL;
    size_t size = strlen(DF_STREAM_MAGIC), got, len = 0;
    df_status status;

    DF_TRY(df_input_read(&f->in, magic, size, &got));
    if (got < size && strncmp(magic, DF_STREAM_MAGIC, got) == 0)
        return DF_FAIL(DF_FORMAT, "%s: %s", f->base.path,
                       got ? "truncated within its header" : "empty");
    if (strncmp(magic, DF_H5_SIGNATURE, strlen(DF_H5_SIGNATURE)) == 0)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: HDF5 is read from files alone, not from pipes",
                       f->base.path);
    if (strncmp(magic, DF_STREAM_NAME, strlen(DF_STREAM_NAME)) != 0)
        return DF_FAIL(DF_FORMAT,
                       "%s: neither a dflash stream nor an HDF5 file",
                       f->base.path);
    if (strcmp(magic, DF_STREAM_MAGIC) != 0)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: a stream of another version; only 1 is understood",
                       f->base.path);
    DF_TRY(take_line(f, &text, &len));
    status = df_head_parse(&f->base.head, text, len, f->base.path);
    free(text);
    return status;
}

static df_status
add_place(struct stream_file *f, struct df_capture_entry entry,
          struct place place)
{
    size_t n = f->base.n_entries;

    if ((n & (n - 1)) == 0) { /* a power of 2, or 0: full */
        size_t max = n ? n * 2 : 1;
        void *entries = realloc(f->base.entries, max * sizeof entry);
        void *places = entries ? realloc(f->places, max * sizeof place) : NULL;

        if (entries)
            f->base.entries = entries;
        if (places)
            f->places = places;
        if (!places)
            return DF_FAIL(DF_NO_MEMORY, "%s: %zu samples", f->base.path, max);
    }
    entry.record = n;
    f->base.entries[n] = entry;
    f->places[n] = place;
    f->base.n_entries++;
    f->count++;
    return DF_OK;
}

/* Read SIZE bytes at *AT of a file, which must be there, and go on.  */
static df_status
look(struct stream_file *f, void *out, uint64_t size, uint64_t *at)
{
    if (size > f->size - *at)
        return truncated(f);
    if (!df_read_at(f->fd, out, size, *at))
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", f->base.path, strerror(errno));
    *at += size;
    return DF_OK;
}

/* Note the image of SIZE bytes at AT.  */
static df_status
note_image(struct stream_file *f, uint64_t at, uint64_t size)
{
    struct place place = {at, size};
    struct df_capture_entry entry = {0};
    uint64_t len;
    char text[WHERE], *json;
    df_status status;

    if (size > f->size - at)
        return truncated(f);
    DF_TRY(look(f, &len, sizeof len, &at));
    if (size < sizeof len || len > size - sizeof len
        || len > DF_SAFETENSORS_MAX_HEADER)
        return DF_FAIL(DF_FORMAT,
                       "%s: header of %" PRIu64
                       " bytes in an image of %" PRIu64,
                       where(text, f, f->count), len, size);
    json = malloc(len + 1);
    status = json ? look(f, json, len, &at)
                  : DF_FAIL(DF_NO_MEMORY, "%s", f->base.path);
    if (status == DF_OK)
        status = df_image_peek(&entry, json, len, where(text, f, f->count));
    free(json);
    DF_TRY(status);
    return add_place(f, entry, place);
}

static df_status
walk(struct stream_file *f)
{
    uint64_t at = f->in.taken, size, count;

    for (;;) {
        DF_TRY(look(f, &size, sizeof size, &at));
        if (size == 0)
            break;
        DF_TRY(note_image(f, at, size));
        at += size;
    }
    DF_TRY(look(f, &count, sizeof count, &at));
    if (count != f->count)
        return DF_FAIL(DF_FORMAT,
                       "%s: its end record counts %" PRIu64
                       " samples, but there are %" PRIu64,
                       f->base.path, count, f->count);
    if (at != f->size)
        return DF_FAIL(DF_FORMAT, "%s: data behind the end record",
                       f->base.path);
    return DF_OK;
}

static bool
never(void *arg)
{
    (void) arg;
    return false;
}

static df_status
open_fd(struct stream_file *f, const char *path,
        const struct df_captures_options *options)
{
    struct stat st;

    if (strcmp(path, "-") == 0) {
        f->fd = STDIN_FILENO;
        path = "standard input";
    } else {
        /* A named pipe without a writer doesn't wait here, but where it is
           read, and there can be given up.  */
        f->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        f->owned = true;
    }
    f->base.path = strdup(path);
    if (!f->base.path)
        return DF_FAIL(DF_NO_MEMORY, "%s", path);
    if (f->fd < 0 || fstat(f->fd, &st)
        || (f->owned && fcntl(f->fd, F_SETFL, 0)))
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", path, strerror(errno));
    f->size = (uint64_t) st.st_size;
    f->in_place = options && options->in_place;
    f->base.pipe = !f->owned || !S_ISREG(st.st_mode);
    f->base.ops = f->base.pipe ? &pipe_ops : &file_ops;
    DF_TRY(df_input_init(&f->in, f->fd, f->base.path));
    if (f->base.pipe) {
        f->in.gives_up =
            options && options->gives_up ? options->gives_up : never;
        f->in.arg = options ? options->arg : NULL;
    }
    return DF_OK;
}

df_status
df_stream_file_open(struct df_capture_file **out, const char *path,
                    const struct df_captures_options *options, df_status *note)
{
    struct stream_file *f = calloc(1, sizeof *f);

    *note = DF_OK;
    if (!f)
        return DF_FAIL(DF_NO_MEMORY, "%s", path);
    *out = &f->base;
    f->base.ops = &pipe_ops;
    f->fd = -1;
    DF_TRY(open_fd(f, path, options));
    DF_TRY(take_header(f));
    if (!f->base.pipe)
        *note = walk(f);
    return DF_OK;
}

#include <config.h>

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/stream_internal.h"

enum {
    BUFFER = 64 << 10,
    PATIENCE = 100, /* ms */
    MOVE_MAX = 1 << 30
};

df_status
df_input_init(struct df_input *in, int fd, const char *name)
{
    *in = (struct df_input){.fd = fd, .name = name, .buffer = malloc(BUFFER)};
    return in->buffer ? DF_OK : DF_FAIL(DF_NO_MEMORY, "%s: buffer", name);
}

void
df_input_clear(struct df_input *in)
{
    free(in->buffer);
    in->buffer = NULL;
}

/* Wait until there is something to read, be it the end.  */
static df_status
wait_for(const struct df_input *in)
{
    struct pollfd pollfd = {.fd = in->fd, .events = POLLIN};

    while (in->gives_up) {
        if (in->gives_up(in->arg))
            return DF_FAIL(DF_CANCELED, "%s: given up", in->name);
        if (poll(&pollfd, 1, PATIENCE) > 0)
            break;
    }
    return DF_OK;
}

/* One read, of at least a byte unless at the end.  */
static df_status
read_once(const struct df_input *in, void *out, size_t size, size_t *got)
{
    ssize_t n;

    DF_TRY(wait_for(in));
    do
        n = read(in->fd, out, size < MOVE_MAX ? size : MOVE_MAX);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", in->name, strerror(errno));
    *got = (size_t) n;
    return DF_OK;
}

df_status
df_input_read(struct df_input *in, void *out, size_t size, size_t *got)
{
    uint8_t *to = out;
    size_t done = 0, n = 0;

    while (done < size) {
        size_t wanted = size - done;

        if (in->at == in->end && wanted >= BUFFER) {
            DF_TRY(read_once(in, to + done, wanted, &n));
            if (n == 0)
                break;
            done += n;
            continue;
        }
        if (in->at == in->end) {
            in->at = in->end = 0;
            DF_TRY(read_once(in, in->buffer, BUFFER, &in->end));
            if (in->end == 0)
                break;
        }
        n = in->end - in->at < wanted ? in->end - in->at : wanted;
        memcpy(to + done, in->buffer + in->at, n);
        in->at += n;
        done += n;
    }
    in->taken += done;
    *got = done;
    return DF_OK;
}

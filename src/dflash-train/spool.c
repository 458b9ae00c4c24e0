/* Keeping a stream, so that it can be read more than once.  */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "common/progress.h"
#include "common/signals.h"
#include "dflash-train/captures.h"
#include "dflash-train/options.h"

enum {
    CHUNK = 1 << 16,
    PATIENCE = 100 /* ms */
};

static df_status
write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);

        if (n < 0 && errno != EINTR)
            return DF_FAIL_ERRNO(DF_IO, "%s: %s", opt.spool, strerror(errno));
        if (n > 0) {
            data += n;
            size -= (size_t) n;
        }
    }
    return DF_OK;
}

/* Whether something came, be it the end, before a signal did.  */
static bool
wait_for_input(void)
{
    struct pollfd pollfd = {.fd = STDIN_FILENO, .events = POLLIN};

    while (!signals_caught())
        if (poll(&pollfd, 1, PATIENCE) > 0)
            return true;
    return false;
}

static df_status
copy(int fd)
{
    char chunk[CHUNK];
    double all = 0;
    ssize_t n;

    for (;;) {
        if (!wait_for_input())
            return DF_FAIL(DF_CANCELED, "%s: interrupted", opt.spool);
        n = read(STDIN_FILENO, chunk, sizeof chunk);
        if (n == 0)
            break;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return DF_FAIL_ERRNO(DF_IO, "standard input: %s", strerror(errno));
        DF_TRY(write_all(fd, chunk, (size_t) n));
        all += (double) n;
        progress_show("copying to %s: %s", opt.spool, format_bytes(all).text);
    }
    progress_end();
    return DF_OK;
}

df_status
spool_stdin(void)
{
    int flags =
        O_WRONLY | O_CREAT | O_CLOEXEC | (opt.overwrite ? O_TRUNC : O_EXCL);
    int fd = open(opt.spool, flags, 0666);
    df_status status;

    if (fd < 0)
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", opt.spool, strerror(errno));
    status = copy(fd);
    if (close(fd) && status == DF_OK)
        status = DF_FAIL_ERRNO(DF_IO, "%s: %s", opt.spool, strerror(errno));
    return status;
}

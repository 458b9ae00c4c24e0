#include <config.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/exit.h"
#include "common/message.h"

static void
close_stdout(void)
{
    bool pending = __fpending(stdout) > 0;
    bool failed = ferror(stdout) != 0;

    errno = 0;
    /* A tool started with no standard output at all gets EBADF, which is
       trouble only if it had something to say.  */
    if (fclose(stdout) && (pending || errno != EBADF))
        failed = true;
    if (!failed)
        return;
    if (errno && errno != EPIPE)
        message_fail("standard output: %s", strerror(errno));
    else if (!errno)
        message_fail("standard output: write error");
    _exit(EXIT_TROUBLE);
}

void
check_stdout_at_exit(void)
{
    static bool done;

    if (!done && atexit(close_stdout) == 0)
        done = true;
}

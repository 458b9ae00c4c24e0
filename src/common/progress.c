#include <config.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "common/message_private.h"
#include "common/progress.h"

enum {
    LINE_MAX_LENGTH = 512,
    DEFAULT_WIDTH = 80
};

static const double interval_s = 0.2;

/* When a line was last shown, or 0.  Guarded by stderr_lock.  */
static double shown_at;

bool
progress_wanted(void)
{
    const char *term = getenv("TERM");

    return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

static double
now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static size_t
terminal_width(void)
{
    struct winsize size;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col == 0)
        return DEFAULT_WIDTH;
    return size.ws_col;
}

static void
show(char *text)
{
    char line[LINE_MAX_LENGTH + 8];
    size_t width = terminal_width();
    size_t most = width - 1 < LINE_MAX_LENGTH ? width - 1 : LINE_MAX_LENGTH;

    /* The last column stays empty: a terminal wraps there.  */
    if (strlen(text) > most)
        text[most] = '\0';
    for (char *p = text; *p; p++)
        if (*p < 0x20 || *p > 0x7e)
            *p = '?';
    int n = snprintf(line, sizeof line, "\r%s\033[K", text);
    stderr_write(line, (size_t) n);
    stderr_has_progress = true;
}

void
progress_show(const char *format, ...)
{
    char text[LINE_MAX_LENGTH + 1];
    double now = now_s();
    va_list args;

    if (!progress_wanted())
        return;
    stderr_lock();
    if (shown_at == 0 || now - shown_at >= interval_s) {
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        show(text);
        shown_at = now;
    }
    stderr_unlock();
}

void
progress_end(void)
{
    stderr_lock();
    if (stderr_has_progress)
        stderr_write("\r\033[K", 4);
    stderr_has_progress = false;
    shown_at = 0;
    stderr_unlock();
}

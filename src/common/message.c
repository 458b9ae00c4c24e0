#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/exit.h"
#include "common/message.h"
#include "common/message_private.h"
#include "dflash/error.h"

static const char *tool_name = "dflash";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
bool stderr_has_progress;

void
message_set_name(const char *name)
{
    tool_name = name;
}

void
stderr_lock(void)
{
    pthread_mutex_lock(&mutex);
}

void
stderr_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

void
stderr_write(const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(STDERR_FILENO, text, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        text += n;
        len -= (size_t) n;
    }
}

void
one_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char) *text < 0x20 || *text == 0x7f)
            *text = '?';
}

/* Write "\r", erase to the end of the line, then NAME PREFIX TEXT "\n", all
   in one write.  */
static void
write_line(const char *name, const char *prefix, const char *text)
{
    static const char erase[] = "\r\033[K";
    char *line = NULL;
    int n;

    stderr_lock();
    n = asprintf(&line, "%s%s%s%s%s\n", stderr_has_progress ? erase : "", name,
                 *name ? ": " : "", prefix, text);
    if (n >= 0)
        stderr_write(line, (size_t) n);
    else
        stderr_write(text, strlen(text)); /* no memory: the bare text */
    stderr_has_progress = false;
    stderr_unlock();
    free(line);
}

static void say(const char *name, const char *prefix, const char *format,
                va_list args) __attribute__((format(printf, 3, 0)));

static void
say(const char *name, const char *prefix, const char *format, va_list args)
{
    int saved = errno;
    char text[1024];
    va_list again;
    char *longer = NULL;

    va_copy(again, args);
    if (vsnprintf(text, sizeof text, format, args) >= (int) sizeof text
        && vasprintf(&longer, format, again) < 0)
        longer = NULL;
    va_end(again);
    one_line(longer ? longer : text);
    write_line(name, prefix, longer ? longer : text);
    free(longer);
    errno = saved;
}

void
message_note(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(tool_name, "", format, args);
    va_end(args);
}

void
message_warn(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(tool_name, "warning: ", format, args);
    va_end(args);
}

int
message_fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(tool_name, "", format, args);
    va_end(args);
    return EXIT_TROUBLE;
}

int
message_fail_last(void)
{
    return message_fail("%s", df_error_last()->message);
}

void
message_hint(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say("", "", format, args);
    va_end(args);
}

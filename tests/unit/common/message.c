#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/exit.h"
#include "common/message.h"
#include "dflash/error.h"
#include "tap/tap.h"

enum {
    THREADS = 4,
    LINES = 200
};

/* Standard error of this process goes to a file from here on, which reads
   back as one text.  */
static FILE *capture;

static void
start_capture(void)
{
    capture = tmpfile();
    if (!capture || dup2(fileno(capture), STDERR_FILENO) < 0)
        exit(99);
}

/* What was said since the last call.  */
static const char *
said(void)
{
    static char text[65536];
    size_t n;

    rewind(capture);
    n = fread(text, 1, sizeof text - 1, capture);
    text[n] = '\0';
    if (ftruncate(fileno(capture), 0)
        || lseek(STDERR_FILENO, 0, SEEK_SET) != 0)
        exit(99);
    return text;
}

static void
said_is(const char *wanted, const char *label)
{
    const char *seen = said();

    if (!ok(strcmp(wanted, seen) == 0, "%s", label)) {
        diag("wanted: %s", wanted);
        diag("  seen: %s", seen);
    }
}

static void
check_forms(void)
{
    char longest[3001];
    char wanted[3100];

    message_note("%d steps", 5);
    said_is("demo: 5 steps\n", "a note");
    message_warn("odd: %s", "x");
    said_is("demo: warning: odd: x\n", "a warning");
    is_long(EXIT_TROUBLE, message_fail("no %s", "y"),
            "a failure has its exit status");
    said_is("demo: no y\n", "  and its line");
    message_hint("Try it.");
    said_is("Try it.\n", "a hint has no name");
    (void) DF_FAIL(DF_FORMAT, "f: 3 of 5");
    is_long(EXIT_TROUBLE, message_fail_last(), "the library's failure");
    said_is("demo: f: 3 of 5\n", "  is told as worded");
    message_fail("a\nb\033[31m\177: \xc3\xa9 100%%");
    said_is("demo: a?b?[31m?: \xc3\xa9 100%\n",
            "control characters cannot make a second line");
    memset(longest, 'x', 3000);
    longest[3000] = '\0';
    message_note("%s", longest);
    snprintf(wanted, sizeof wanted, "demo: %s\n", longest);
    said_is(wanted, "a long line is whole");
    errno = EDOM;
    message_note("x");
    is_long(EDOM, errno, "errno is left alone");
    said();
}

static void *
talk(void *arg)
{
    for (int i = 0; i < LINES; i++)
        message_note("thread %d says %03d and no more", *(int *) arg, i);
    return NULL;
}

static void
check_threads(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS], next[THREADS] = {0}, good = 0;
    const char *p;

    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, talk, &numbers[i]))
            exit(99);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (p = said(); *p; p = strchr(p, '\n') + 1) {
        int thread, i, end = 0;

        sscanf(p, "demo: thread %d says %d and no more%n", &thread, &i, &end);
        if (end == 0 || p[end] != '\n' || next[thread] != i)
            break;
        next[thread]++;
        good++;
    }
    is_long(THREADS * LINES, good, "lines of several threads are whole");
}

int
main(void)
{
    plan(11);
    start_capture();
    message_set_name("demo");
    check_forms();
    check_threads();
    return 0;
}

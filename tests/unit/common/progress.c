#include <config.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "common/message.h"
#include "common/progress.h"
#include "tap/tap.h"

/* The far end of the terminal that is standard error here.  */
static int master = -1;

/* Make standard error a terminal of WIDTH columns.  False, with the reason
   in *WHY, where there are none.  */
static bool
open_terminal(int width, const char **why)
{
    struct winsize size = {.ws_row = 24, .ws_col = (unsigned short) width};
    struct termios raw;
    int slave;

    master = posix_openpt(O_RDWR | O_NOCTTY);
    *why = "no pseudo-terminal";
    if (master < 0 || grantpt(master) || unlockpt(master))
        return false;
    slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    if (slave < 0 || tcgetattr(slave, &raw))
        return false;
    cfmakeraw(&raw);
    return tcsetattr(slave, TCSANOW, &raw) == 0
           && ioctl(slave, TIOCSWINSZ, &size) == 0
           && dup2(slave, STDERR_FILENO) >= 0 && close(slave) == 0
           && fcntl(master, F_SETFL, O_NONBLOCK) == 0;
}

static void
shown_is(const char *wanted, const char *label)
{
    char seen[1024];
    ssize_t n = read(master, seen, sizeof seen - 1);

    seen[n > 0 ? n : 0] = '\0';
    if (ok(strcmp(wanted, seen) == 0, "%s", label))
        return;
    for (char *p = seen; *p; p++)
        if (*p == '\033' || *p == '\r' || *p == '\n')
            *p = '~';
    diag("seen: %s", seen);
}

static void
wait_s(double s)
{
    struct timespec t = {0, (long) (s * 1e9)};

    nanosleep(&t, NULL);
}

static void
check_terminal(void)
{
    ok(progress_wanted(), "a terminal wants progress");
    progress_show("step %d", 1);
    shown_is("\rstep 1\033[K", "a line is shown");
    progress_show("step %d", 2);
    shown_is("", "the next is too early");
    wait_s(0.25);
    progress_show("%s", "0123456789012345678901234567890123456789x");
    shown_is("\r012345678901234567890123456789012345678\033[K",
             "a long line is cut short of the last column");
    message_note("hello");
    shown_is("\r\033[Kdemo: hello\n", "a message takes its place");
    message_note("again");
    shown_is("demo: again\n", "  once");
    progress_end();
    shown_is("", "there is nothing left to erase");
    progress_show("a\nb\t\xc3\xa9");
    shown_is("\ra?b???\033[K", "the line stays a line of ASCII");
    progress_end();
    shown_is("\r\033[K", "the end erases it");
    setenv("TERM", "dumb", 1);
    progress_show("step 3");
    shown_is("", "a dumb terminal gets nothing");
}

int
main(void)
{
    const char *why;
    int file;

    plan(11);
    message_set_name("demo");
    setenv("TERM", "xterm", 1);
    if (open_terminal(40, &why))
        check_terminal();
    else
        for (int i = 0; i < 10; i++)
            skip("%s", why);
    setenv("TERM", "xterm", 1);
    file = open("/dev/null", O_WRONLY);
    dup2(file, STDERR_FILENO);
    ok(!progress_wanted(), "what is no terminal wants none");
    return 0;
}

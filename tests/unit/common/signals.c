#include <config.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/signals.h"
#include "tap/tap.h"

/* Exit statuses of the children below that no signal gives.  */
enum {
    GOOD = 10,
    BAD = 11
};

static int
one_signal(int n)
{
    if (signals_caught() != 0)
        return BAD;
    raise(n);
    return signals_caught() == n ? signals_status(n) : BAD;
}

static int
sigint(void)
{
    return one_signal(SIGINT);
}

static int
sigterm(void)
{
    return one_signal(SIGTERM);
}

static int
sigint_twice(void)
{
    raise(SIGINT);
    raise(SIGINT);
    return BAD;
}

static int
sigterm_twice(void)
{
    raise(SIGTERM);
    raise(SIGTERM);
    return BAD;
}

static int
sigint_then_sigterm(void)
{
    raise(SIGINT);
    raise(SIGTERM);
    return BAD;
}

static int
broken_pipe(void)
{
    int ends[2];

    if (pipe(ends) || close(ends[0]))
        return BAD;
    return write(ends[1], "x", 1) < 0 && errno == EPIPE ? GOOD : BAD;
}

/* A slow reader is not woken by a signal: read(2) goes on.  */
static int
restarted_read(void)
{
    int ends[2];
    char c = 0;
    pid_t child, self = getpid();

    if (pipe(ends) || (child = fork()) < 0)
        return BAD;
    if (child == 0) {
        usleep(50000);
        kill(self, SIGTERM);
        usleep(50000);
        _exit(write(ends[1], "x", 1) != 1);
    }
    if (read(ends[0], &c, 1) != 1 || c != 'x')
        return BAD;
    waitpid(child, NULL, 0);
    return signals_caught() == SIGTERM ? GOOD : BAD;
}

static const struct {
    int (*run)(void);
    int status;
    const char *label;
} cases[] = {
    {sigint,              130,  "SIGINT sets the flag; status 130"  },
    {sigterm,             143,  "SIGTERM sets the flag; status 143" },
    {sigint_twice,        130,  "a second SIGINT exits at once"     },
    {sigterm_twice,       143,  "a second SIGTERM exits at once"    },
    {sigint_then_sigterm, 143,  "SIGTERM after SIGINT exits at once"},
    {broken_pipe,         GOOD, "a broken pipe is an error"         },
    {restarted_read,      GOOD, "a signal doesn't interrupt read"   },
};

/* The exit status of RUN in a child, or -1 if a signal ended it.  IGNORED
   says that SIGINT was ignored when it started.  */
static int
status_of(int (*run)(void), bool ignored)
{
    pid_t child = fork();
    int status = -1;

    if (child == 0) {
        if (ignored)
            signal(SIGINT, SIG_IGN);
        signals_install();
        _exit(run());
    }
    if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

int
main(void)
{
    size_t n = sizeof cases / sizeof *cases;

    plan((int) n + 1);
    for (size_t i = 0; i < n; i++)
        is_long(cases[i].status, status_of(cases[i].run, false), "%s",
                cases[i].label);
    is_long(130, status_of(sigint, true),
            "a run in the background of a script can be interrupted");
    return 0;
}

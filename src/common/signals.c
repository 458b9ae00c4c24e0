#include <config.h>

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "common/exit.h"
#include "common/signals.h"

/* Lock-free, hence safe in the handler.  */
static atomic_int caught;
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "atomic_int must be lock-free");

int
signals_status(int signal)
{
    return 128 + signal;
}

static void
on_signal(int signal)
{
    int none = 0;

    if (!atomic_compare_exchange_strong(&caught, &none, signal))
        _exit(signals_status(signal));
}

static bool
say(const char *text)
{
    size_t n = strlen(text);

    return write(STDERR_FILENO, text, n) == (ssize_t) n;
}

/* A page of a mapped file that isn't there any more.  */
static void
on_bus_error(int signal)
{
    (void) signal;
    if (say(program_invocation_short_name))
        (void) say(": a file was cut off while it was read\n");
    _exit(EXIT_TROUBLE);
}

void
signals_install(void)
{
    struct sigaction action = {0};

    /* SA_RESTART: the libraries below us need not know of signals.  */
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    action.sa_handler = on_signal;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    action.sa_handler = on_bus_error;
    sigaction(SIGBUS, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
}

int
signals_caught(void)
{
    return atomic_load(&caught);
}

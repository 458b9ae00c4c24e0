#include <config.h>

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

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
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
}

int
signals_caught(void)
{
    return atomic_load(&caught);
}

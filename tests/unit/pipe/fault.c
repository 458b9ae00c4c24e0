#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault_internal.h"
#include "tap/tap.h"

/* The variable is read once a process: each case gets its own.  Bits of the
   result: 1 malformed, 2 target fails at 3, 4 stalls at 2.  */
static int
in_child(const char *value)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        setenv("DFLASH_FAULT", value, 1);
        int bits = df_fault_check() != DF_OK;
        bits |= (df_fault("target", 3) != DF_OK) << 1;
        bits |= (df_fault_stall("copy", 2) > 0) << 2;
        _exit(bits);
    }
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}

int
main(void)
{
    static const struct {
        const char *value;
        int bits;
    } cases[] = {
        {"target=fail@3",                2},
        {"target=fail@4",                0},
        {"copy=stall@2:10",              4},
        {"copy=stall:10,target=fail@3",  6},
        {"target=fail",                  1},
        {"target",                       1},
        {"copy=delay:10",                4},
        {"copy=delay@2:10",              1},
        {"copy=stall@2",                 1},
        {"copy=stall:10x",               1},
        {"copy=stall:10,target=explode", 1},
    };

    plan(sizeof cases / sizeof *cases);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_long(cases[i].bits, in_child(cases[i].value), "DFLASH_FAULT=%s",
                cases[i].value);
    return 0;
}

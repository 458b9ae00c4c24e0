#include <config.h>

#include <stdlib.h>
#include <unistd.h>

#include "common/blas.h"
#include "dflash/device.h"

void
choose_blas(char **argv)
{
    const char *core = df_cpu_better_core();

    if (!core || getenv("OPENBLAS_CORETYPE"))
        return;
    if (setenv("OPENBLAS_CORETYPE", core, 1) == 0)
        execv("/proc/self/exe", argv);
    /* Without /proc we go on, more slowly.  */
}

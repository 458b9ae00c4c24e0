#include <config.h>

#include <string.h>

#include "cpu/blas_internal.h"
#include "dflash/device.h"

#ifdef __x86_64__
/* What OpenBLAS takes for a processor it doesn't know.  */
static const char fall_back[] = "Prescott";

const char *
df_cpu_better_core(void)
{
    if (strcmp(openblas_get_corename(), fall_back) != 0)
        return NULL;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("avx512vl"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return "Haswell";
    return NULL;
}
#else
const char *
df_cpu_better_core(void)
{
    return NULL;
}
#endif

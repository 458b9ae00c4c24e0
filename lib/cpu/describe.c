/* What the processor is.  */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu/blas_internal.h"
#include "cpu/cpu_internal.h"

/* What LINE of /proc/cpuinfo says of NAME, or NULL.  */
static const char *
value_of(char *line, const char *name)
{
    char *colon = strchr(line, ':');

    if (!colon || strncmp(line, name, strlen(name)) != 0)
        return NULL;
    line[strcspn(line, "\n")] = '\0';
    colon++;
    return colon + strspn(colon, " \t");
}

static void
describe_processor(struct df_device_info *out)
{
    FILE *fp = fopen("/proc/cpuinfo", "r");
    const char *value;
    char line[512];

    if (!fp)
        return;
    while (fgets(line, sizeof line, fp))
        if ((value = value_of(line, "model name")) && !*out->model)
            snprintf(out->model, sizeof out->model, "%.90s", value);
        else if ((value = value_of(line, "cpu MHz")) && !out->clock_mhz)
            out->clock_mhz = (unsigned) atof(value);
    fclose(fp);
}

static uint64_t
pages(int name)
{
    long n = sysconf(name), size = sysconf(_SC_PAGESIZE);

    return n > 0 && size > 0 ? (uint64_t) n * (uint64_t) size : 0;
}

static uint64_t
cache_bytes(void)
{
    long third = sysconf(_SC_LEVEL3_CACHE_SIZE);
    long second = sysconf(_SC_LEVEL2_CACHE_SIZE);

    return third > 0 ? (uint64_t) third : second > 0 ? (uint64_t) second : 0;
}

df_status
df_cpu_describe(struct df_device *dev, struct df_device_info *out)
{
    (void) dev;
    describe_processor(out);
    snprintf(out->runtime, sizeof out->runtime, "OpenBLAS %s",
             openblas_get_corename());
    out->memory_bytes = pages(_SC_PHYS_PAGES);
    out->free_bytes = pages(_SC_AVPHYS_PAGES);
    out->cache_bytes = cache_bytes();
    out->units = (unsigned) df_pool_cores();
    return DF_OK;
}

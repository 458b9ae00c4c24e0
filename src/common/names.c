#include <config.h>

#include <string.h>

#include "common/names.h"
#include "dflash/record.h"

bool
ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), e = strlen(end);

    return n > e && strcmp(name + n - e, end) == 0;
}

int
format_by_name(const char *name)
{
    if (ends_in(name, ".h5") || ends_in(name, ".hdf5"))
        return DF_CAPTURE_HDF5;
    return ends_in(name, ".dfs") ? DF_CAPTURE_STREAM : -1;
}

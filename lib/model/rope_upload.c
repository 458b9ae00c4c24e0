#include <config.h>

#include <stdlib.h>

#include "base/transfer_internal.h"
#include "model/rope_upload_internal.h"

df_status
df_rope_upload(struct df_device *dev, const struct df_rope *rope, int D,
               size_t positions, float *cos, float *sin)
{
    size_t n = positions * (size_t) D / 2;
    float *table = malloc(2 * n * sizeof *table);
    df_status status;

    if (!table)
        return DF_FAIL(DF_NO_MEMORY, "rotation of %zu positions", positions);
    status = df_rope_table(rope, D, (int) positions, table, table + n);
    if (status == DF_OK)
        status = df_copy_now(dev, cos, table, n * sizeof *table);
    if (status == DF_OK)
        status = df_copy_now(dev, sin, table + n, n * sizeof *table);
    free(table);
    return status;
}

#include <config.h>
#include <string.h>
#include "tap/tap.h"

#ifdef HAVE_CUDA
#    include "base/cuda_internal.h"

int
main(void)
{
    struct df_device *dev;
    const char *why = "";
    int count = -1;

    df_cuda_device_count(&count, &why);
    plan(5);
    ok(count >= 0, "the number of GPUs is not negative");
    ok((count == 0) == (why != NULL), "there is a reason iff there is none");
    if (why)
        skip("no GPU: %s", why);
    else
        ok(count >= 1, "%d of them", count);
    is_long(DF_DEVICE, df_cuda_open(&dev, count),
            "the device behind the last is refused");
    ok(strstr(df_error_last()->message, why ? why : "GPU") != NULL,
       "and the message says why: %s", df_error_last()->message);
    return 0;
}
#else
int
main(void)
{
    skip_all("built without CUDA");
}
#endif

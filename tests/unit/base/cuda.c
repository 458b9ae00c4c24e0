#include <config.h>
#include <stddef.h>
#include "tap/tap.h"

#ifdef HAVE_CUDA
#    include "base/cuda_internal.h"

int
main(void)
{
    int count = -1;
    const char *why = "";

    df_cuda_device_count(&count, &why);
    plan(3);
    ok(count >= 0, "the number of GPUs is not negative");
    ok((count == 0) == (why != NULL), "there is a reason iff there is none");
    if (why)
        skip("no GPU: %s", why);
    else
        ok(count >= 1, "%d of them", count);
    return 0;
}
#else
int
main(void)
{
    skip_all("built without CUDA");
}
#endif

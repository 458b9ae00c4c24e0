/* probe.cu - is there a GPU that this build can use?  */

#include "base/cuda_internal.h"
#include "cuda_internal.cuh"

void
df_cuda_device_count(int *count, const char **why)
{
    cudaError_t err = cudaGetDeviceCount(count);

    *why = NULL;
    if (err == cudaSuccess && *count > 0)
        return;
    *why = err == cudaSuccess ? "no device" : cudaGetErrorString(err);
    *count = 0;
    /* The runtime keeps the error for whoever calls next; drop it.  */
    (void) cudaGetLastError();
}

df_status
df_cuda_open(struct df_device **out, int index)
{
    const char *why;
    int count;

    *out = NULL;
    df_cuda_device_count(&count, &why);
    if (why)
        return DF_FAIL(DF_DEVICE, "device cuda:%d: %s", index, why);
    if (index >= count)
        return DF_FAIL(DF_DEVICE, "device cuda:%d: there are %d GPUs", index,
                       count);
    return DF_FAIL(DF_UNSUPPORTED,
                   "device cuda:%d: no operation has a CUDA kernel", index);
}

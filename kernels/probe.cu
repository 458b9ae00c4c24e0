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

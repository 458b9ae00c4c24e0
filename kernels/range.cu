/* range.cu - names for profilers, by NVTX.

   Its functions are in its headers: each is a test of a pointer until a
   profiler has put its own there.  */

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>

#include "cuda_internal.cuh"

void
df_cuda_range_begin(const char *name, uint64_t number)
{
    nvtxEventAttributes_t range = {};

    range.version = NVTX_VERSION;
    range.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    range.messageType = NVTX_MESSAGE_TYPE_ASCII;
    range.message.ascii = name;
    range.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    range.payload.ullValue = number;
    (void) nvtxRangePushEx(&range);
}

void
df_cuda_range_end(void)
{
    (void) nvtxRangePop();
}

void
df_cuda_name_stream(cudaStream_t stream, const char *name)
{
    nvtxNameCudaStreamA(stream, name);
}

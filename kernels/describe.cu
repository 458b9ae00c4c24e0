/* describe.cu - what a GPU is.

   The runtime knows the hardware; the driver's version and the clocks of the
   moment are known to the driver's management library, which is asked if it
   is there.  */

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cuda_internal.cuh"

/* What is used of the management library, as its manual declares it.  */
struct management {
    int (*init)(void);
    int (*shutdown)(void);
    int (*driver)(char *version, unsigned bytes);
    int (*handle)(const char *bus, void **device);
    int (*clock)(void *device, int which, unsigned *mhz);
    int (*max_clock)(void *device, int which, unsigned *mhz);
};

enum {
    CLOCK_SM = 1,
    CLOCK_MEMORY = 2
};

static bool
find_functions(void *library, struct management *m)
{
    *(void **) &m->init = dlsym(library, "nvmlInit_v2");
    *(void **) &m->shutdown = dlsym(library, "nvmlShutdown");
    *(void **) &m->driver = dlsym(library, "nvmlSystemGetDriverVersion");
    *(void **) &m->handle = dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
    *(void **) &m->clock = dlsym(library, "nvmlDeviceGetClockInfo");
    *(void **) &m->max_clock = dlsym(library, "nvmlDeviceGetMaxClockInfo");
    return m->init && m->shutdown && m->driver && m->handle && m->clock
           && m->max_clock;
}

static void
ask_clocks(const struct management *m, const char *bus,
           struct df_device_info *out)
{
    void *device;
    unsigned mhz;

    if (m->handle(bus, &device) != 0)
        return;
    if (m->clock(device, CLOCK_SM, &mhz) == 0)
        out->clock_mhz = mhz;
    if (m->clock(device, CLOCK_MEMORY, &mhz) == 0)
        out->memory_clock_mhz = mhz;
    if (m->max_clock(device, CLOCK_SM, &mhz) == 0)
        out->max_clock_mhz = mhz;
}

static void
ask_management(const char *bus, struct df_device_info *out)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    struct management m;

    if (!library)
        return;
    if (find_functions(library, &m) && m.init() == 0) {
        if (m.driver(out->driver, sizeof out->driver) != 0)
            out->driver[0] = '\0';
        ask_clocks(&m, bus, out);
        (void) m.shutdown();
    }
    (void) dlclose(library);
}

static void
describe_runtime(struct df_device_info *out)
{
    int version = 0;

    if (cudaRuntimeGetVersion(&version) == cudaSuccess)
        snprintf(out->runtime, sizeof out->runtime, "CUDA %d.%d",
                 version / 1000, version % 1000 / 10);
}

df_status
df_cuda_describe(struct df_device *dev, struct df_device_info *out)
{
    int index = ((struct cuda_device *) dev)->index;
    struct cudaDeviceProp p;
    size_t free_bytes, total;
    char bus[32];

    DF_CUDA(cudaSetDevice(index));
    DF_CUDA(cudaGetDeviceProperties(&p, index));
    DF_CUDA(cudaMemGetInfo(&free_bytes, &total));
    DF_CUDA(cudaDeviceGetPCIBusId(bus, sizeof bus, index));
    snprintf(out->model, sizeof out->model, "%.90s", p.name);
    out->memory_bytes = total;
    out->free_bytes = free_bytes;
    out->cache_bytes = (uint64_t) p.l2CacheSize;
    out->units = (unsigned) p.multiProcessorCount;
    describe_runtime(out);
    ask_management(bus, out);
    return DF_OK;
}

bool
df_cuda_reaches(const struct df_device *dev, const struct df_device *other)
{
    int there = 0;

    return cudaDeviceCanAccessPeer(&there,
                                   ((const struct cuda_device *) dev)->index,
                                   ((const struct cuda_device *) other)->index)
               == cudaSuccess
           && there;
}

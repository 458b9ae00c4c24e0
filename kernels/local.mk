EXTRA_DIST += kernels/cuda_internal.cuh

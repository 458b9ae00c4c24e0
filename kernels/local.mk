## The CUDA side of the library: one .cu an operation or fused group.  To add
## one, name it here; nothing else in this file changes.  cuBLASLt is loaded
## when a device is opened, so nothing links it; CUDA_LIBDIR is where to look
## when the loader doesn't find it.
cuda_sources = kernels/attention.cu kernels/describe.cu kernels/device.cu \
  kernels/draft_attention.cu kernels/flash.cu kernels/flash_dkv.cu \
  kernels/flash_dq.cu kernels/gate.cu kernels/graph.cu kernels/head.cu \
  kernels/hidden.cu kernels/linear.cu \
  kernels/matmul.cu kernels/mlp.cu kernels/norm.cu kernels/objective.cu \
  kernels/optim.cu kernels/pick.cu kernels/probe.cu kernels/range.cu \
  kernels/rope.cu \
  kernels/rows.cu kernels/stream.cu
cuda_headers = kernels/cuda_internal.cuh kernels/flash.cuh \
  kernels/group.cuh kernels/math.cuh kernels/matmul.cuh kernels/mma.cuh \
  kernels/parts.cuh kernels/seen.cuh kernels/tile.cuh

EXTRA_DIST += $(cuda_headers) build-aux/nvcc
if WITH_CUDA
noinst_LTLIBRARIES += kernels/libkernels.la
lib_libcore_la_LIBADD += kernels/libkernels.la $(CUDA_LIBS)
endif
kernels_libkernels_la_SOURCES = $(cuda_sources)

# libtool knows no nvcc.  With --tag=CC it compiles twice, passing -fPIC
# -DPIC straight to the compiler, which nvcc refuses; build-aux/nvcc hands
# them on with -Xcompiler.
SUFFIXES = .cu
AM_V_NVCC = $(am__v_NVCC_@AM_V@)
am__v_NVCC_ = $(am__v_NVCC_@AM_DEFAULT_V@)
am__v_NVCC_0 = @echo "  NVCC    " $@;
am__v_NVCC_1 =
NVCOMPILE = NVCC='$(NVCC)' $(SHELL) $(top_srcdir)/build-aux/nvcc \
  $(NVCC_GENCODE) -std=c++17 -fvisibility=hidden $(NVCC_WARN) \
  $(DEFS) $(DEFAULT_INCLUDES) $(public_cppflags) -I$(top_srcdir)/lib \
  -I$(top_srcdir)/kernels -DDF_CUDA_LIBDIR='"$(CUDA_LIBDIR)"' \
  $(CPPFLAGS) $(NVCCFLAGS)

.cu.lo:
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_NVCC)$(LIBTOOL) $(AM_V_lt) --tag=CC $(AM_LIBTOOLFLAGS) \
	  $(LIBTOOLFLAGS) --mode=compile $(NVCOMPILE) \
	  -MD -MP -MT $@ -MF $(@:.lo=.d) -c -o $@ $<

## nvcc writes the dependencies; Automake knows nothing of them.
cu_deps = $(cuda_sources:.cu=.d)
CLEANFILES += $(cu_deps)
-include $(cu_deps)

## The operations get flags of their own: loops in vectors, and no
## contraction, so that a value doesn't depend on which loop it is made in.
noinst_LTLIBRARIES += lib/libcpu.la
lib_libcore_la_LIBADD += lib/libcpu.la
lib_libcpu_la_CPPFLAGS = $(core_cppflags)
lib_libcpu_la_CFLAGS = $(AM_CFLAGS) $(LOOP_CFLAGS)
lib_libcpu_la_SOURCES = lib/cpu/attention.c lib/cpu/blas.c \
  lib/cpu/blas_internal.h \
  lib/cpu/clones_internal.h lib/cpu/cpu_internal.h lib/cpu/describe.c \
  lib/cpu/device.c \
  lib/cpu/draft_attention.c \
  lib/cpu/draft_attention_bwd.c lib/cpu/draft_chunk.c \
  lib/cpu/draft_chunk_internal.h lib/cpu/gate.c lib/cpu/head.c \
  lib/cpu/hidden.c \
  lib/cpu/linear.c lib/cpu/math_internal.h lib/cpu/mlp.c lib/cpu/norm.c \
  lib/cpu/objective.c lib/cpu/optim.c lib/cpu/pick.c lib/cpu/pool.c \
  lib/cpu/pool_internal.h lib/cpu/rope.c lib/cpu/rows.c lib/cpu/scratch.c \
  lib/cpu/simd.c lib/cpu/simd_internal.h lib/cpu/stream.c \
  lib/cpu/stream_internal.h

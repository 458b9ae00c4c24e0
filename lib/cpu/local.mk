lib_libcore_la_SOURCES += lib/cpu/pool.c lib/cpu/pool_internal.h \
  lib/cpu/cpu_internal.h

## Loops marked as simd are vectorised at any level of optimisation.
noinst_LTLIBRARIES += lib/cpu/libsimd.la
lib_cpu_libsimd_la_SOURCES = lib/cpu/attention.c lib/cpu/draft_attention.c \
  lib/cpu/draft_attention_bwd.c lib/cpu/draft_chunk.c \
  lib/cpu/draft_chunk_internal.h lib/cpu/head.c lib/cpu/math.c \
  lib/cpu/math_internal.h lib/cpu/objective.c
lib_cpu_libsimd_la_CPPFLAGS = $(core_cppflags)
lib_cpu_libsimd_la_CFLAGS = $(AM_CFLAGS) -O3 -fopenmp-simd -fno-math-errno \
  -fno-trapping-math -Wno-pass-failed
lib_libcore_la_LIBADD += lib/cpu/libsimd.la

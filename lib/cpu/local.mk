lib_libcore_la_SOURCES += lib/cpu/pool.c lib/cpu/pool_internal.h \
  lib/cpu/cpu_internal.h

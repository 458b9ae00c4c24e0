dflashinclude_HEADERS += include/dflash/pipe.h
lib_libcore_la_SOURCES += lib/pipe/channel.c lib/pipe/fault.c \
  lib/pipe/fault_internal.h lib/pipe/pipe.c lib/pipe/pipe_internal.h \
  lib/pipe/worker.c

nobase_include_HEADERS += include/dflash/drafter.h
lib_libcore_la_SOURCES += lib/draft/backward.c lib/draft/drafter.c \
  lib/draft/drafter_internal.h lib/draft/forward.c lib/draft/loss.c \
  lib/draft/params.c lib/draft/step.c lib/draft/weights_io.c

dflashinclude_HEADERS += include/dflash/decode.h
lib_libcore_la_SOURCES += lib/decode/decode_internal.h \
  lib/decode/generator.c lib/decode/pass.c lib/decode/prefill.c \
  lib/decode/request.c lib/decode/round.c

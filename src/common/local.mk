noinst_LTLIBRARIES += src/common/libcommon.la
src_common_libcommon_la_SOURCES = src/common/blas.c src/common/blas.h \
  src/common/exit.c src/common/exit.h \
  src/common/format.c src/common/message.c src/common/message.h \
  src/common/message_private.h src/common/option.c src/common/option.h \
  src/common/option_config.c src/common/option_help.c \
  src/common/option_private.h src/common/option_name.c \
  src/common/option_value.c src/common/progress.c src/common/progress.h \
  src/common/signals.c src/common/signals.h
src_common_libcommon_la_CPPFLAGS = $(tool_cppflags)

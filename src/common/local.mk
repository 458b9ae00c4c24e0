noinst_LTLIBRARIES += src/common/libcommon.la
src_common_libcommon_la_SOURCES = src/common/answer.c \
  src/common/answer.h src/common/blas.c src/common/blas.h \
  src/common/exit.c src/common/exit.h \
  src/common/format.c src/common/input.c src/common/input.h \
  src/common/message.c src/common/message.h \
  src/common/message_private.h src/common/model.c src/common/model.h \
  src/common/names.c src/common/names.h \
  src/common/option.c src/common/option.h \
  src/common/option_config.c src/common/option_help.c \
  src/common/option_private.h src/common/option_name.c \
  src/common/option_value.c src/common/places.c src/common/places.h \
  src/common/progress.c src/common/progress.h \
  src/common/samples.c src/common/samples.h \
  src/common/signals.c src/common/signals.h \
  src/common/stages.c src/common/stages.h \
  src/common/ticker.c src/common/ticker.h
src_common_libcommon_la_CPPFLAGS = $(tool_cppflags) $(JANSSON_CFLAGS)

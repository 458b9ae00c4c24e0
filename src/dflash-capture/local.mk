bin_PROGRAMS += dflash-capture
dflash_capture_SOURCES = src/dflash-capture/answers.c \
  src/dflash-capture/answers.h src/dflash-capture/capture.c \
  src/dflash-capture/choose.c src/dflash-capture/describe.c \
  src/dflash-capture/generate.c src/dflash-capture/generate.h \
  src/dflash-capture/main.c src/dflash-capture/options.c \
  src/dflash-capture/options.h src/dflash-capture/report.c \
  src/dflash-capture/session.h
dflash_capture_CPPFLAGS = $(tool_cppflags) $(JANSSON_CFLAGS)
dflash_capture_LDADD = $(tool_ldadd) $(JANSSON_LIBS)

bin_PROGRAMS += dflash-inspect
dflash_inspect_SOURCES = src/dflash-inspect/compare.c \
  src/dflash-inspect/drafter.c src/dflash-inspect/dump.c \
  src/dflash-inspect/findings.c src/dflash-inspect/forward.c \
  src/dflash-inspect/main.c \
  src/dflash-inspect/open.c src/dflash-inspect/options.c \
  src/dflash-inspect/options.h src/dflash-inspect/report.c \
  src/dflash-inspect/session.h src/dflash-inspect/walk.c
dflash_inspect_CPPFLAGS = $(tool_cppflags) $(JANSSON_CFLAGS)
dflash_inspect_LDADD = $(tool_ldadd) $(JANSSON_LIBS)

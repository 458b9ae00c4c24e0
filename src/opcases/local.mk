## Cases of every operation, their inputs, and the formulas in double
## precision: for the tests of operations and for dflash-bench.
noinst_LTLIBRARIES += src/opcases/libopcases.la
src_opcases_libopcases_la_SOURCES = src/opcases/opbuild.c \
  src/opcases/opbuild.h src/opcases/opbuild_decode.c \
  src/opcases/opbuild_draft.c \
  src/opcases/opbuild_rows.c src/opcases/opcases.c src/opcases/opcases.h \
  src/opcases/optable.c src/opcases/opvalues.c src/opcases/reference.c
src_opcases_libopcases_la_CPPFLAGS = $(tool_cppflags)

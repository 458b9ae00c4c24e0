## A target, a drafter and a run of random weights, for tests that need one.
check_LTLIBRARIES += tests/tiny/libtiny.la
tests_tiny_libtiny_la_SOURCES = tests/tiny/run.c tests/tiny/tiny.c \
  tests/tiny/tiny.h
tests_tiny_libtiny_la_CPPFLAGS = $(unit_cppflags)
tiny_ldadd = tests/tiny/libtiny.la $(unit_ldadd)

## Comparisons with what other programs computed; `make check-golden` runs
## just these.
golden_tests = tests/golden/drafter.t tests/golden/target.t
unit_tests += $(golden_tests)
check_LTLIBRARIES += tests/golden/libgolden.la
tests_golden_libgolden_la_SOURCES = tests/golden/golden.c \
  tests/golden/golden.h
tests_golden_libgolden_la_CPPFLAGS = $(unit_cppflags)
golden_ldadd = tests/golden/libgolden.la $(unit_ldadd)

tests_golden_drafter_t_SOURCES = tests/golden/drafter.c
tests_golden_drafter_t_CPPFLAGS = $(unit_cppflags)
tests_golden_drafter_t_LDADD = $(golden_ldadd)
tests_golden_target_t_SOURCES = tests/golden/target.c
tests_golden_target_t_CPPFLAGS = $(unit_cppflags)
tests_golden_target_t_LDADD = $(golden_ldadd)

.PHONY: check-golden
check-golden:
	$(MAKE) check TESTS='$(golden_tests)'

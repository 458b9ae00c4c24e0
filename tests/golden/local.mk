## Comparisons with what other programs computed; `make check-golden` runs
## just these.
golden_tests = tests/golden/capture.t tests/golden/chat.t \
  tests/golden/drafter.t tests/golden/greedy.t tests/golden/spec.t \
  tests/golden/target.t tests/golden/tokenizer.t
unit_tests += $(golden_tests)
check_LTLIBRARIES += tests/golden/libgolden.la
tests_golden_libgolden_la_SOURCES = tests/golden/cases.c \
  tests/golden/cases.h tests/golden/golden.c tests/golden/golden.h
tests_golden_libgolden_la_CPPFLAGS = $(unit_cppflags)
golden_ldadd = tests/golden/libgolden.la $(unit_ldadd)

tests_golden_capture_t_SOURCES = tests/golden/capture.c
tests_golden_capture_t_LDADD = $(golden_ldadd)
tests_golden_chat_t_SOURCES = tests/golden/chat.c
tests_golden_chat_t_LDADD = $(golden_ldadd)
tests_golden_drafter_t_SOURCES = tests/golden/drafter.c
tests_golden_drafter_t_LDADD = $(golden_ldadd)
tests_golden_greedy_t_SOURCES = tests/golden/greedy.c
tests_golden_greedy_t_LDADD = $(golden_ldadd)
tests_golden_spec_t_SOURCES = tests/golden/spec.c
tests_golden_spec_t_LDADD = $(golden_ldadd)
tests_golden_target_t_SOURCES = tests/golden/target.c
tests_golden_target_t_LDADD = $(golden_ldadd)
tests_golden_tokenizer_t_SOURCES = tests/golden/tokenizer.c
tests_golden_tokenizer_t_LDADD = $(golden_ldadd)

## A drafter's logits, and the same in torch: see tests/tool/drafter-files.sh.
check_PROGRAMS += tests/golden/logits
tests_golden_logits_SOURCES = tests/golden/logits.c
tests_golden_logits_CPPFLAGS = $(unit_cppflags)
tests_golden_logits_LDADD = $(golden_ldadd)
EXTRA_DIST += tests/golden/logits.py

.PHONY: check-golden
check-golden:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(golden_tests)'

## Tests against reference data, which golden.c finds.  One row a test.
golden_tests = tests/golden/tokenizer.t tests/golden/chat.t
golden_common = tests/golden/golden.c tests/golden/golden.h
check_PROGRAMS += $(golden_tests)
TESTS += $(golden_tests)

tests_golden_tokenizer_t_SOURCES = tests/golden/tokenizer.c $(golden_common)
tests_golden_tokenizer_t_CPPFLAGS = $(unit_cppflags)
tests_golden_tokenizer_t_LDADD = $(unit_ldadd)

tests_golden_chat_t_SOURCES = tests/golden/chat.c
tests_golden_chat_t_CPPFLAGS = $(unit_cppflags)
tests_golden_chat_t_LDADD = $(unit_ldadd)

check-golden: $(golden_tests)
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(golden_tests)'
.PHONY: check-golden

## One row a test; each is listed in unit_tests, too, which builds it.
golden_tests =
golden_tests += tests/golden/chat.t
unit_tests += tests/golden/chat.t
tests_golden_chat_t_SOURCES = tests/golden/chat.c
tests_golden_chat_t_CPPFLAGS = $(unit_cppflags)
tests_golden_chat_t_LDADD = $(unit_ldadd)

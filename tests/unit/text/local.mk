## One row a test.
text_build = tests/unit/text/build.c tests/unit/text/build.h

unit_tests += tests/unit/text/tokenizer.t
tests_unit_text_tokenizer_t_SOURCES = tests/unit/text/tokenizer.c \
  tests/unit/text/tokenizer_rows.h $(text_build)
tests_unit_text_tokenizer_t_CPPFLAGS = $(unit_cppflags)
tests_unit_text_tokenizer_t_LDADD = $(unit_ldadd)

unit_tests += tests/unit/text/tokenizer_refuse.t
tests_unit_text_tokenizer_refuse_t_SOURCES = \
  tests/unit/text/tokenizer_refuse.c $(text_build)
tests_unit_text_tokenizer_refuse_t_CPPFLAGS = $(unit_cppflags)
tests_unit_text_tokenizer_refuse_t_LDADD = $(unit_ldadd)

unit_tests += tests/unit/text/tokenizer_use.t
tests_unit_text_tokenizer_use_t_SOURCES = tests/unit/text/tokenizer_use.c \
  $(text_build)
tests_unit_text_tokenizer_use_t_CPPFLAGS = $(unit_cppflags)
tests_unit_text_tokenizer_use_t_LDADD = $(unit_ldadd)

## One row a test.
unit_tests += tests/unit/text/jsonl.t
tests_unit_text_jsonl_t_SOURCES = tests/unit/text/jsonl.c
tests_unit_text_jsonl_t_CPPFLAGS = $(unit_cppflags)
tests_unit_text_jsonl_t_LDADD = $(unit_ldadd)

unit_tests += tests/unit/text/records.t
tests_unit_text_records_t_SOURCES = tests/unit/text/records.c
tests_unit_text_records_t_CPPFLAGS = $(unit_cppflags)
tests_unit_text_records_t_LDADD = $(unit_ldadd)

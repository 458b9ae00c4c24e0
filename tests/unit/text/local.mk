## One row a test.
unit_tests += tests/unit/text/jsonl.t
tests_unit_text_jsonl_t_SOURCES = tests/unit/text/jsonl.c

unit_tests += tests/unit/text/records.t
tests_unit_text_records_t_SOURCES = tests/unit/text/records.c

unit_tests += tests/unit/text/lossmask.t
tests_unit_text_lossmask_t_SOURCES = tests/unit/text/lossmask.c

unit_tests += tests/unit/text/dataset.t
tests_unit_text_dataset_t_SOURCES = tests/unit/text/dataset.c \
  tests/unit/text/fixture.c tests/unit/text/fixture.h

unit_tests += tests/unit/text/reading.t
tests_unit_text_reading_t_SOURCES = tests/unit/text/reading.c \
  tests/unit/text/fixture.c tests/unit/text/fixture.h

unit_tests += tests/unit/text/demo.t
tests_unit_text_demo_t_SOURCES = tests/unit/text/demo.c

unit_tests += tests/unit/text/template.t
tests_unit_text_template_t_SOURCES = tests/unit/text/template.c

unit_tests += tests/unit/text/template_refuse.t
tests_unit_text_template_refuse_t_SOURCES = tests/unit/text/template_refuse.c

unit_tests += tests/unit/text/template_chat.t
tests_unit_text_template_chat_t_SOURCES = tests/unit/text/template_chat.c
text_build = tests/unit/text/build.c tests/unit/text/build.h

unit_tests += tests/unit/text/tokenizer.t
tests_unit_text_tokenizer_t_SOURCES = tests/unit/text/tokenizer.c \
  tests/unit/text/tokenizer_rows.h $(text_build)

unit_tests += tests/unit/text/tokenizer_refuse.t
tests_unit_text_tokenizer_refuse_t_SOURCES = \
  tests/unit/text/tokenizer_refuse.c $(text_build)

unit_tests += tests/unit/text/tokenizer_use.t
tests_unit_text_tokenizer_use_t_SOURCES = tests/unit/text/tokenizer_use.c \
  $(text_build)

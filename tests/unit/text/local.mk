## One row a test.
unit_tests += tests/unit/text/template.t
tests_unit_text_template_t_SOURCES = tests/unit/text/template.c
tests_unit_text_template_t_CPPFLAGS = $(unit_cppflags)
tests_unit_text_template_t_LDADD = $(unit_ldadd)

unit_tests += tests/unit/text/template_refuse.t
tests_unit_text_template_refuse_t_SOURCES = tests/unit/text/template_refuse.c
tests_unit_text_template_refuse_t_CPPFLAGS = $(unit_cppflags)
tests_unit_text_template_refuse_t_LDADD = $(unit_ldadd)

unit_tests += tests/unit/text/template_chat.t
tests_unit_text_template_chat_t_SOURCES = tests/unit/text/template_chat.c
tests_unit_text_template_chat_t_CPPFLAGS = $(unit_cppflags)
tests_unit_text_template_chat_t_LDADD = $(unit_ldadd)

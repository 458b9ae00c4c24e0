nobase_include_HEADERS += include/dflash/template.h
lib_libcore_la_SOURCES += lib/text/template.c lib/text/template_internal.h \
  lib/text/template_ast_internal.h lib/text/template_value_internal.h \
  lib/text/template_func_internal.h lib/text/template_cursor.c \
  lib/text/template_lex.c lib/text/template_lex_internal.h \
  lib/text/template_token.c lib/text/template_literal.c \
  lib/text/template_parse.c lib/text/template_parse_internal.h \
  lib/text/template_expr.c lib/text/template_primary.c \
  lib/text/template_arena.c lib/text/template_seq.c \
  lib/text/template_value.c lib/text/template_attr.c \
  lib/text/template_number.c lib/text/template_numtext.c \
  lib/text/template_text.c lib/text/template_string.c \
  lib/text/template_json.c lib/text/template_sort.c \
  lib/text/template_func.c lib/text/template_filter.c \
  lib/text/template_seqfilter.c lib/text/template_test.c \
  lib/text/template_method.c lib/text/template_strmethod.c \
  lib/text/template_call.c lib/text/template_eval.c \
  lib/text/template_exec.c

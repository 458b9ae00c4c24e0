dflashinclude_HEADERS += include/dflash/data.h
lib_libcore_la_SOURCES += lib/text/dataset.c lib/text/dataset_internal.h \
  lib/text/index.c lib/text/jsonl.c lib/text/jsonl_internal.h \
  lib/text/lossmask.c lib/text/lossmask_internal.h lib/text/reader.c \
  lib/text/record_ids.c lib/text/records.c lib/text/records_internal.h
dflashinclude_HEADERS += include/dflash/tokenizer.h
lib_libcore_la_SOURCES += lib/text/added.c lib/text/added_load.c \
  lib/text/bpe.c lib/text/bpe_load.c lib/text/bytes.c \
  lib/text/bytes_internal.h lib/text/decode.c lib/text/decode_load.c \
  lib/text/draft.c lib/text/ids.c lib/text/load.c lib/text/load_internal.h \
  lib/text/pattern.c lib/text/pattern_newer.c lib/text/post.c \
  lib/text/regex.c lib/text/regex_internal.h lib/text/rewrite.c \
  lib/text/steps.c lib/text/steps_internal.h lib/text/steps_load.c \
  lib/text/tokenizer.c lib/text/tokenizer_config.c \
  lib/text/tokenizer_internal.h lib/text/vocab.c lib/text/vocab_internal.h
dflashinclude_HEADERS += include/dflash/template.h
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

unit_tests += tests/unit/decode/decode.t
tests_unit_decode_decode_t_SOURCES = tests/unit/decode/decode.c \
  tests/unit/decode/rig.h
tests_unit_decode_decode_t_LDADD = $(tiny_ldadd)

unit_tests += tests/unit/decode/sample.t
tests_unit_decode_sample_t_SOURCES = tests/unit/decode/sample.c
tests_unit_decode_sample_t_LDADD = $(tiny_ldadd)

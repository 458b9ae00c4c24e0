## The cases, their inputs, and the formulas in double precision.
check_LTLIBRARIES += tests/ops/libopcases.la
tests_ops_libopcases_la_SOURCES = tests/ops/handy.h tests/ops/opbuild.c \
  tests/ops/opbuild.h tests/ops/opbuild_decode.c \
  tests/ops/opbuild_draft.c tests/ops/opbuild_rows.c \
  tests/ops/opcases.c tests/ops/opcases.h tests/ops/optable.c \
  tests/ops/reference.c
tests_ops_libopcases_la_CPPFLAGS = $(unit_cppflags)

unit_tests += tests/ops/ref.t
tests_ops_ref_t_SOURCES = tests/ops/ref.c
tests_ops_ref_t_LDADD = tests/ops/libopcases.la $(unit_ldadd)
unit_tests += tests/ops/grad.t
tests_ops_grad_t_SOURCES = tests/ops/grad.c
tests_ops_grad_t_LDADD = tests/ops/libopcases.la $(unit_ldadd)
unit_tests += tests/ops/exact.t
tests_ops_exact_t_SOURCES = tests/ops/exact.c
unit_tests += tests/ops/batch.t
tests_ops_batch_t_SOURCES = tests/ops/batch.c
unit_tests += tests/ops/step.t
tests_ops_step_t_SOURCES = tests/ops/step.c
unit_tests += tests/ops/agree.t
tests_ops_agree_t_SOURCES = tests/ops/agree.c
tests_ops_agree_t_LDADD = tests/ops/libopcases.la $(unit_ldadd)

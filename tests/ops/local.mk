## Operations: the cases are those of src/opcases.
opcases_cppflags = $(unit_cppflags) -I$(top_srcdir)/src
opcases_ldadd = src/opcases/libopcases.la $(unit_ldadd)

unit_tests += tests/ops/ref.t
tests_ops_ref_t_SOURCES = tests/ops/ref.c
tests_ops_ref_t_CPPFLAGS = $(opcases_cppflags)
tests_ops_ref_t_LDADD = $(opcases_ldadd)
unit_tests += tests/ops/grad.t
tests_ops_grad_t_SOURCES = tests/ops/grad.c
tests_ops_grad_t_CPPFLAGS = $(opcases_cppflags)
tests_ops_grad_t_LDADD = $(opcases_ldadd)
unit_tests += tests/ops/exact.t
tests_ops_exact_t_SOURCES = tests/ops/exact.c tests/ops/handy.h
unit_tests += tests/ops/batch.t
tests_ops_batch_t_SOURCES = tests/ops/batch.c
unit_tests += tests/ops/step.t
tests_ops_step_t_SOURCES = tests/ops/step.c
unit_tests += tests/ops/agree.t
tests_ops_agree_t_SOURCES = tests/ops/agree.c
tests_ops_agree_t_CPPFLAGS = $(opcases_cppflags)
tests_ops_agree_t_LDADD = $(opcases_ldadd)
unit_tests += tests/ops/cases.t
tests_ops_cases_t_SOURCES = tests/ops/cases.c tests/ops/handy.h
tests_ops_cases_t_CPPFLAGS = $(opcases_cppflags)
tests_ops_cases_t_LDADD = $(opcases_ldadd)

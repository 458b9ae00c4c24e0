## One row a test.
unit_tests += tests/unit/pipe/fault.t tests/unit/pipe/lifetime.t \
  tests/unit/pipe/lifetime-early.t tests/unit/pipe/pipe.t \
  tests/unit/pipe/resume.t tests/unit/pipe/run.t tests/unit/pipe/stalls.t
tests_unit_pipe_fault_t_SOURCES = tests/unit/pipe/fault.c
tests_unit_pipe_pipe_t_SOURCES = tests/unit/pipe/pipe.c
tests_unit_pipe_lifetime_t_SOURCES = tests/unit/pipe/lifetime.c
tests_unit_pipe_lifetime_t_LDADD = $(tiny_ldadd)
## The same test against a stage with a mistake, which it has to notice.
tests_unit_pipe_lifetime_early_t_SOURCES = tests/unit/pipe/lifetime.c \
  lib/pipe/postprocess.c
tests_unit_pipe_lifetime_early_t_CPPFLAGS = $(unit_cppflags) \
  -DDF_TEST_RELEASE_EARLY
tests_unit_pipe_lifetime_early_t_LDADD = $(tiny_ldadd)
tests_unit_pipe_resume_t_SOURCES = tests/unit/pipe/resume.c
tests_unit_pipe_resume_t_LDADD = $(tiny_ldadd)
tests_unit_pipe_run_t_SOURCES = tests/unit/pipe/run.c
tests_unit_pipe_run_t_LDADD = $(tiny_ldadd)
tests_unit_pipe_stalls_t_SOURCES = tests/unit/pipe/stalls.c
tests_unit_pipe_stalls_t_LDADD = $(tiny_ldadd)

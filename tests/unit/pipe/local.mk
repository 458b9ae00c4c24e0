## One row a test.
unit_tests += tests/unit/pipe/fault.t tests/unit/pipe/pipe.t
tests_unit_pipe_fault_t_SOURCES = tests/unit/pipe/fault.c
tests_unit_pipe_fault_t_CPPFLAGS = $(unit_cppflags)
tests_unit_pipe_fault_t_LDADD = $(unit_ldadd)
tests_unit_pipe_pipe_t_SOURCES = tests/unit/pipe/pipe.c
tests_unit_pipe_pipe_t_CPPFLAGS = $(unit_cppflags)
tests_unit_pipe_pipe_t_LDADD = $(unit_ldadd)

unit_tests += tests/unit/base/error.t
tests_unit_base_error_t_SOURCES = tests/unit/base/error.c
tests_unit_base_error_t_CPPFLAGS = $(unit_cppflags)
tests_unit_base_error_t_LDADD = $(unit_ldadd)
unit_tests += tests/unit/base/cuda.t
tests_unit_base_cuda_t_SOURCES = tests/unit/base/cuda.c
tests_unit_base_cuda_t_CPPFLAGS = $(unit_cppflags)
tests_unit_base_cuda_t_LDADD = $(unit_ldadd)

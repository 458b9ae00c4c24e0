unit_tests += tests/unit/base/error.t
tests_unit_base_error_t_SOURCES = tests/unit/base/error.c
tests_unit_base_error_t_CPPFLAGS = $(unit_cppflags)
tests_unit_base_error_t_LDADD = $(unit_ldadd)
unit_tests += tests/unit/base/cuda.t
tests_unit_base_cuda_t_SOURCES = tests/unit/base/cuda.c
tests_unit_base_cuda_t_CPPFLAGS = $(unit_cppflags)
tests_unit_base_cuda_t_LDADD = $(unit_ldadd)
unit_tests += tests/unit/base/value.t
tests_unit_base_value_t_SOURCES = tests/unit/base/value.c
tests_unit_base_value_t_CPPFLAGS = $(unit_cppflags)
tests_unit_base_value_t_LDADD = $(unit_ldadd)
<<<<<<< HEAD
unit_tests += tests/unit/base/device.t
tests_unit_base_device_t_SOURCES = tests/unit/base/device.c
tests_unit_base_device_t_CPPFLAGS = $(unit_cppflags)
tests_unit_base_device_t_LDADD = $(unit_ldadd)
unit_tests += tests/unit/base/ops.t
tests_unit_base_ops_t_SOURCES = tests/unit/base/ops.c
tests_unit_base_ops_t_CPPFLAGS = $(unit_cppflags)
tests_unit_base_ops_t_LDADD = $(unit_ldadd)
unit_tests += tests/unit/base/philox.t
tests_unit_base_philox_t_SOURCES = tests/unit/base/philox.c
tests_unit_base_philox_t_CPPFLAGS = $(unit_cppflags)
tests_unit_base_philox_t_LDADD = $(unit_ldadd)
=======
>>>>>>> cuda
unit_tests += tests/unit/base/dtype.t
tests_unit_base_dtype_t_SOURCES = tests/unit/base/dtype.c
tests_unit_base_dtype_t_CPPFLAGS = $(unit_cppflags)
tests_unit_base_dtype_t_LDADD = $(unit_ldadd)
<<<<<<< HEAD
=======
unit_tests += tests/unit/base/device.t
tests_unit_base_device_t_SOURCES = tests/unit/base/device.c
tests_unit_base_device_t_CPPFLAGS = $(unit_cppflags)
tests_unit_base_device_t_LDADD = $(unit_ldadd)
unit_tests += tests/unit/base/ops.t
tests_unit_base_ops_t_SOURCES = tests/unit/base/ops.c
tests_unit_base_ops_t_CPPFLAGS = $(unit_cppflags)
tests_unit_base_ops_t_LDADD = $(unit_ldadd)
unit_tests += tests/unit/base/philox.t
tests_unit_base_philox_t_SOURCES = tests/unit/base/philox.c
tests_unit_base_philox_t_CPPFLAGS = $(unit_cppflags)
tests_unit_base_philox_t_LDADD = $(unit_ldadd)
>>>>>>> cuda

unit_tests += tests/unit/cuda/device.t tests/unit/cuda/failure.t
tests_unit_cuda_device_t_SOURCES = tests/unit/cuda/device.c
tests_unit_cuda_failure_t_SOURCES = tests/unit/cuda/failure.c
unit_tests += tests/unit/cuda/graph.t
tests_unit_cuda_graph_t_SOURCES = tests/unit/cuda/graph.c
tests_unit_cuda_graph_t_LDADD = $(tiny_ldadd)

unit_tests += tests/unit/cpu/pool.t
tests_unit_cpu_pool_t_SOURCES = tests/unit/cpu/pool.c
unit_tests += tests/unit/cpu/stream.t
tests_unit_cpu_stream_t_SOURCES = tests/unit/cpu/stream.c
unit_tests += tests/unit/cpu/stress.t
tests_unit_cpu_stress_t_SOURCES = tests/unit/cpu/stress.c
unit_tests += tests/unit/cpu/math.t
tests_unit_cpu_math_t_SOURCES = tests/unit/cpu/math.c
unit_tests += tests/unit/cpu/attention.t tests/unit/cpu/draft_attention.t \
  tests/unit/cpu/draft_attention_bwd.t tests/unit/cpu/head.t \
  tests/unit/cpu/objective.t
tests_unit_cpu_attention_t_SOURCES = tests/unit/cpu/attention.c \
  tests/unit/cpu/buffers.h
tests_unit_cpu_draft_attention_t_SOURCES = tests/unit/cpu/draft_attention.c \
  tests/unit/cpu/draft.h tests/unit/cpu/buffers.h
tests_unit_cpu_draft_attention_bwd_t_SOURCES = \
  tests/unit/cpu/draft_attention_bwd.c tests/unit/cpu/draft.h \
  tests/unit/cpu/buffers.h
tests_unit_cpu_head_t_SOURCES = tests/unit/cpu/head.c tests/unit/cpu/buffers.h
tests_unit_cpu_objective_t_SOURCES = tests/unit/cpu/objective.c

unit_tests += tests/unit/cpu/attention.t tests/unit/cpu/draft_attention.t \
  tests/unit/cpu/draft_attention_bwd.t tests/unit/cpu/head.t \
  tests/unit/cpu/objective.t
tests_unit_cpu_attention_t_SOURCES = tests/unit/cpu/attention.c \
  tests/unit/cpu/buffers.h
tests_unit_cpu_attention_t_CPPFLAGS = $(unit_cppflags)
tests_unit_cpu_attention_t_LDADD = $(unit_ldadd)
tests_unit_cpu_draft_attention_t_SOURCES = tests/unit/cpu/draft_attention.c \
  tests/unit/cpu/draft.h tests/unit/cpu/buffers.h
tests_unit_cpu_draft_attention_t_CPPFLAGS = $(unit_cppflags)
tests_unit_cpu_draft_attention_t_LDADD = $(unit_ldadd)
tests_unit_cpu_draft_attention_bwd_t_SOURCES = \
  tests/unit/cpu/draft_attention_bwd.c tests/unit/cpu/draft.h \
  tests/unit/cpu/buffers.h
tests_unit_cpu_draft_attention_bwd_t_CPPFLAGS = $(unit_cppflags)
tests_unit_cpu_draft_attention_bwd_t_LDADD = $(unit_ldadd)
tests_unit_cpu_head_t_SOURCES = tests/unit/cpu/head.c tests/unit/cpu/buffers.h
tests_unit_cpu_head_t_CPPFLAGS = $(unit_cppflags)
tests_unit_cpu_head_t_LDADD = $(unit_ldadd)
tests_unit_cpu_objective_t_SOURCES = tests/unit/cpu/objective.c
tests_unit_cpu_objective_t_CPPFLAGS = $(unit_cppflags)
tests_unit_cpu_objective_t_LDADD = $(unit_ldadd)
unit_tests += tests/unit/cpu/pool.t
tests_unit_cpu_pool_t_SOURCES = tests/unit/cpu/pool.c
tests_unit_cpu_pool_t_CPPFLAGS = $(unit_cppflags)
tests_unit_cpu_pool_t_LDADD = $(unit_ldadd)
unit_tests += tests/unit/cpu/stream.t
tests_unit_cpu_stream_t_SOURCES = tests/unit/cpu/stream.c
tests_unit_cpu_stream_t_CPPFLAGS = $(unit_cppflags)
tests_unit_cpu_stream_t_LDADD = $(unit_ldadd)
unit_tests += tests/unit/cpu/stress.t
tests_unit_cpu_stress_t_SOURCES = tests/unit/cpu/stress.c
tests_unit_cpu_stress_t_CPPFLAGS = $(unit_cppflags)
tests_unit_cpu_stress_t_LDADD = $(unit_ldadd)
unit_tests += tests/unit/cpu/math.t
tests_unit_cpu_math_t_SOURCES = tests/unit/cpu/math.c
tests_unit_cpu_math_t_CPPFLAGS = $(unit_cppflags)
tests_unit_cpu_math_t_LDADD = $(unit_ldadd)

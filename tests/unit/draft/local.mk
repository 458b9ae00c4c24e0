## One row a test.
unit_tests += tests/unit/draft/batch.t
tests_unit_draft_batch_t_SOURCES = tests/unit/draft/batch.c

unit_tests += tests/unit/draft/plan.t
tests_unit_draft_plan_t_SOURCES = tests/unit/draft/plan.c

unit_tests += tests/unit/draft/leak.t
tests_unit_draft_leak_t_SOURCES = tests/unit/draft/leak.c
tests_unit_draft_leak_t_LDADD = $(tiny_ldadd)

unit_tests += tests/unit/draft/checkpoint.t
tests_unit_draft_checkpoint_t_SOURCES = tests/unit/draft/checkpoint.c
tests_unit_draft_checkpoint_t_LDADD = $(tiny_ldadd)

unit_tests += tests/unit/draft/step.t
tests_unit_draft_step_t_SOURCES = tests/unit/draft/step.c
tests_unit_draft_step_t_LDADD = $(tiny_ldadd)

unit_tests += tests/unit/draft/pad.t
tests_unit_draft_pad_t_SOURCES = tests/unit/draft/pad.c
tests_unit_draft_pad_t_LDADD = $(tiny_ldadd)

unit_tests += tests/unit/draft/init.t
tests_unit_draft_init_t_SOURCES = tests/unit/draft/init.c
tests_unit_draft_init_t_LDADD = $(tiny_ldadd)

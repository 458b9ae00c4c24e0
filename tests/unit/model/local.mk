unit_tests += tests/unit/model/config.t
tests_unit_model_config_t_SOURCES = tests/unit/model/config.c \
  tests/unit/model/files.h
unit_tests += tests/unit/model/drafter_config.t
tests_unit_model_drafter_config_t_SOURCES = tests/unit/model/drafter_config.c \
  tests/unit/model/files.h
unit_tests += tests/unit/model/rope.t
tests_unit_model_rope_t_SOURCES = tests/unit/model/rope.c \
  tests/unit/model/files.h
unit_tests += tests/unit/model/safetensors.t
tests_unit_model_safetensors_t_SOURCES = tests/unit/model/safetensors.c \
  tests/unit/model/files.h
unit_tests += tests/unit/model/safetensors_write.t
tests_unit_model_safetensors_write_t_SOURCES = \
  tests/unit/model/safetensors_write.c \
  tests/unit/model/files.h
unit_tests += tests/unit/model/shards.t
tests_unit_model_shards_t_SOURCES = tests/unit/model/shards.c \
  tests/unit/model/files.h
unit_tests += tests/unit/model/weights.t
tests_unit_model_weights_t_SOURCES = tests/unit/model/weights.c \
  tests/unit/model/files.h
unit_tests += tests/unit/model/speculators.t
tests_unit_model_speculators_t_SOURCES = tests/unit/model/speculators.c \
  tests/unit/model/files.h
unit_tests += tests/unit/model/drafter_files.t
tests_unit_model_drafter_files_t_SOURCES = tests/unit/model/drafter_files.c \
  tests/unit/model/drafters.h tests/unit/model/files.h
unit_tests += tests/unit/model/drafter_convert.t
tests_unit_model_drafter_convert_t_SOURCES = \
  tests/unit/model/drafter_convert.c \
  tests/unit/model/drafters.h tests/unit/model/files.h
unit_tests += tests/unit/model/upload.t
tests_unit_model_upload_t_SOURCES = tests/unit/model/upload.c

dflashinclude_HEADERS += include/dflash/config.h \
  include/dflash/drafter_config.h include/dflash/drafter_files.h \
  include/dflash/rope.h include/dflash/safetensors.h include/dflash/target.h \
  include/dflash/weights.h
lib_libcore_la_SOURCES += lib/model/config.c lib/model/config_internal.h \
  lib/model/decoder_config.c lib/model/drafter_config.c \
  lib/model/drafter_check.c lib/model/drafter_copies.c \
  lib/model/drafter_files.c lib/model/drafter_files_internal.h \
  lib/model/drafter_save.c lib/model/embeddings.c lib/model/families.c \
  lib/model/index.c lib/model/llama.c lib/model/qwen3.c \
  lib/model/random.c lib/model/rope.c \
  lib/model/rope_config.c lib/model/rope_upload.c \
  lib/model/rope_upload_internal.h lib/model/safetensors_internal.h \
  lib/model/safetensors_write.c lib/model/shard.c lib/model/speculators.c \
  lib/model/target.c lib/model/target_internal.h lib/model/target_load.c \
  lib/model/tensors.c \
  lib/model/upload.c lib/model/upload_internal.h lib/model/weights.c

dflashinclude_HEADERS += include/dflash/batch.h include/dflash/defs.h \
  include/dflash/device.h include/dflash/dtype.h include/dflash/error.h \
  include/dflash/op_args.h include/dflash/op_draw.h include/dflash/ops.h \
  include/dflash/philox.h \
  include/dflash/plan.h \
  include/dflash/value.h
lib_libcore_la_SOURCES += lib/base/arena.c lib/base/arena_internal.h \
  lib/base/cuda_internal.h \
  lib/base/device.c lib/base/device_internal.h lib/base/draw_internal.h \
  lib/base/dtype.c \
  lib/base/error.c lib/base/fault.c lib/base/fault_internal.h \
  lib/base/file.c lib/base/file_internal.h lib/base/graph.c lib/base/hash.c \
  lib/base/hash_internal.h lib/base/json.c \
  lib/base/json_internal.h lib/base/normal_internal.h lib/base/ops.c \
  lib/base/ops_check.c lib/base/ops_check_decode.c \
  lib/base/ops_check_internal.h lib/base/ops_check_train.c \
  lib/base/ops_internal.h lib/base/transfer.c lib/base/transfer_internal.h \
  lib/base/value.c

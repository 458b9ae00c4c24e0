nobase_include_HEADERS += include/dflash/defs.h include/dflash/error.h \
  include/dflash/device.h include/dflash/dtype.h include/dflash/ops.h \
  include/dflash/batch.h include/dflash/philox.h include/dflash/plan.h
lib_libcore_la_SOURCES += lib/base/device_internal.h lib/base/error.c lib/base/file.c \
  lib/base/file_internal.h lib/base/hash.c lib/base/hash_internal.h \
  lib/base/json.c lib/base/json_internal.h

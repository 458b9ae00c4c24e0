nobase_include_HEADERS += include/dflash/defs.h include/dflash/error.h \
  include/dflash/device.h include/dflash/dtype.h include/dflash/ops.h \
  include/dflash/philox.h
lib_libcore_la_SOURCES += lib/base/device.c lib/base/ops.c \
  lib/base/ops_check.c lib/base/ops_check_internal.h \
  lib/base/ops_check_train.c lib/base/ops_internal.h
lib_libcore_la_SOURCES += lib/base/device_internal.h lib/base/error.c lib/base/file.c \
  lib/base/file_internal.h lib/base/json.c lib/base/json_internal.h

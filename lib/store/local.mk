dflashinclude_HEADERS += include/dflash/check.h include/dflash/record.h
lib_libcore_la_SOURCES += lib/store/backend_internal.h lib/store/captures.c \
  lib/store/check.c lib/store/fields.c \
  lib/store/folder_internal.h \
  lib/store/folder_read.c lib/store/folder_write.c \
  lib/store/h5_internal.h lib/store/h5create.c lib/store/h5driver.c \
  lib/store/h5io.c lib/store/h5io_internal.h lib/store/h5open.c \
  lib/store/h5read.c lib/store/h5set.c lib/store/h5write.c \
  lib/store/header.c lib/store/header_internal.h lib/store/header_read.c \
  lib/store/ids.c lib/store/image.c lib/store/input.c lib/store/journal.c \
  lib/store/rows.c lib/store/sample.c lib/store/sample_internal.h \
  lib/store/stream_internal.h lib/store/stream_read.c \
  lib/store/stream_write.c lib/store/verify.c lib/store/view.c \
  lib/store/writer.c

dflashinclude_HEADERS += include/dflash/compare.h include/dflash/scan.h
lib_libcore_la_SOURCES += lib/store/compare.c lib/store/scan.c \
  lib/store/scan_internal.h lib/store/scan_layers.c lib/store/scan_runs.c \
  lib/store/scan_table.c lib/store/scan_tokens.c
## Loops over rows.
lib_libcpu_la_SOURCES += lib/store/compare_row.c \
  lib/store/compare_internal.h lib/store/scan_row.c
